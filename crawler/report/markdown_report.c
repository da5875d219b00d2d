/*
 * markdown_report.c - see markdown_report.h
 *
 *     ## 2 broken targets, 3 links on http://h/     the totals, which always fit
 *     | page | link | why |                         as many rows as fit
 *     and 12 more
 *     <details> blocked; moved permanently
 *
 * Untrusted text is enclosed in <code>, and its punctuation is written as character
 * references.
 */
#include "markdown_report.h"

#include "escape.h"
#include "page_names.h"
#include "../base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_CELL 120                   /* longer texts are truncated */
#define TAIL_BYTES 400                     /* space for the text after a full table */
#define SECTION_BYTES (MARKDOWN_BYTES / 6) /* size limit of a folded section */

struct view {
    const struct digest *digest;
    struct page_names names;
    struct text text; /* the output */
    struct text row;  /* the row being written */
};

/* ---- texts ------------------------------------------------------------------------- */

static void put_piece(void *text, const char *piece, size_t n)
{
    text_add(text, piece, n);
}

static void put(struct text *text, const char *words)
{
    text_add(text, words, strlen(words));
}

static void print(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void print(struct text *text, const char *format, ...)
{
    char words[256];
    va_list args;

    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    put(text, words);
}

/* Truncate a text that is too long. */
static void shorten(struct text *text)
{
    size_t count = 0;

    for (size_t i = 0; i < text->n; i++) {
        if ((text->at[i] & 0xc0) == 0x80 || count++ < LONGEST_CELL)
            continue;
        text->n = i;
        text_add(text, "\xe2\x80\xa6", 3);
        return;
    }
}

/*
 * Write a text as code. Passwords are masked before the text is truncated, because a
 * truncated password might not be recognised.
 */
static void put_code(struct view *view, const char *words)
{
    struct text plain = {0};
    char *whole;

    escape_plain(words, put_piece, &plain);
    shorten(&plain);
    whole = text_take(&plain);
    if (whole == NULL) {
        view->row.failed = true;
        return;
    }
    put(&view->row, "<code>");
    escape_markdown(whole, put_piece, &view->row);
    put(&view->row, "</code>");
    free(whole);
}

static bool is_web(const char *url)
{
    return strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
}

/* Write the name of a page: a link if it is an http: or https: URL, otherwise a path. */
static void put_page(struct view *view, const char *url)
{
    char *path = page_names_path(&view->names, url);

    if (path == NULL) {
        view->row.failed = true;
        return;
    }
    if (is_web(url)) {
        put(&view->row, "<a href=\"");
        escape_markdown(url, put_piece, &view->row);
        put(&view->row, "\">");
    }
    put_code(view, path);
    if (is_web(url))
        put(&view->row, "</a>");
    free(path);
}

/* ---- rows -------------------------------------------------------------------------- */

static void make_row(struct view *view, const struct digest_row *row)
{
    const struct finding *finding = row->finding;
    char *text = digest_text(row), place[DIGEST_PLACE_BYTES];

    if (text == NULL) {
        view->row.failed = true;
        return;
    }
    put(&view->row, "| ");
    if (row->link != NULL) {
        put_page(view, row->link->page->url);
        print(&view->row, ":%s", digest_place(row->link, place));
    }
    put(&view->row, " | ");
    put_code(view, text);
    put(&view->row, " | ");
    if (finding->kind != FINDING_MOVED)
        put_code(view, digest_cause(finding));
    if (finding->kind != FINDING_MOVED && finding->leads_to != NULL)
        put(&view->row, " → ");
    if (finding->leads_to != NULL)
        put_code(view, finding->leads_to);
    put(&view->row, " |\n");
    free(text);
}

/*
 * Write the rows of a kind until the text would have more than `limit` bytes. Returns the
 * number of rows written.
 */
static size_t put_rows(struct view *view, enum finding_kind kind, size_t limit)
{
    const struct digest *digest = view->digest;
    size_t count = 0;

    for (size_t i = 0; i < digest->row_count && !view->text.failed; i++) {
        if (digest->rows[i].finding->kind != kind)
            continue;
        make_row(view, &digest->rows[i]);
        if (!view->row.failed && view->text.n + view->row.n > limit)
            break;
        text_add(&view->text, view->row.at, view->row.n);
        view->text.failed |= view->row.failed;
        view->row.n = 0;
        count++;
    }
    view->row.n = 0;
    return count;
}

static void put_table(struct view *view, enum finding_kind kind, size_t limit)
{
    size_t count,
        all = view->digest->kind_counts[kind] + view->digest->unstored_counts[kind];

    print(&view->text, "| page | link | %s |\n|---|---|---|\n",
          kind == FINDING_MOVED ? "where it leads" : "why");
    count = put_rows(view, kind, limit);
    if (count < all)
        print(&view->text, "\nand %zu more\n", all - count);
}

/* Write a folded section for a kind of findings that do not make the run fail. */
static void put_section(struct view *view, enum finding_kind kind, const char *title)
{
    size_t limit = view->text.n + SECTION_BYTES;

    if (view->digest->kind_counts[kind] == 0)
        return;
    print(&view->text, "\n<details><summary>%s: %zu</summary>\n\n", title,
          view->digest->kind_counts[kind] + view->digest->unstored_counts[kind]);
    put_table(view, kind,
              limit < MARKDOWN_BYTES - TAIL_BYTES ? limit : MARKDOWN_BYTES - TAIL_BYTES);
    put(&view->text, "\n</details>\n");
}

/* ---- totals ------------------------------------------------------------------------ */

/*
 * Write the row of one verdict: "| 3 | 2 | 7 | broken | 404 Not Found 2, 500 Internal
 * Server Error |". The numbers are targets, URLs and links.
 */
static void put_total(struct view *view, const struct digest_total *totals, size_t count)
{
    char to[DIGEST_CAUSE_BYTES];
    size_t sum = 0, limit = view->text.n + 600;

    for (size_t i = 0; i < count; i++)
        sum += totals[i].count;
    print(&view->text, "| %zu | %zu | %zu | %s | ", sum,
          view->digest->summary.verdict_urls[totals[0].verdict],
          view->digest->summary.verdict_links[totals[0].verdict],
          verdict_word(totals[0].verdict));
    for (size_t i = 0; i < count && totals[i].reason != REASON_NONE; i++) {
        if (view->text.n > limit) {
            put(&view->text, ", …");
            break;
        }
        print(&view->text, "%s%s", i > 0 ? ", " : "", digest_total_cause(&totals[i], to));
        if (count > 1)
            print(&view->text, " (%zu)", totals[i].count);
    }
    put(&view->text, " |\n");
}

static void put_totals(struct view *view)
{
    const struct digest *digest = view->digest;
    size_t n;

    put(&view->text,
        "| targets | URLs | links | verdict | why |\n|--:|--:|--:|---|---|\n");
    for (size_t i = 0; i < digest->total_count; i += n) {
        for (n = 1; i + n < digest->total_count &&
                    digest->totals[i + n].verdict == digest->totals[i].verdict;)
            n++;
        put_total(view, &digest->totals[i], n);
    }
    if (digest->known_count > 0)
        print(&view->text, "\n%zu of these are in the baseline.\n", digest->known_count);
    print(&view->text, "\n%zu pages, %zu links, %zu targets in %.2f s\n",
          digest->summary.pages, digest->summary.links, digest->summary.targets,
          (double)digest->summary.duration_ns / 1e9);
}

/* ---- whole ------------------------------------------------------------------------- */

static void put_title(struct view *view)
{
    const struct digest *digest = view->digest;
    size_t count = digest->summary.findings, links = digest->summary.finding_links;

    if (count == 0)
        put(&view->row, "## No broken links");
    else
        print(&view->row, "## %zu broken target%s, %zu link%s", count,
              count == 1 ? "" : "s", links, links == 1 ? "" : "s");
    if (digest->options->starts.count > 0) {
        put(&view->row, " on ");
        put_code(view, digest->options->starts.at[0]);
    }
    if (digest->options->starts.count > 1)
        print(&view->row, " and %zu more", digest->options->starts.count - 1);
    put(&view->row, "\n\n");
    text_add(&view->text, view->row.at, view->row.n);
    view->text.failed |= view->row.failed;
    view->row.n = 0;
}

static void put_all(struct view *view)
{
    put_title(view);
    if (view->digest->summary.exit_status == 6)
        put(&view->text, "The crawl was interrupted, so this report is incomplete.\n\n");
    else if (view->digest->summary.exit_status == 4)
        put(&view->text, "Nothing could be fetched.\n\n");
    put_totals(view);
    if (view->digest->kind_counts[FINDING_FAILS] > 0) {
        put(&view->text, "\n");
        put_table(view, FINDING_FAILS,
                  MARKDOWN_BYTES - 2 * SECTION_BYTES - 2 * TAIL_BYTES);
    }
    put_section(view, FINDING_WARNS, "Blocked, or broken without failing the run");
    put_section(view, FINDING_MOVED, "Moved permanently: links to update");
}

int report_markdown(struct out *out, const struct digest *digest)
{
    struct view view = {.digest = digest};
    int rc = page_names_init(&view.names);

    if (rc == 0)
        put_all(&view);
    if (rc == 0 && view.text.failed)
        rc = -ENOMEM;
    if (rc == 0)
        out_write(out, view.text.at, view.text.n);
    text_finish(&view.row);
    text_finish(&view.text);
    page_names_finish(&view.names);
    return rc < 0 ? rc : out->rc;
}
