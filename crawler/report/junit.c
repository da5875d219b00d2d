/*
 * junit.c - see junit.h
 *
 *     testsuites
 *       testsuite "coil-crawl"           the crawl itself, and start URLs that fail
 *       testsuite "http://h/a.html"      each page with findings
 *         testcase "12:9 b.html"
 *           failure                      makes the run fail: broken, fragment
 *           error                        could not be checked: error, timeout
 *           skipped                      does not make the run fail
 *
 * JUnit XML is not standardized. The output conforms to the schema of Jenkins' xUnit
 * plugin (junit-10.xsd). GitLab would read the attribute `file` in <testcase>, but the
 * schema allows it only in <testsuite>. Pages without findings are omitted, because a
 * site may have millions of pages.
 */
#include "junit.h"

#include "escape.h"
#include "page_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct view {
    struct out *out;
    const struct digest *digest;
    struct page_names names;
};

struct sums {
    size_t tests, failures, errors, skipped;
};

static const char *element_of(const struct finding *finding)
{
    if (finding->kind != FINDING_FAILS)
        return "skipped";
    return verdict_traits(finding->verdict)->is_unanswered ? "error" : "failure";
}

/* False for permanent redirects to working targets. */
static bool is_reported(const struct digest_row *row)
{
    return row->finding->kind != FINDING_MOVED;
}

static struct sums sums_of(const struct digest_row *rows, size_t count)
{
    struct sums sums = {0};

    for (size_t i = 0; i < count; i++) {
        const char *element = element_of(rows[i].finding);

        if (!is_reported(&rows[i]))
            continue;
        sums.tests++;
        sums.failures += element[0] == 'f';
        sums.errors += element[0] == 'e';
        sums.skipped += element[0] == 's';
    }
    return sums;
}

/* ---- the pieces -------------------------------------------------------------------- */

static void put_attribute(struct view *view, const char *name, const char *value)
{
    out_print(view->out, " %s=\"", name);
    out_put_markup(view->out, value);
    out_put(view->out, "\"");
}

static void put_element(struct view *view, const struct digest_row *row, const char *text)
{
    const struct finding *finding = row->finding;
    char rule[DIGEST_RULE_BYTES], place[DIGEST_PLACE_BYTES];

    out_print(view->out, "<%s", element_of(finding));
    put_attribute(view, "type", digest_rule(finding->verdict, finding->reason, rule));
    put_attribute(view, "message", digest_cause(finding));
    out_put(view->out, ">");
    if (row->link != NULL) {
        out_put_markup(view->out, row->link->page->url);
        out_print(view->out, ":%s: ", digest_place(row->link, place));
    }
    out_put_markup(view->out, text);
    out_put(view->out, ": ");
    out_put_markup(view->out, digest_cause(finding));
    out_put(view->out, "\ntarget: ");
    out_put_markup(view->out, finding->target);
    if (finding->leads_to != NULL) {
        out_put(view->out, "\nredirects to: ");
        out_put_markup(view->out, finding->leads_to);
    }
    if (finding->link_count > 1)
        out_print(view->out, "\nlinks to it: %u", finding->link_count);
    out_print(view->out, "</%s>", element_of(finding));
}

/*
 * Write the name of a page. For a file, this is its path relative to the working
 * directory, which is the same on other machines.
 */
static void put_name(struct view *view, const char *attribute, const char *url)
{
    char *path = page_names_path(&view->names, url);

    if (path != NULL)
        put_attribute(view, attribute, path);
    else
        out_fail(view->out, -ENOMEM);
    free(path);
}

static void put_case(struct view *view, const struct digest_row *row)
{
    const struct digest_link *link = row->link;
    char *text = digest_text(row), place[DIGEST_PLACE_BYTES];

    if (text == NULL) {
        out_fail(view->out, -ENOMEM);
        return;
    }
    out_put(view->out, "    <testcase name=\"");
    if (link != NULL)
        out_print(view->out, "%s ", digest_place(link, place));
    out_put_markup(view->out, text);
    out_put(view->out, "\"");
    if (link != NULL)
        put_name(view, "classname", link->page->url);
    else
        put_attribute(view, "classname", "coil-crawl");
    out_put(view->out, ">");
    put_element(view, row, text);
    out_put(view->out, "</testcase>\n");
    free(text);
}

static void put_cases(struct view *view, const struct digest_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_reported(&rows[i]))
            put_case(view, &rows[i]);
}

static void put_sums(struct view *view, struct sums sums)
{
    out_print(view->out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"",
              sums.tests, sums.failures, sums.errors, sums.skipped);
}

/* ---- suites ------------------------------------------------------------------------ */

/*
 * Return a message if the crawl is incomplete, otherwise NULL. In an incomplete crawl,
 * links without a finding may be broken too.
 */
static const char *problem_of(int exit_status)
{
    switch (exit_status) {
    case 0:
    case 2:
        return NULL;
    case 4:
        return "nothing could be fetched";
    case 6:
        return "interrupted";
    default:
        return "the crawl failed";
    }
}

/* Return the number of rows without a link, which come first. */
static size_t count_placeless(const struct digest *digest)
{
    size_t n = 0;

    while (n < digest->row_count && digest->rows[n].link == NULL)
        n++;
    return n;
}

/*
 * Write a test for the crawl itself. This test is always written, because tools treat a
 * report without tests as an error.
 */
static void put_crawl(struct view *view, const char *problem)
{
    const struct digest *digest = view->digest;
    size_t count = count_placeless(digest);
    struct sums sums = sums_of(digest->rows, count);
    double seconds = (double)digest->summary.duration_ns / 1e9;
    char time[DIGEST_TIME_BYTES];

    sums.tests++;
    sums.errors += problem != NULL;
    out_put(view->out, "  <testsuite name=\"coil-crawl\"");
    put_sums(view, sums);
    out_print(view->out, " time=\"%.3f\"", seconds);
    put_attribute(view, "timestamp", digest_time(digest, 0, time));
    out_print(
        view->out,
        ">\n    <testcase name=\"the crawl\" classname=\"coil-crawl\" time=\"%.3f\">",
        seconds);
    if (problem != NULL)
        out_print(view->out, "<error type=\"crawl\" message=\"%s\">%s</error>", problem,
                  problem);
    out_put(view->out, "</testcase>\n");
    put_cases(view, digest->rows, count);
    out_put(view->out, "  </testsuite>\n");
}

static void put_page(struct view *view, const struct digest_row *rows, size_t count)
{
    struct sums sums = sums_of(rows, count);

    if (sums.tests == 0)
        return;
    out_put(view->out, "  <testsuite");
    put_name(view, "name", rows[0].link->page->url);
    put_sums(view, sums);
    if (page_names_is_file(rows[0].link->page->url))
        put_name(view, "file", rows[0].link->page->url);
    out_put(view->out, ">\n");
    put_cases(view, rows, count);
    out_put(view->out, "  </testsuite>\n");
}

/* Return the number of rows, from `first` on, that are on the same page. */
static size_t rows_of_page(const struct digest *digest, size_t first)
{
    const char *url = digest->rows[first].link->page->url;
    size_t n = 1;

    while (first + n < digest->row_count &&
           strcmp(digest->rows[first + n].link->page->url, url) == 0)
        n++;
    return n;
}

static void put_all(struct view *view)
{
    const struct digest *digest = view->digest;
    const char *problem = problem_of(digest->summary.exit_status);
    struct sums sums = sums_of(digest->rows, digest->row_count);
    size_t n;

    out_print(view->out,
              "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
              "<testsuites name=\"coil-crawl\" tests=\"%zu\" failures=\"%zu\" "
              "errors=\"%zu\" time=\"%.3f\">\n",
              sums.tests + 1, sums.failures, sums.errors + (problem != NULL),
              (double)digest->summary.duration_ns / 1e9);
    put_crawl(view, problem);
    for (size_t i = count_placeless(digest); i < digest->row_count; i += n) {
        n = rows_of_page(digest, i);
        put_page(view, digest->rows + i, n);
    }
    out_put(view->out, "</testsuites>\n");
}

int report_junit(struct out *out, const struct digest *digest)
{
    struct view view = {.out = out, .digest = digest};
    int rc = page_names_init(&view.names);

    if (rc == 0)
        put_all(&view);
    page_names_finish(&view.names);
    return rc < 0 ? rc : out->rc;
}
