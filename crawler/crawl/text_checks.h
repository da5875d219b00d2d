/*
 * text_checks.h - check links to a text on a page: "#:~:text=...".
 *
 * Like any other link, such a link leads to a page or to an element of a page. In
 * addition, the crawler searches the fetched page for the text. If the page was searched
 * before the link was found, it is fetched again. A missing text is a separate finding,
 * on a target with the directive in its fragment.
 *
 * Saved and shared crawls do not check texts, because they do not save the texts of
 * pages.
 */
#ifndef CRAWLER_TEXT_CHECKS_H
#define CRAWLER_TEXT_CHECKS_H

#include "../base/table.h"
#include "../page/link/links.h"
#include "enqueue.h"

struct text_page;

struct text_checks {
    struct enqueuer *enqueuer;
    bool is_off;        /* the crawl is saved or shared */
    struct table pages; /* maps URLs to struct text_page */
    struct text_page **all;
    size_t count, capacity;
    size_t kept_bytes; /* total size of the stored texts */
};

/* Return the directive after ":~:" in a reference, or NULL if it contains no text. */
const char *text_checks_directive(const char *reference);

/* Add a link on the page `from` that leads to a text on `page`. Fails like
   verdicts_settle(). */
int text_checks_add(struct text_checks *checks, const struct target *from,
                    const struct link *link, struct target *page, const char *directive);

/* True if the text of the page is needed: search_want_text(). */
bool text_checks_want(const struct text_checks *checks, const struct target *page);

/* Search `text`, the text of the page, for all linked texts. Call this after the page was
   searched. The function takes ownership of `text`, which is NULL if no link needs it.
   Fails like verdicts_settle(). */
int text_checks_take(struct text_checks *checks, const struct target *page, char *text);

/* If a link needs the text of the page, but the page was searched without storing it,
   enqueue the page again. Call this before the verdict of the page is settled. */
void text_checks_refetch(struct text_checks *checks, struct target *page);

/* If a page redirects, search for its linked texts on the page at the end of the redirect
   chain. Returns 0 or -ENOMEM. */
int text_checks_redirect(struct text_checks *checks, struct target *page);

/* Free the members. The struct may be zeroed. */
void text_checks_finish(struct text_checks *checks);

#endif
