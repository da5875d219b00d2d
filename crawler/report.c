/*
 * report.c - the report for people.
 *
 * A link checker's user wants to know one thing first: which page do I have to edit? So
 * each broken URL is followed by the pages that point at it, and where one of those is
 * only a redirect, by the pages that point at that.
 */
#include "report.h"

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
            crawler->page_count - totals->external, totals->broken);
    fflush(to);
}

void report_clear_progress(FILE *to)
{
    fputs(CLEAR_LINE, to);
    fflush(to);
}

static void print_outcome(FILE *to, const struct page *page)
{
    if (page->error != NULL)
        fputs(page->error, to);
    else if (page->rc < 0)
        fputs(strerror(-page->rc), to);
    else
        fprintf(to, "%d", page->status);
}

void report_page(FILE *to, const struct page *page)
{
    print_outcome(to, page);
    fprintf(to, " %s", page->url);
    if (page->next_url != NULL)
        fprintf(to, " -> %s", page->next_url);
    else if (page->rc == 0)
        fprintf(to, " (%s, %lld bytes, %zu links)",
                page->content_type ? page->content_type : "no type",
                (long long)page->size, page->link_count);
    fputc('\n', to);
}

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
        fprintf(to, "%s\n    ", page->url);
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
