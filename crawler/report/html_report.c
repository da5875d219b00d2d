/*
 * html_report.c - see html_report.h
 *
 * All untrusted text is written with out_put_markup(), and only http: and https: URLs
 * become links. If untrusted text became a tag nevertheless, the Content-Security-Policy
 * in the document's head would prevent the tag from loading or running anything.
 */
#include "html_report.h"

#include "escape.h"
#include "html_style.h"
#include "page_names.h"
#include "../url/url.h"

#include <coil/run.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHART_HEIGHT 100 /* height of the longest bar, in SVG units */
#define BAR_WIDTH 6
#define BARS ((int)SPEED_SPANS)

struct view {
    struct out *out;
    const struct digest *digest;
    struct page_names names;
};

/* ---- texts ------------------------------------------------------------------------- */

static void put(struct view *view, const char *html)
{
    out_put(view->out, html);
}

static void put_text(struct view *view, const char *text)
{
    out_put_markup(view->out, text);
}

static bool is_web(const char *url)
{
    return strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
}

static void open_link(struct view *view, const char *url)
{
    if (!is_web(url))
        return;
    put(view, "<a rel=\"noopener noreferrer\" href=\"");
    put_text(view, url);
    put(view, "\">");
}

static void close_link(struct view *view, const char *url)
{
    if (is_web(url))
        put(view, "</a>");
}

/*
 * Write a URL: without its origin if the first start URL has the same origin, or as a
 * path if it is a file. Any other text is written unchanged.
 */
static void put_url(struct view *view, const char *url)
{
    const struct text_list *starts = &view->digest->options->starts;
    bool is_own = is_web(url) && starts->count > 0 && is_web(starts->at[0]) &&
                  url_same_origin(starts->at[0], url);
    char *path = page_names_path(&view->names, url);

    if (path == NULL) {
        out_fail(view->out, -ENOMEM);
        return;
    }
    open_link(view, url);
    put_text(view, is_own ? path + url_origin_length(path) : path);
    close_link(view, url);
    free(path);
}

static void put_seconds(struct view *view, int64_t ns)
{
    if (ns < 1000000000)
        out_print(view->out, "%.0f ms", (double)ns / 1e6);
    else
        out_print(view->out, "%.1f s", (double)ns / 1e9);
}

/* Return the class of a verdict in the style sheet of html_style.c. */
static const char *class_of(enum verdict verdict)
{
    static const char *const classes[] = {[TONE_NEUTRAL] = "soft",
                                          [TONE_GOOD] = "good",
                                          [TONE_WARNING] = "warn",
                                          [TONE_BAD] = "bad"};

    return classes[verdict_traits(verdict)->tone];
}

/* Return the number of rows of a kind, including links whose places were not stored. */
static size_t count_of(const struct view *view, enum finding_kind kind)
{
    return view->digest->kind_counts[kind] + view->digest->unstored_counts[kind];
}

/* ---- the head ---------------------------------------------------------------------- */

static void put_pieces(struct view *view, const char *const *pieces)
{
    for (; *pieces != NULL; pieces++)
        put(view, *pieces);
}

static void put_title(struct view *view)
{
    const struct record_summary *summary = &view->digest->summary;

    if (summary->findings > 0)
        out_print(view->out, "%zu broken target%s, %zu link%s", summary->findings,
                  summary->findings == 1 ? "" : "s", summary->finding_links,
                  summary->finding_links == 1 ? "" : "s");
    else
        put(view, "No broken links");
    if (view->digest->options->starts.count > 0) {
        put(view, " on ");
        put_text(view, view->digest->options->starts.at[0]);
    }
}

static void put_head(struct view *view)
{
    put(view,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src '" HTML_STYLE_HASH "'; script-src '" HTML_SCRIPT_HASH "'; "
        "base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"referrer\" content=\"no-referrer\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>");
    put_title(view);
    put(view, "</title>\n<style>");
    put_pieces(view, html_style);
    put(view, "</style>\n</head>\n");
}

static void put_header(struct view *view)
{
    const struct digest *digest = view->digest;
    const struct text_list *starts = &digest->options->starts;
    char time[DIGEST_TIME_BYTES];

    put(view, "<header>\n<h1>");
    put_title(view);
    put(view, "</h1>\n");
    for (size_t i = 1; i < starts->count; i++) {
        put(view, "<p>and on <code>");
        put_text(view, starts->at[i]);
        put(view, "</code></p>\n");
    }
    out_print(view->out, "<p class=\"soft\">coil-crawl %s, %s, in ", coil_version(),
              digest_time(digest, 0, time));
    put_seconds(view, digest->summary.duration_ns);
    put(view, "</p>\n");
    if (digest->summary.exit_status == 6)
        put(view,
            "<p class=\"warn\">The crawl was interrupted: this is what was known by "
            "then.</p>\n");
    else if (digest->summary.exit_status == 4)
        put(view, "<p class=\"bad\">Nothing could be fetched.</p>\n");
    put(view,
        "<nav><a href=\"#totals\">Totals</a><a href=\"#broken\">Broken links</a>"
        "<a href=\"#warnings\">Warnings</a><a href=\"#moved\">Redirects to update</a>"
        "<a href=\"#hosts\">Slowest hosts</a><a href=\"#timeline\">Timeline</a></nav>\n"
        "</header>\n");
}

/* ---- totals ------------------------------------------------------------------------ */

static void put_tile(struct view *view, const char *name, const char *class, size_t value)
{
    out_print(view->out, "<div><dt>%s</dt><dd class=\"%s\">%zu</dd></div>\n", name,
              value > 0 ? class : "", value);
}

/* Write a row for one verdict. */
static void put_total(struct view *view, const struct digest_total *totals, size_t count)
{
    const struct record_summary *summary = &view->digest->summary;
    enum verdict verdict = totals[0].verdict;
    char to[DIGEST_CAUSE_BYTES];

    out_print(
        view->out,
        "<tr><td class=\"n\">%zu</td><td class=\"n\">%zu</td><td class=\"n\">%zu</td>"
        "<td class=\"%s\">%s</td><td>",
        summary->verdicts[verdict], summary->verdict_urls[verdict],
        summary->verdict_links[verdict], class_of(verdict), verdict_word(verdict));
    for (size_t i = 0; i < count; i++) {
        put(view, i > 0 ? ", " : "");
        put_text(view, digest_total_cause(&totals[i], to));
        if (count > 1)
            out_print(view->out, " %zu", totals[i].count);
    }
    put(view, "</td></tr>\n");
}

static void put_totals(struct view *view)
{
    const struct digest *digest = view->digest;
    const struct record_summary *summary = &digest->summary;
    size_t n;

    put(view, "<section id=\"totals\">\n<dl class=\"tiles\">\n");
    put_tile(view, "pages", "", summary->pages);
    put_tile(view, "links", "", summary->links);
    put_tile(view, "targets", "", summary->targets);
    put_tile(view, "broken targets", "bad", summary->findings);
    put_tile(view, "links to these", "bad", summary->finding_links);
    put_tile(view, "warnings", "warn", count_of(view, FINDING_WARNS));
    put_tile(view, "to update", "", count_of(view, FINDING_MOVED));
    put_tile(view, "kilobytes", "", (size_t)(summary->bytes / 1000));
    put(view, "</dl>\n<table class=\"narrow\">\n<thead><tr><th class=\"n\">targets</th>"
              "<th class=\"n\">URLs</th><th class=\"n\">links</th><th>verdict</th>"
              "<th>why</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < digest->total_count; i += n) {
        for (n = 1; i + n < digest->total_count &&
                    digest->totals[i + n].verdict == digest->totals[i].verdict;)
            n++;
        put_total(view, &digest->totals[i], n);
    }
    put(view, "</tbody>\n</table>\n");
    if (digest->known_count > 0)
        out_print(view->out,
                  "<p>%zu of these are in the baseline, and are not listed below.</p>\n",
                  digest->known_count);
    put(view, "</section>\n");
}

/* ---- tables of links --------------------------------------------------------------- */

static void put_place(struct view *view, const struct digest_row *row,
                      const struct digest_row *before)
{
    const struct digest_link *link = row->link;
    bool is_same = before != NULL && link != NULL && before->link != NULL &&
                   strcmp(before->link->page->url, link->page->url) == 0;
    char place[DIGEST_PLACE_BYTES];

    put(view, is_same ? "<tr><td class=\"page same\">" : "<tr><td class=\"page\">");
    if (link == NULL) {
        put(view, "</td><td></td>");
        return;
    }
    put_url(view, link->page->url);
    /* The script sorts rows by this number, which combines line and column. */
    out_print(view->out, "</td><td class=\"n\" data-value=\"%llu\">%s</td>",
              link->line * 1000000ULL + (link->column < 1000000 ? link->column : 999999),
              digest_place(link, place));
}

static void put_words(struct view *view, const struct digest_row *row, const char *text)
{
    const struct digest *digest = view->digest;
    const struct digest_link *link = row->link;

    put(view, "<td><code>");
    put_text(view, text);
    put(view, "</code>");
    if (link != NULL && link->element > 0) {
        put(view, " <small>");
        put_text(view, digest->words[link->element]);
        if (link->attribute > 0) {
            put(view, " ");
            put_text(view, digest->words[link->attribute]);
        }
        put(view, "</small>");
    }
    put(view, "</td>");
}

static void put_target(struct view *view, const struct finding *finding)
{
    put(view, "<td class=\"to\">");
    if (finding->reason == REASON_NOT_A_URL)
        put_text(view, finding->target);
    else
        put_url(view, finding->target);
    if (finding->fragment != NULL) {
        put(view, "#");
        put_text(view, finding->fragment);
    }
    put(view, "</td>");
}

static void put_cause(struct view *view, const struct finding *finding)
{
    out_print(view->out, "<td><span class=\"%s\">%s</span> ", class_of(finding->verdict),
              verdict_word(finding->verdict));
    if (finding->message != NULL)
        put_text(view, finding->message);
    if (finding->leads_to != NULL) {
        put(view, ", redirects to <span class=\"to\">");
        put_url(view, finding->leads_to);
        put(view, "</span>");
    }
    put(view, "</td>");
}

/*
 * Write a row. For a permanent redirect, its last column is the new URL instead of the
 * reason.
 */
static void put_row(struct view *view, const struct digest_row *row,
                    const struct digest_row *before)
{
    const struct finding *finding = row->finding;
    char *text = digest_text(row);

    if (text == NULL) {
        out_fail(view->out, -ENOMEM);
        return;
    }
    put_place(view, row, before);
    put_words(view, row, text);
    free(text);
    put_target(view, finding);
    if (finding->kind == FINDING_MOVED) {
        put(view, "<td class=\"to\">");
        put_url(view, finding->leads_to);
        put(view, "</td>");
    } else {
        put_cause(view, finding);
    }
    out_print(view->out, "<td class=\"n\" data-value=\"%u\">%u</td></tr>\n",
              finding->link_count, finding->link_count);
}

static void put_table(struct view *view, enum finding_kind kind, const char *last)
{
    const struct digest *digest = view->digest;
    const struct digest_row *before = NULL;
    size_t written = 0;

    out_print(view->out,
              "<table class=\"rows links\">\n<thead><tr><th>page</th>"
              "<th class=\"n\">line</th><th>link</th><th>target</th><th>%s</th>"
              "<th class=\"n\">links to it</th></tr></thead>\n<tbody>\n",
              last);
    for (size_t i = 0; i < digest->row_count && written < HTML_ROWS; i++) {
        if (digest->rows[i].finding->kind != kind || view->out->rc < 0)
            continue;
        put_row(view, &digest->rows[i], before);
        before = &digest->rows[i];
        written++;
    }
    put(view, "</tbody>\n</table>\n");
    if (written < count_of(view, kind))
        out_print(view->out, "<p>and %zu more</p>\n", count_of(view, kind) - written);
}

static void put_links(struct view *view, enum finding_kind kind, const char *id,
                      const char *title, const char *last, const char *none)
{
    out_print(view->out, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
    if (view->digest->kind_counts[kind] > 0)
        put_table(view, kind, last);
    else
        out_print(view->out, "<p>%s</p>\n", none);
    put(view, "</section>\n");
}

/* ---- hosts and course -------------------------------------------------------------- */

static void put_duration(struct view *view, int64_t ns)
{
    out_print(view->out, "<td class=\"n\" data-value=\"%lld\">", (long long)ns);
    put_seconds(view, ns);
    put(view, "</td>");
}

static void put_host(struct view *view, const struct speed_host *host)
{
    put(view, "<tr><td class=\"to\">");
    put_text(view, host->name);
    put(view, "</td>");
    put_duration(view, host->total_ns / (int64_t)host->answers);
    put_duration(view, host->slowest_ns);
    out_print(view->out,
              "<td class=\"n\" data-value=\"%zu\">%zu</td>"
              "<td class=\"n\" data-value=\"%zu\">%zu</td></tr>\n",
              host->answers, host->answers, host->failures, host->failures);
}

static void put_hosts(struct view *view)
{
    const struct speed *speed = &view->digest->speed;

    put(view, "<section id=\"hosts\">\n<h2>Slowest hosts</h2>\n");
    if (speed->host_count == 0)
        put(view, "<p>No requests were sent.</p>\n");
    else
        put(view, "<table class=\"rows hosts\">\n<thead><tr>"
                  "<th>host</th><th class=\"n\">mean</th><th class=\"n\">slowest</th>"
                  "<th class=\"n\">answers</th><th class=\"n\">failed</th></tr></thead>\n"
                  "<tbody>\n");
    for (size_t i = 0; i < speed->host_count && i < HTML_HOSTS; i++)
        put_host(view, speed->hosts[i]);
    if (speed->host_count > 0)
        put(view, "</tbody>\n</table>\n");
    if (speed->host_count > HTML_HOSTS)
        out_print(view->out, "<p>and %zu more</p>\n", speed->host_count - HTML_HOSTS);
    put(view, "</section>\n");
}

static void put_bar(struct view *view, size_t at, size_t most)
{
    const struct speed *speed = &view->digest->speed;
    const struct speed_span *span = &speed->spans[at];
    double all = CHART_HEIGHT * (double)span->answers / (double)most;
    double failed = CHART_HEIGHT * (double)span->failures / (double)most;
    int x = (int)at * BAR_WIDTH;

    if (span->answers == 0)
        return;
    put(view, "<g><title>at ");
    put_seconds(view, (int64_t)at * speed->span_ns);
    out_print(
        view->out,
        ": %zu answers, %zu failed, %lld kB</title>"
        "<rect class=\"answers\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>",
        span->answers, span->failures, (long long)(span->bytes / 1000), x,
        CHART_HEIGHT - all, BAR_WIDTH - 1, all - failed);
    if (failed > 0)
        out_print(view->out,
                  "<rect class=\"failed\" x=\"%d\" y=\"%.1f\" width=\"%d\" "
                  "height=\"%.1f\"/>",
                  x, CHART_HEIGHT - failed, BAR_WIDTH - 1, failed);
    put(view, "</g>\n");
}

static size_t most_answers(const struct speed *speed)
{
    size_t most = 1;

    for (size_t i = 0; i < speed->span_count; i++)
        if (speed->spans[i].answers > most)
            most = speed->spans[i].answers;
    return most;
}

static void put_chart(struct view *view)
{
    const struct speed *speed = &view->digest->speed;
    size_t most = most_answers(speed);

    out_print(view->out,
              "<figure><svg role=\"img\" aria-label=\"answers over time\" "
              "preserveAspectRatio=\"none\" viewBox=\"0 0 %d %d\">\n",
              BARS * BAR_WIDTH, CHART_HEIGHT);
    for (size_t i = 0; i < speed->span_count; i++)
        put_bar(view, i, most);
    put(view, "</svg>\n<figcaption>From left to right ");
    put_seconds(view, BARS * speed->span_ns);
    put(view, ", a bar for each ");
    put_seconds(view, speed->span_ns);
    out_print(view->out,
              ": at most %zu answers in one; %zu in all, %zu of them failed (red), in ",
              most, speed->answers, speed->failures);
    put_seconds(view, speed->total_ns / (int64_t)speed->answers);
    put(view, " on average.</figcaption></figure>\n");
}

static void put_timeline(struct view *view)
{
    put(view, "<section id=\"timeline\">\n<h2>Timeline</h2>\n");
    if (view->digest->speed.answers > 0)
        put_chart(view);
    else
        put(view, "<p>No requests were sent.</p>\n");
    put(view, "</section>\n");
}

/* ---- whole ------------------------------------------------------------------------- */

static void put_all(struct view *view)
{
    put_head(view);
    put(view, "<body>\n");
    put_header(view);
    put(view, "<main>\n");
    put_totals(view);
    put(view, "<div id=\"bar\" hidden><input id=\"search\" type=\"search\" "
              "placeholder=\"Search all tables\" aria-label=\"Search all tables\"> "
              "<span id=\"shown\" class=\"soft\" role=\"status\"></span></div>\n");
    put_links(view, FINDING_FAILS, "broken", "Broken links", "why", "None.");
    put_links(view, FINDING_WARNS, "warnings", "Warnings", "why",
              "No link was blocked, or broken without failing the run.");
    put_links(view, FINDING_MOVED, "moved", "Redirects to update", "new address",
              "No link leads to a permanently moved target.");
    put_hosts(view);
    put_timeline(view);
    put(view, "</main>\n<script>");
    put_pieces(view, html_script);
    put(view, "</script>\n</body>\n</html>\n");
}

int report_html(struct out *out, const struct digest *digest)
{
    struct view view = {.out = out, .digest = digest};
    int rc = page_names_init(&view.names);

    if (rc == 0)
        put_all(&view);
    page_names_finish(&view.names);
    return rc < 0 ? rc : out->rc;
}
