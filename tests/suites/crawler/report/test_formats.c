/*
 * test_formats.c - checks each byte of the reports that are written from a digest.
 *
 * tests/suites/crawler/test_formats.py parses the reports with other programs.
 */
#include "../../../../crawler/report/csv.h"
#include "../../../../crawler/report/html_report.h"
#include "../../../../crawler/report/junit.h"
#include "../../../../crawler/report/markdown_report.h"
#include "../../../../crawler/report/sarif.h"
#include "../../../harness/harness.h"
#include "../digested.h"

#include <coil/run.h>

static struct digested digested;

/*
 * Create a digest with one row of each kind: a broken link, a missing fragment, a failed
 * start, a blocked page and a moved page.
 */
static void begin(void)
{
    digested_init(&digested);
    digested_link(&digested, "http://h/a", 12, 9, "b", "http://h/b", NULL);
    digested_link(&digested, "http://h/a", 13, 1, "=x#y", "http://h/=x", "y");
    digested_link(&digested, "http://h/a", 14, 1, "http://x/", "http://x/", NULL);
    digested_link(&digested, "http://h/a", 15, 1, "old", "http://h/old", NULL);
    digested_page(&digested, "http://h/a");
    digested_redirect(&digested, "http://h/old", 301, "http://h/new");
    digested_missing(&digested, "http://h/b");
    digested_verdict(&digested, "http://h/=x", "y", VERDICT_FRAGMENT, REASON_NO_SUCH_ID,
                     200, "no element has this id");
    digested_verdict(&digested, "http://h/", NULL, VERDICT_ERROR, REASON_NETWORK, 0,
                     "Connection refused");
    digested_verdict(&digested, "http://x/", NULL, VERDICT_BLOCKED, REASON_STATUS, 403,
                     "403 Forbidden");
    digested_verdict(&digested, "http://h/old", NULL, VERDICT_REDIRECT, REASON_PERMANENT,
                     301, "moved permanently");
}

static void check_report(int (*write)(struct out *out, const struct digest *digest),
                         const char *expected)
{
    begin();
    CHECK_STR(digested_report(&digested, write), expected);
    digested_finish(&digested);
}

static void check_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        CHECK_STR(text, part);
}

TEST(csv_has_a_row_for_each_link)
{
    check_report(
        report_csv,
        "page,line,column,element,attribute,text,target,fragment,verdict,reason,statu"
        "s,message,leads_to,links\r\n"
        "\"\",,,\"\",\"\",\"http://h/\",\"http://h/\",\"\",\"error\",\"network\",,\"C"
        "onnection refused\",\"\",0\r\n"
        "\"http://h/a\",12,9,\"a\",\"href\",\"b\",\"http://h/b\",\"\",\"broken\",\"st"
        "atus\",404,\"404 Not Found\",\"\",1\r\n"
        "\"http://h/a\",13,1,\"a\",\"href\",\"'=x#y\",\"http://h/=x\",\"y\",\"fragmen"
        "t\",\"no-such-id\",200,\"no element has this id\",\"\",1\r\n"
        "\"http://h/a\",14,1,\"a\",\"href\",\"http://x/\",\"http://x/\",\"\",\"blocke"
        "d\",\"status\",403,\"403 Forbidden\",\"\",1\r\n"
        "\"http://h/a\",15,1,\"a\",\"href\",\"old\",\"http://h/old\",\"\",\"redirect"
        "\",\"permanent\",301,\"moved permanently\",\"http://h/new\",1\r\n");
}

TEST(junit_has_a_suite_for_each_page)
{
    check_report(
        report_junit,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"coil-crawl\" tests=\"5\" failures=\"2\" errors=\"1\" time"
        "=\"1.500\">\n"
        "  <testsuite name=\"coil-crawl\" tests=\"2\" failures=\"0\" errors=\"1\" ski"
        "pped=\"0\" time=\"1.500\" timestamp=\"2026-11-22T14:00:00Z\">\n"
        "    <testcase name=\"the crawl\" classname=\"coil-crawl\" time=\"1.500\"></t"
        "estcase>\n"
        "    <testcase name=\"http://h/\" classname=\"coil-crawl\"><error type=\"erro"
        "r/network\" message=\"Connection refused\">http://h/: Connection refused\n"
        "target: http://h/</error></testcase>\n"
        "  </testsuite>\n"
        "  <testsuite name=\"http://h/a\" tests=\"3\" failures=\"2\" errors=\"0\" ski"
        "pped=\"1\">\n"
        "    <testcase name=\"12:9 b\" classname=\"http://h/a\"><failure type=\"broke"
        "n/status\" message=\"404 Not Found\">http://h/a:12:9: b: 404 Not Found\n"
        "target: http://h/b</failure></testcase>\n"
        "    <testcase name=\"13:1 =x#y\" classname=\"http://h/a\"><failure type=\"fr"
        "agment/no-such-id\" message=\"no element has this id\">http://h/a:13:1: =x#y"
        ": no element has this id\n"
        "target: http://h/=x</failure></testcase>\n"
        "    <testcase name=\"14:1 http://x/\" classname=\"http://h/a\"><skipped type"
        "=\"blocked/status\" message=\"403 Forbidden\">http://h/a:14:1: http://x/: 40"
        "3 Forbidden\n"
        "target: http://x/</skipped></testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n");
}

TEST(sarif_has_rules_and_results)
{
    char expected[8192];

    snprintf(
        expected, sizeof expected,
        "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\""
        ":\"2.1.0\",\"runs\":[{\n"
        "\"tool\":{\"driver\":{\"name\":\"coil-crawl\",\"version\":\"%s\",\"semanti"
        "cVersion\":\"%s\",\"rules\":[\n"
        "{\"id\":\"error-network\",\"name\":\"ErrorNetwork\",\"shortDescription\":{"
        "\"text\":\"The target of a link could not be fetched: no answer: the netwo"
        "rk failed.\"},\"fullDescription\":{\"text\":\"The target of a link could n"
        "ot be fetched: no answer: the network failed.\"},\"help\":{\"text\":\"Corr"
        "ect the link, or remove it. The manual of coil-crawl says what each verdic"
        "t means.\"},\"defaultConfiguration\":{\"level\":\"error\"},\"properties\":"
        "{\"tags\":[\"links\"],\"problem.severity\":\"error\"}},\n"
        "{\"id\":\"broken-status\",\"name\":\"BrokenStatus\",\"shortDescription\":{"
        "\"text\":\"The target of a link does not exist: the answer has an error st"
        "atus.\"},\"fullDescription\":{\"text\":\"The target of a link does not exi"
        "st: the answer has an error status.\"},\"help\":{\"text\":\"Correct the li"
        "nk, or remove it. The manual of coil-crawl says what each verdict means.\""
        "},\"defaultConfiguration\":{\"level\":\"error\"},\"properties\":{\"tags\":"
        "[\"links\"],\"problem.severity\":\"error\"}},\n"
        "{\"id\":\"fragment-no-such-id\",\"name\":\"FragmentNoSuchId\",\"shortDescr"
        "iption\":{\"text\":\"The page of a link lacks the element that its fragmen"
        "t names: no element has this id.\"},\"fullDescription\":{\"text\":\"The pa"
        "ge of a link lacks the element that its fragment names: no element has thi"
        "s id.\"},\"help\":{\"text\":\"Correct the link, or remove it. The manual o"
        "f coil-crawl says what each verdict means.\"},\"defaultConfiguration\":{\""
        "level\":\"error\"},\"properties\":{\"tags\":[\"links\"],\"problem.severity"
        "\":\"error\"}},\n"
        "{\"id\":\"blocked-status\",\"name\":\"BlockedStatus\",\"shortDescription\""
        ":{\"text\":\"The server of a link refuses automatic requests: the answer h"
        "as an error status.\"},\"fullDescription\":{\"text\":\"The server of a lin"
        "k refuses automatic requests: the answer has an error status.\"},\"help\":"
        "{\"text\":\"Correct the link, or remove it. The manual of coil-crawl says "
        "what each verdict means.\"},\"defaultConfiguration\":{\"level\":\"warning"
        "\"},\"properties\":{\"tags\":[\"links\"],\"problem.severity\":\"warning\"}"
        "}]}},\n"
        "\"columnKind\":\"unicodeCodePoints\",\n"
        "\"originalUriBaseIds\":{\"%%SRCROOT%%\":{\"description\":{\"text\":\"The w"
        "orking directory.\"}}},\n"
        "\"results\":[\n"
        "{\"ruleId\":\"error-network\",\"ruleIndex\":0,\"level\":\"error\",\"messag"
        "e\":{\"text\":\"http://h/: Connection refused\"},\"locations\":[{\"physica"
        "lLocation\":{\"artifactLocation\":{\"uri\":\"http://h/\"},\"region\":{\"st"
        "artLine\":1}}}],\"partialFingerprints\":{\"primaryLocationLineHash\":\"a3d"
        "b82edbeb8eb8d:1\"},\"properties\":{\"target\":\"http://h/\",\"links\":0}},\n"
        "{\"ruleId\":\"broken-status\",\"ruleIndex\":1,\"level\":\"error\",\"messag"
        "e\":{\"text\":\"b: 404 Not Found\"},\"locations\":[{\"physicalLocation\":{"
        "\"artifactLocation\":{\"uri\":\"http://h/a\"},\"region\":{\"startLine\":12"
        ",\"startColumn\":9,\"endLine\":12,\"endColumn\":10}}}],\"partialFingerprin"
        "ts\":{\"primaryLocationLineHash\":\"3fdfdc7398cd430a:1\"},\"properties\":{"
        "\"target\":\"http://h/b\",\"status\":404,\"links\":1}},\n"
        "{\"ruleId\":\"fragment-no-such-id\",\"ruleIndex\":2,\"level\":\"error\",\""
        "message\":{\"text\":\"=x#y: no element has this id\"},\"locations\":[{\"ph"
        "ysicalLocation\":{\"artifactLocation\":{\"uri\":\"http://h/a\"},\"region\""
        ":{\"startLine\":13,\"startColumn\":1,\"endLine\":13,\"endColumn\":5}}}],\""
        "partialFingerprints\":{\"primaryLocationLineHash\":\"c8b573a763b613e5:1\"}"
        ",\"properties\":{\"target\":\"http://h/=x\",\"fragment\":\"y\",\"status\":"
        "200,\"links\":1}},\n"
        "{\"ruleId\":\"blocked-status\",\"ruleIndex\":3,\"level\":\"warning\",\"mes"
        "sage\":{\"text\":\"http://x/: 403 Forbidden\"},\"locations\":[{\"physicalL"
        "ocation\":{\"artifactLocation\":{\"uri\":\"http://h/a\"},\"region\":{\"sta"
        "rtLine\":14,\"startColumn\":1,\"endLine\":14,\"endColumn\":10}}}],\"partia"
        "lFingerprints\":{\"primaryLocationLineHash\":\"660bb44287e03944:1\"},\"pro"
        "perties\":{\"target\":\"http://x/\",\"status\":403,\"links\":1}}],\n"
        "\"invocations\":[{\"executionSuccessful\":true,\"exitCode\":2,\"startTimeU"
        "tc\":\"2026-11-22T14:00:00Z\",\"endTimeUtc\":\"2026-11-22T14:00:01Z\"}],\n"
        "\"properties\":{\"pages\":3,\"links\":50,\"targets\":5,\"brokenTargets\":3,"
        "\"brokenLinks\":41}}]}\n",
        coil_version(), coil_version());
    check_report(report_sarif, expected);
}

TEST(markdown_has_totals_and_tables)
{
    check_report(
        report_markdown,
        "## 3 broken targets, 41 links on <code>http&#58;//h/</code>\n"
        "\n"
        "| targets | URLs | links | verdict | why |\n"
        "|--:|--:|--:|---|---|\n"
        "| 1 | 0 | 0 | redirect | moved permanently |\n"
        "| 1 | 20 | 40 | broken | 404 Not Found |\n"
        "| 1 | 0 | 0 | fragment | no element has this id |\n"
        "| 1 | 0 | 0 | blocked | 403 Forbidden |\n"
        "| 1 | 0 | 0 | error | no answer: the network failed |\n"
        "\n"
        "3 pages, 50 links, 5 targets in 1.50 s\n"
        "\n"
        "| page | link | why |\n"
        "|---|---|---|\n"
        "|  | <code>http&#58;//h/</code> | <code>Connection refused</code> |\n"
        "| <a href=\"http&#58;//h/a\"><code>http&#58;//h/a</code></a>:12:9 | <code>b<"
        "/code> | <code>404 Not Found</code> |\n"
        "| <a href=\"http&#58;//h/a\"><code>http&#58;//h/a</code></a>:13:1 | <code>=x"
        "&#35;y</code> | <code>no element has this id</code> |\n"
        "\n"
        "<details><summary>Blocked, or broken without failing the run: 1</summary>\n"
        "\n"
        "| page | link | why |\n"
        "|---|---|---|\n"
        "| <a href=\"http&#58;//h/a\"><code>http&#58;//h/a</code></a>:14:1 | <code>ht"
        "tp&#58;//x/</code> | <code>403 Forbidden</code> |\n"
        "\n"
        "</details>\n"
        "\n"
        "<details><summary>Moved permanently: links to update: 1</summary>\n"
        "\n"
        "| page | link | where it leads |\n"
        "|---|---|---|\n"
        "| <a href=\"http&#58;//h/a\"><code>http&#58;//h/a</code></a>:15:1 | <code>ol"
        "d</code> | <code>http&#58;//h/new</code> |\n"
        "\n"
        "</details>\n");
}

TEST(html_has_tables)
{
    const char *html;

    begin();
    html = digested_report(&digested, report_html);
    check_has(html, "<tr><td class=\"page\"><a rel=\"noopener noreferrer\" "
                    "href=\"http://h/a\">/a</a></td>"
                    "<td class=\"n\" data-value=\"12000009\">12:9</td>"
                    "<td><code>b</code> <small>a href</small></td>"
                    "<td class=\"to\"><a rel=\"noopener noreferrer\" "
                    "href=\"http://h/b\">/b</a></td>"
                    "<td><span class=\"bad\">broken</span> 404 Not Found</td>"
                    "<td class=\"n\" data-value=\"1\">1</td></tr>\n"
                    "<tr><td class=\"page same\">");
    check_has(html, "<td><span class=\"warn\">blocked</span> 403 Forbidden</td>");
    check_has(html, "<td class=\"to\"><a rel=\"noopener noreferrer\" "
                    "href=\"http://h/new\">/new</a></td>");
    digested_finish(&digested);
}

TEST(sarif_has_as_many_results_as_github_takes)
{
    const char *sarif;
    size_t count = 0;

    digested_init(&digested);
    digested_link(&digested, "http://h/", 1, 1, "http://x/", "http://x/", NULL);
    digested_verdict(&digested, "http://x/", NULL, VERDICT_BLOCKED, REASON_STATUS, 403,
                     NULL);
    for (unsigned i = 0; i < SARIF_RESULTS + 10; i++) {
        char url[32], page[32];

        snprintf(url, sizeof url, "http://h/%u", i);
        snprintf(page, sizeof page, "http://h/%u/", i / 100);
        digested_link(&digested, page, i + 1, 1, url, url, NULL);
        digested_missing(&digested, url);
    }
    sarif = digested_report(&digested, report_sarif);
    for (const char *at = sarif; *at != '\0'; at++)
        count += *at == '{' && strncmp(at, "{\"ruleId\":", 10) == 0;
    CHECK_INT(count, SARIF_RESULTS);
    check_has(sarif, "\"11 more links are left out.\"");
    digested_finish(&digested);
}

/* Write a report that contains the longest possible texts. */
TEST(markdown_is_no_longer_than_it_may_be)
{
    const char *markdown;

    digested_init(&digested);
    for (int i = 0; i < 3000; i++) {
        char page[2100] = "", target[2100] = "";

        snprintf(page, sizeof page, "http://h/%d", i);
        memset(page + strlen(page), '[', 2000);
        snprintf(target, sizeof target, "http://h/%d/", i);
        memset(target + strlen(target), '|', 2000);
        digested_link(&digested, page, 1, 1, target, target, NULL);
        digested_page(&digested, page);
        digested_verdict(&digested, target, NULL,
                         i % 3 == 0   ? VERDICT_BROKEN
                         : i % 3 == 1 ? VERDICT_BLOCKED
                                      : VERDICT_REDIRECT,
                         i % 3 == 2 ? REASON_PERMANENT : REASON_STATUS, 100 + i,
                         "a message");
        if (i % 3 == 2)
            digested_redirect(&digested, target, 301, "http://h/new");
    }
    markdown = digested_report(&digested, report_markdown);
    CHECK(strlen(markdown) <= MARKDOWN_BYTES);
    check_has(markdown, "## 1000 broken targets, 41 links on ");
    check_has(markdown,
              "<details><summary>Blocked, or broken without failing the run: 1000");
    check_has(markdown, "<details><summary>Moved permanently: links to update: 1000");
    CHECK_STR(markdown + strlen(markdown) - 11, "</details>\n");
    digested_finish(&digested);
}
