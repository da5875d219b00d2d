#include "../../crawler/report.h"
#include "../harness/harness.h"

#include <errno.h>

/* The line that one page becomes, for free(). */
static char *line_of(struct page *page)
{
    struct crawler crawler = {.pages = &page, .page_count = 1};
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);

    CHECK_INT(report_jsonl(to, &crawler), 0);
    fclose(to);
    return text;
}

TEST(jsonl_of_a_page)
{
    struct page referrer = {.url = "http://h/"};
    struct page *referrers[] = {&referrer};
    struct page page = {.url = "http://h/a",
                        .done = true,
                        .status = 200,
                        .content_type = "text/html; charset=\"utf-8\"",
                        .size = 5000000000,
                        .link_count = 3,
                        .new_link_count = 1,
                        .depth = 1,
                        .tries = 2,
                        .referrers = referrers,
                        .referrer_count = 1};
    char *line = line_of(&page);

    CHECK_STR(line,
              "{\"url\":\"http://h/a\",\"status\":200,\"error\":null,\"next_url\":null,"
              "\"content_type\":\"text/html; charset=\\\"utf-8\\\"\","
              "\"encoding\":\"utf-8\",\"size\":5000000000,\"links\":3,\"new_links\":1,"
              "\"depth\":1,\"tries\":2,\"referrers\":1,"
              "\"referrer_urls\":[\"http://h/\"]}\n");
    free(line);
}

TEST(jsonl_leaves_out_what_is_not_done)
{
    struct page page = {.url = "http://h/"};
    char *line = line_of(&page);

    CHECK_STR(line, "");
    free(line);
}

static void check_string(const char *text, const char *expected)
{
    struct page page = {.url = (char *)text, .done = true};
    char *line = line_of(&page);

    line[strcspn(line, ",")] = '\0';
    CHECK_STR(line + strlen("{\"url\":"), expected);
    free(line);
}

TEST(jsonl_strings_are_json_whatever_they_hold)
{
    check_string("\"\\/", "\"\\\"\\\\/\"");
    check_string("\x01\n\x7f", "\"\\u0001\\u000a\\u007f\"");
    check_string("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                 "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
    check_string("\xff", "\"\\ufffd\"");
    check_string("\xc3", "\"\\ufffd\"");                       /* cut off */
    check_string("\xc0\xaf", "\"\\ufffd\\ufffd\"");            /* overlong */
    check_string("\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\""); /* overlong */
    check_string("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""); /* a surrogate */
    check_string("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* too far */
    check_string("\xe2\x82", "\"\\ufffd\\ufffd\"");
}

TEST(jsonl_tells_when_it_cannot_be_written)
{
    struct page page = {.url = "http://h/", .done = true}, *pages[] = {&page};
    struct crawler crawler = {.pages = pages, .page_count = 1};
    FILE *full = fopen("/dev/full", "w");

    if (full == NULL)
        test_skip("there is no /dev/full");
    CHECK_INT(report_jsonl(full, &crawler), -ENOSPC);
    fclose(full);
}
