/*
 * page.h - what the crawler knows about one URL.
 */
#ifndef CRAWLER_PAGE_H
#define CRAWLER_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many of the pages that point at a page are remembered; all are counted. */
#define PAGE_REFERRERS 100

struct page {
    char *url;
    bool external; /* of another site: never fetched */
    bool excluded; /* the user does not want it fetched */
    bool done;     /* fetched, or known to be unfetchable */
    bool html;     /* a page proper, searched for links */
    bool limited;  /* failed, for it redirects once too often */
    bool reported; /* report_jsonl() has told of it */
    int status;    /* of HTTP; 0 if no response came */
    int rc;        /* negative errno, or 0 */
    char *error;   /* a sentence, where rc is negative */
    char *content_type;
    char *next_url;    /* where it redirects to */
    struct page *next; /* the same, unless that is not http or https */
    int64_t size;
    size_t link_count;     /* different URLs it points at */
    size_t new_link_count; /* of these, the ones it was the first to point at */
    unsigned depth;        /* links and redirects from the start, as it was found */
    unsigned tries;
    unsigned redirects_left;   /* that may follow, on the best way known to it */
    const struct page *origin; /* the start URL that leads here by redirects alone */

    struct page **referrers;
    size_t referrer_count; /* all of them */
    size_t referrer_capacity;
    const struct page *counted_for; /* the latest page that was found to point here */
};

/* Both return NULL or -ENOMEM where memory runs out; a page is for page_destroy(). */
struct page *page_create(const char *url, unsigned depth);
int page_add_referrer(struct page *page, struct page *referrer);

/* NULL is accepted. */
void page_destroy(struct page *page);

/* It is done with rc and a sentence, formatted as by printf(3). */
void page_fail(struct page *page, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Its failure is taken back. */
void page_forgive(struct page *page);

/* The charset in its content type: where it is and how long; NULL if there is none. */
const char *page_charset(const struct page *page, size_t *n);

/* How many of its referrers are remembered. */
size_t page_known_referrers(const struct page *page);

/* True if it was fetched, or ought to have been, and there is nothing good there. */
bool page_broken(const struct page *page);

/* True if it is fetched, was fetched well, and is no redirect. */
bool page_ok(const struct page *page);

#endif
