/*
 * report.c - the report for people.
 *
 * A link checker's user wants to know one thing first: which page do I have to edit? So
 * each broken URL is followed by the pages that point at it, and where one of those is
 * only a redirect, by the pages that point at that.
 */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* So many referrers are listed; who wants all of them takes the JSON. */
#define LISTED_REFERRERS 5

/* Redirects are looked through so far. */
#define LISTED_DEPTH 3

/* Erase what the line held before: \r to its start, and "erase to the end". */
#define CLEAR_LINE "\r\x1b[K"

void report_progress(FILE *to, const struct crawler *crawler)
{
    const struct crawler_totals *totals = &crawler->totals;

    fprintf(to, CLEAR_LINE "%zu of %zu URLs, %zu broken", totals->done,
            crawler->page_count - totals->external - totals->excluded, totals->broken);
    fflush(to);
}

void report_clear_progress(FILE *to)
{
    fputs(CLEAR_LINE, to);
    fflush(to);
}

/* What a server sent may hold anything, an escape sequence for the terminal, too. */
static void print_plain(FILE *to, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fputc((unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i], to);
}

static void print_outcome(FILE *to, const struct page *page)
{
    if (page->error != NULL)
        print_plain(to, page->error, strlen(page->error));
    else if (page->rc < 0)
        fputs(strerror(-page->rc), to);
    else
        fprintf(to, "%d", page->status);
}

/* "text/html", without parameters; "-" if there is none. */
static size_t print_type(FILE *to, const struct page *page)
{
    const char *type = page->content_type != NULL ? page->content_type : "-";
    size_t n = strcspn(type, "; \t");

    print_plain(to, type, n);
    return n;
}

static void print_next(FILE *to, const struct page *page)
{
    if (page->next_url == NULL)
        return;
    fputs(" -> ", to);
    print_plain(to, page->next_url, strlen(page->next_url));
}

void report_page(FILE *to, const struct page *page)
{
    print_outcome(to, page);
    fputc(' ', to);
    print_plain(to, page->url, strlen(page->url));
    print_next(to, page);
    if (page->next_url == NULL && page->rc == 0) {
        fputs(" (", to);
        print_type(to, page);
        fprintf(to, ", %lld bytes, %zu links)", (long long)page->size, page->link_count);
    }
    fputc('\n', to);
}

/* ---- the table --------------------------------------------------------------------- */

#define TYPE_WIDTH 24
#define ENCODING_WIDTH 12

static int compare_urls(const void *a, const void *b)
{
    const struct page *const *one = a, *const *other = b;

    return strcmp((*one)->url, (*other)->url);
}

/* Longer than it ought to be, it pushes the rest of its line to the right. */
static void pad(FILE *to, size_t n, size_t width)
{
    fprintf(to, "%*s", n < width ? (int)(width - n) + 1 : 1, "");
}

static void print_row(FILE *to, const struct page *page)
{
    size_t n = 1;
    const char *charset = page_charset(page, &n);

    if (page->status > 0)
        fprintf(to, "%6d", page->status);
    else
        fputs("     -", to);
    fprintf(to, " %11lld %5zu %5zu ", (long long)page->size, page->link_count,
            page->new_link_count);
    pad(to, print_type(to, page), TYPE_WIDTH);
    print_plain(to, charset != NULL ? charset : "-", n);
    pad(to, n, ENCODING_WIDTH);
    print_plain(to, page->url, strlen(page->url));
    print_next(to, page);
    if (page->rc < 0) {
        fputs(": ", to);
        print_outcome(to, page);
    }
    fputc('\n', to);
}

int report_table(FILE *to, const struct crawler *crawler)
{
    size_t count = crawler->page_count;
    struct page **sorted = malloc((count + 1) * sizeof *sorted);

    if (sorted == NULL)
        return -ENOMEM;
    if (count > 0)
        memcpy(sorted, crawler->pages, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_urls);
    fprintf(to, "%6s %11s %5s %5s %-*s %-*s %s\n", "status", "size", "links", "new",
            TYPE_WIDTH, "type", ENCODING_WIDTH, "encoding", "URL");
    for (size_t i = 0; i < count; i++)
        if (sorted[i]->done)
            print_row(to, sorted[i]);
    fputc('\n', to);
    free(sorted);
    return 0;
}

/* ---- what is broken, and the totals ------------------------------------------------ */

static void print_referrers(FILE *to, const struct page *page, int depth)
{
    size_t known = page_known_referrers(page), listed = 0;

    for (; listed < known && listed < LISTED_REFERRERS; listed++) {
        const struct page *referrer = page->referrers[listed];
        bool redirects = referrer->next == page;
        fprintf(to, "%*s%s %s\n", 4 * depth, "",
                redirects ? "redirected from" : "linked from", referrer->url);
        if (redirects && depth < LISTED_DEPTH)
            print_referrers(to, referrer, depth + 1);
    }
    if (page->referrer_count > listed)
        fprintf(to, "%*sand %zu more\n", 4 * depth, "", page->referrer_count - listed);
}

static void print_broken(FILE *to, const struct crawler *crawler)
{
    for (size_t i = 0; i < crawler->page_count; i++) {
        const struct page *page = crawler->pages[i];
        if (!page_broken(page))
            continue;
        print_plain(to, page->url, strlen(page->url));
        fputs("\n    ", to);
        print_outcome(to, page);
        fputc('\n', to);
        print_referrers(to, page, 1);
    }
}

static void print_amount(FILE *to, size_t n, const char *one, const char *many)
{
    fprintf(to, "%zu %s", n, n == 1 ? one : many);
}

static void print_totals(FILE *to, const struct crawler *crawler)
{
    const struct crawler_totals *totals = &crawler->totals;
    double seconds = (double)totals->duration_ns / 1e9;

    print_amount(to, totals->done, "URL: ", "URLs: ");
    print_amount(to, totals->html, "page, ", "pages, ");
    print_amount(to, totals->files, "other file, ", "other files, ");
    print_amount(to, totals->redirects, "redirect, ", "redirects, ");
    fprintf(to, "%zu broken\n", totals->broken);
    print_amount(to, totals->links, "link, ", "links, ");
    if (totals->excluded > 0)
        print_amount(to, totals->excluded, "excluded URL, ", "excluded URLs, ");
    print_amount(to, totals->external, "URL of another site, not visited\n",
                 "URLs of other sites, not visited\n");
    fprintf(to, "%.1f MB in %.2f s, %.0f URLs/s\n", (double)totals->bytes / 1e6, seconds,
            seconds > 0 ? (double)totals->done / seconds : 0.0);
}

void report_text(FILE *to, const struct crawler *crawler, bool quiet)
{
    print_broken(to, crawler);
    if (quiet)
        return;
    if (crawler->totals.broken > 0)
        fputc('\n', to);
    print_totals(to, crawler);
}
