#include "../../../../crawler/files/baseline.h"
#include "../../../harness/harness.h"
#include "../../../unit/os/places.h"

#include <errno.h>

#define START                                                                            \
    "{\"type\":\"start\",\"schema\":1,\"version\":\"0.1.0\",\"urls\":[],\"time\":\"\"}"  \
    "\n"

static void has_findings(void)
{
    struct baseline *baseline;
    char *message;

    put_file("a.jsonl", START
             "{\"type\":\"page\",\"url\":\"http://h/\",\"status\":200}\n\n"
             "{\"type\":\"later\"}\n"
             "{\"type\":\"verdict\",\"target\":\"http://h/a\",\"fragment\":null,"
             "\"verdict\":\"broken\",\"reason\":\"status\",\"status\":404}\n"
             "{\"type\":\"verdict\",\"target\":\"http://h/b\",\"fragment\":\"\\u00e4\","
             "\"verdict\":\"fragment\"}\n"
             "{\"type\":\"verdict\",\"target\":\"http://h/c\",\"fragment\":null,"
             "\"verdict\":\"ok\"}\n"
             "{\"type\":\"verdict\",\"target\":\"http://u:***@h/\",\"fragment\":null,"
             "\"verdict\":\"error\"}\n"
             "{\"type\":\"verdict\",\"target\":\"x\\ufffd\\ufffdy\",\"fragment\":null,"
             "\"verdict\":\"broken\"}\n"
             "{\"type\":\"summary\"}\n");
    CHECK_INT(baseline_read("a.jsonl", &baseline, &message), 0);
    CHECK_INT(baseline_has(baseline, "http://h/a", NULL, VERDICT_BROKEN), 1);
    CHECK_INT(baseline_has(baseline, "http://h/a", NULL, VERDICT_TIMEOUT), 0);
    CHECK_INT(baseline_has(baseline, "http://h/a", "b", VERDICT_BROKEN), 0);
    CHECK_INT(baseline_has(baseline, "http://h/b", "\xc3\xa4", VERDICT_FRAGMENT), 1);
    CHECK_INT(baseline_has(baseline, "http://h/b", NULL, VERDICT_FRAGMENT), 0);
    CHECK_INT(baseline_has(baseline, "http://h/c", NULL, VERDICT_OK), 0);
    /*
     * The baseline compares URLs as the report prints them: passwords are masked and
     * bytes are escaped.
     */
    CHECK_INT(baseline_has(baseline, "http://u:secret@h/", NULL, VERDICT_ERROR), 1);
    CHECK_INT(baseline_has(baseline, "x\xe2\x82y", NULL, VERDICT_BROKEN), 1);
    baseline_destroy(baseline);
}

/*
 * The record of a link may precede or follow the verdict of its target. Links to OK
 * targets are ignored.
 */
static void has_links(void)
{
    struct baseline *baseline;
    char *message;

    put_file("a.jsonl",
             START "{\"type\":\"link\",\"page\":\"http://h/\",\"text\":\"a\","
                   "\"target\":\"http://h/a\",\"fragment\":null}\n"
                   "{\"type\":\"verdict\",\"target\":\"http://h/a\",\"fragment\":null,"
                   "\"verdict\":\"broken\"}\n"
                   "{\"type\":\"verdict\",\"target\":\"a b\",\"fragment\":null,"
                   "\"verdict\":\"broken\"}\n"
                   "{\"type\":\"link\",\"page\":\"http://h/p\",\"text\":\"a b\","
                   "\"target\":null,\"fragment\":null}\n");
    CHECK_INT(baseline_read("a.jsonl", &baseline, &message), 0);
    CHECK_INT(baseline_has_link(baseline, "http://h/", "http://h/a", NULL), 1);
    CHECK_INT(baseline_has_link(baseline, "http://h/p", "http://h/a", NULL), 0);
    CHECK_INT(baseline_has_link(baseline, "http://h/p", "a b", NULL), 1);
    CHECK_INT(baseline_has_link(baseline, "http://h/", "a b", NULL), 0);
    CHECK_INT(baseline_has_link(baseline, "http://h/", "http://h/ok", NULL), 1);
    CHECK_INT(baseline_has(baseline, "http://h/a", NULL, VERDICT_BROKEN), 1);
    baseline_destroy(baseline);
    put_file("b.jsonl", START "{\"type\":\"verdict\",\"target\":\"http://h/a\","
                              "\"fragment\":null,\"verdict\":\"broken\"}\n");
    CHECK_INT(baseline_read("b.jsonl", &baseline, &message), 0);
    CHECK_INT(baseline_has_link(baseline, "http://h/", "http://h/a", NULL), 1);
    baseline_destroy(baseline);
}

TEST(baseline_has_the_links_to_its_findings)
{
    in_a_place(has_links);
}

TEST(baseline_has_the_findings_of_a_report)
{
    in_a_place(has_findings);
    baseline_destroy(NULL);
}

static void refuses(void)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"{\"type\":\"page\"}\n", "a:1: not the first line of a report by coil-crawl"},
        {"[]\n", "a:1: not an object"},
        {"<html>\n", "a:1: '[' or '{' expected near '<'"},
        {"{\"type\":\"start\",\"schema\":2}\n", "a:1: the schema of the report is not 1"},
        {START "{\"type\":\"verdict\"}\n", "a:2: a verdict without a target"},
        {START "{\"type\":\"verdict\",\"target\":\"a\",\"verdict\":\"bad\"}\n",
         "a:2: unknown verdict"},
        {START "{}\n", "a:2: a record without a type"},
        {START "{\"type\":\"page\"", "a:2: the line is cut off"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct baseline *baseline;
        char *message;
        put_file("a", rows[i].text);
        CHECK_INT(baseline_read("a", &baseline, &message), -EINVAL);
        CHECK_STR(message, rows[i].message);
        CHECK_PTR(baseline, NULL);
        free(message);
    }
}

TEST(baseline_that_is_no_report_is_refused_with_its_line)
{
    in_a_place(refuses);
}

TEST(baseline_that_cannot_be_read)
{
    struct baseline *baseline;
    char *message;

    CHECK_INT(baseline_read("/nowhere/a", &baseline, &message), -ENOENT);
    CHECK_STR(message, "/nowhere/a: No such file or directory");
    free(message);
    CHECK_INT(baseline_read("/", &baseline, &message), -EISDIR);
    CHECK_STR(message, "/: Is a directory");
    free(message);
}
