/*
 * test_jsonl.c - crawler/report/jsonl.h: checks each byte of the records in schema 1.
 */
#include "../../../../crawler/report/jsonl.h"
#include "../../../harness/harness.h"

#include <coil/run.h>

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* The report under test: begin() opens it, and check_written() closes it. */
static struct out out;
static struct record_sink sink;

static void begin(void)
{
    CHECK_INT(out_open_fd(&out, memfd_create("jsonl", MFD_CLOEXEC), "memory"), 0);
    sink = jsonl_sink(&out);
}

static char *written(void)
{
    int fd = out.fd;
    char *content = calloc(1, 1 << 20);

    CHECK_INT(out_close(&out), 0);
    CHECK(pread(fd, content, (1 << 20) - 1, 0) >= 0);
    close(fd);
    return content;
}

static void check_written(const char *expected)
{
    char *content = written();

    CHECK_STR(content, expected);
    free(content);
}

TEST(jsonl_begins_with_its_schema)
{
    const char *urls[] = {"http://a/", "http://u:secret@b/"};
    struct text_list starts = {urls, 2};
    char expected[256];

    snprintf(expected, sizeof expected,
             "{\"type\":\"start\",\"schema\":1,\"version\":\"%s\","
             "\"urls\":[\"http://a/\",\"http://u:***@b/\"],"
             "\"time\":\"2026-11-22T14:00:00Z\"}\n",
             coil_version());
    begin();
    CHECK_INT(jsonl_start(&out, &starts, 1795356000), 0);
    check_written(expected);
}

TEST(jsonl_page)
{
    struct record_page page = {.url = "http://h/",
                               .content_type = "text/html; charset=\"utf-8\"",
                               .encoding = "utf-8",
                               .status = 200,
                               .size = 5000000000,
                               .depth = 1,
                               .tries = 2,
                               .links = 40,
                               .searched = true};
    struct record_page file = {.url = "file:///a"};

    begin();
    CHECK_INT(sink.page(sink.arg, &page), 0);
    CHECK_INT(sink.page(sink.arg, &file), 0);
    check_written("{\"type\":\"page\",\"url\":\"http://h/\",\"status\":200,"
                  "\"content_type\":\"text/html; charset=\\\"utf-8\\\"\","
                  "\"encoding\":\"utf-8\",\"size\":5000000000,\"depth\":1,\"tries\":2,"
                  "\"links\":40,\"searched\":true}\n"
                  "{\"type\":\"page\",\"url\":\"file:///a\",\"status\":null,"
                  "\"content_type\":null,\"encoding\":null,\"size\":0,\"depth\":0,"
                  "\"tries\":0,\"links\":0,\"searched\":false}\n");
}

TEST(jsonl_link)
{
    struct record_link link = {.page = "http://h/",
                               .text = "../a.html#x",
                               .line = 12,
                               .column = 9,
                               .element = "a",
                               .attribute = "href",
                               .target = "http://h/a.html",
                               .fragment = "x"};
    struct record_link wrong = {
        .page = "http://h/", .text = "http://", .line = 1, .column = 2};

    begin();
    CHECK_INT(sink.link(sink.arg, &link), 0);
    CHECK_INT(sink.link(sink.arg, &wrong), 0);
    check_written("{\"type\":\"link\",\"page\":\"http://h/\",\"text\":\"../a.html#x\","
                  "\"line\":12,\"column\":9,\"element\":\"a\",\"attribute\":\"href\","
                  "\"target\":\"http://h/a.html\",\"fragment\":\"x\"}\n"
                  "{\"type\":\"link\",\"page\":\"http://h/\",\"text\":\"http://\","
                  "\"line\":1,\"column\":2,\"element\":null,\"attribute\":null,"
                  "\"target\":null,\"fragment\":null}\n");
}

TEST(jsonl_answer)
{
    struct record_answer answer = {.url = "http://h/",
                                   .status = 200,
                                   .at_ns = 1500000,
                                   .duration_ns = 12345678,
                                   .bytes = 5000000000,
                                   .tries = 2};
    struct record_answer none = {.url = "http://h/a", .tries = 1};

    begin();
    CHECK_INT(sink.answer(sink.arg, &answer), 0);
    CHECK_INT(sink.answer(sink.arg, &none), 0);
    check_written("{\"type\":\"answer\",\"url\":\"http://h/\",\"status\":200,"
                  "\"at\":0.001500,\"seconds\":0.012346,\"bytes\":5000000000,"
                  "\"tries\":2}\n"
                  "{\"type\":\"answer\",\"url\":\"http://h/a\",\"status\":null,"
                  "\"at\":0.000000,\"seconds\":0.000000,\"bytes\":0,\"tries\":1}\n");
}

TEST(jsonl_redirect)
{
    struct record_redirect redirect = {
        .url = "http://h/a", .location = "/b", .status = 301, .target = "http://h/b"};
    struct record_redirect nowhere = {.url = "http://h/c", .status = 302};

    begin();
    CHECK_INT(sink.redirect(sink.arg, &redirect), 0);
    CHECK_INT(sink.redirect(sink.arg, &nowhere), 0);
    check_written("{\"type\":\"redirect\",\"url\":\"http://h/a\",\"status\":301,"
                  "\"location\":\"/b\",\"target\":\"http://h/b\"}\n"
                  "{\"type\":\"redirect\",\"url\":\"http://h/c\",\"status\":302,"
                  "\"location\":null,\"target\":null}\n");
}

TEST(jsonl_verdict)
{
    struct record_verdict broken = {.target = "http://h/a",
                                    .fragment = "x",
                                    .verdict = VERDICT_BROKEN,
                                    .reason = REASON_STATUS,
                                    .status = 404,
                                    .message = "404 Not Found"};
    struct record_verdict well = {.target = "http://h/", .verdict = VERDICT_OK};

    begin();
    CHECK_INT(sink.verdict(sink.arg, &broken), 0);
    CHECK_INT(sink.verdict(sink.arg, &well), 0);
    check_written(
        "{\"type\":\"verdict\",\"target\":\"http://h/a\",\"fragment\":\"x\","
        "\"verdict\":\"broken\",\"reason\":\"status\",\"status\":404,"
        "\"message\":\"404 Not Found\"}\n"
        "{\"type\":\"verdict\",\"target\":\"http://h/\",\"fragment\":null,"
        "\"verdict\":\"ok\",\"reason\":null,\"status\":null,\"message\":null}\n");
}

TEST(jsonl_summary)
{
    struct record_summary summary = {
        .urls = 7,
        .pages = 3,
        .links = 50,
        .targets = 9,
        .verdicts = {[VERDICT_OK] = 6, [VERDICT_BROKEN] = 1},
        .verdict_urls = {[VERDICT_OK] = 5},
        .verdict_links = {[VERDICT_OK] = 44, [VERDICT_FRAGMENT] = 3},
        .bytes = 12345678901,
        .duration_ns = 612345678,
        .exit_status = 2};

    begin();
    CHECK_INT(sink.summary(sink.arg, &summary), 0);
    check_written(
        "{\"type\":\"summary\",\"urls\":7,\"pages\":3,\"links\":50,\"targets\":9,"
        "\"verdicts\":{\"ok\":6,\"redirect\":0,\"broken\":1,\"fragment\":0,\"text\":0,"
        "\"blocked\":0,\"error\":0,\"timeout\":0,\"skipped\":0,\"unchecked\":0},"
        "\"verdict_urls\":{\"ok\":5,\"redirect\":0,\"broken\":0,\"fragment\":0,\"text\":"
        "0,"
        "\"blocked\":0,\"error\":0,\"timeout\":0,\"skipped\":0,\"unchecked\":0},"
        "\"verdict_links\":{\"ok\":44,\"redirect\":0,\"broken\":0,\"fragment\":3,"
        "\"text\":0,"
        "\"blocked\":0,\"error\":0,\"timeout\":0,\"skipped\":0,\"unchecked\":0},"
        "\"bytes\":12345678901,\"seconds\":0.612,\"exit\":2}\n");
}

/*
 * Write the text after 0 to 9 plain bytes and before some others, and compare the record.
 */
static void check_string(const char *text, const char *expected)
{
    for (int before = 0; before < 10; before++) {
        char whole[64], line[256];
        struct record_verdict verdict = {.target = whole, .verdict = VERDICT_OK};

        snprintf(whole, sizeof whole, "%.*s%sabcdefgh", before, "0123456789", text);
        snprintf(line, sizeof line,
                 "{\"type\":\"verdict\",\"target\":\"%.*s%sabcdefgh\",\"fragment\":null,"
                 "\"verdict\":\"ok\",\"reason\":null,\"status\":null,\"message\":null}\n",
                 before, "0123456789", expected);
        begin();
        CHECK_INT(sink.verdict(sink.arg, &verdict), 0);
        check_written(line);
    }
}

TEST(jsonl_strings_are_json_whatever_they_hold)
{
    check_string("\"\\/", "\\\"\\\\/");
    check_string("\x01\n\x7f~ !", "\\u0001\\u000a\\u007f~ !");
    check_string("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                 "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    check_string("\xff", "\\ufffd");
    check_string("\xc3", "\\ufffd");                                  /* cut off */
    check_string("\xc0\xaf", "\\ufffd\\ufffd");                       /* overlong */
    check_string("\xe0\x80\xaf", "\\ufffd\\ufffd\\ufffd");            /* overlong */
    check_string("\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd");            /* a surrogate */
    check_string("\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"); /* above U+10FFFF */
    check_string("\xe2\x82", "\\ufffd");
    check_string("\xf0\x9f\x98xy", "\\ufffdxy");
}

/*
 * The JSON report must not contain characters that control a terminal. A JSON parser must
 * still recover every byte.
 */
TEST(jsonl_strings_say_nothing_to_a_terminal)
{
    check_string("a\xc2\x9b"
                 "2Jb",
                 "a\\u009b2Jb"); /* the C1 control character CSI */
    check_string("\xc2\x80\xc2\x9f\xc2\xa0", "\\u0080\\u009f\xc2\xa0");
    check_string("\u202egpj.exe", "\\u202egpj.exe"); /* right-to-left override */
    check_string("\u200e\u200f\u061c\u2066\u2069", "\\u200e\\u200f\\u061c\\u2066\\u2069");
    check_string("\u2028\u2029\ufeff", "\\u2028\\u2029\\ufeff");
    check_string("\xf0\x9f\xbf\xbe", "\\ud83f\\udffe"); /* U+1FFFE */
    check_string("\u2027\u202f\u2065\u206a", "\u2027\u202f\u2065\u206a");
}

/*
 * Write each byte value except 0 among plain bytes. Control characters, quotation marks
 * and backslashes are escaped, and bytes that are not UTF-8 are replaced by U+FFFD.
 */
TEST(jsonl_strings_of_each_byte)
{
    char text[2 * 16 + 1], expected[8 * 16 + 1];

    for (int row = 0; row < 256; row += 16) {
        char *at = text, *to = expected;

        for (int c = row; c < row + 16; c++) {
            char plain[2] = {(char)c, '\0'};

            *at++ = 'a';
            *at++ = (char)(c != 0 ? c : 'a');
            if (c == 0)
                to += sprintf(to, "aa");
            else if (c == '"' || c == '\\')
                to += sprintf(to, "a\\%c", c);
            else if (c < ' ' || c == 0x7f)
                to += sprintf(to, "a\\u%04x", c);
            else
                to += sprintf(to, "a%s", c < 0x80 ? plain : "\\ufffd");
        }
        *at = '\0';
        check_string(text, expected);
    }
}

TEST(jsonl_passwords_are_masked_wherever_they_stand)
{
    struct record_link link = {.page = "http://me:secret@h/",
                               .text = " //you:hidden@h/x?to=http://a:b@c/",
                               .line = 1,
                               .column = 1,
                               .target = "http://you:hidden@h/x"};

    begin();
    CHECK_INT(sink.link(sink.arg, &link), 0);
    check_written("{\"type\":\"link\",\"page\":\"http://me:***@h/\","
                  "\"text\":\" //you:***@h/x?to=http://a:***@c/\","
                  "\"line\":1,\"column\":1,\"element\":null,\"attribute\":null,"
                  "\"target\":\"http://you:***@h/x\",\"fragment\":null}\n");
}

/* Escaping makes a text of control characters six times as long. */
TEST(jsonl_strings_may_be_long)
{
    const size_t n = 70000;
    char *text = malloc(n + 1), *content;
    struct record_verdict verdict = {.target = text, .verdict = VERDICT_OK};

    memset(text, 1, n);
    text[n] = '\0';
    begin();
    CHECK_INT(sink.verdict(sink.arg, &verdict), 0);
    content = written();
    CHECK(strlen(content) > 6 * n && strcmp(content + strlen(content) - 2, "}\n") == 0);
    free(content);
    free(text);
}

TEST(jsonl_tells_when_it_cannot_be_written)
{
    struct record_verdict verdict = {.target = "http://h/", .verdict = VERDICT_OK};
    int rc = 0;

    if (access("/dev/full", W_OK) < 0)
        test_skip("there is no /dev/full");
    CHECK_INT(out_open(&out, "/dev/full"), 0);
    sink = jsonl_sink(&out);
    for (int i = 0; i < 2000 && rc == 0; i++)
        rc = sink.verdict(sink.arg, &verdict);
    CHECK_INT(rc, -ENOSPC);
    CHECK_INT(out_close(&out), -ENOSPC);
}
