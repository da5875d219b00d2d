/*
 * text_checks.h - links to a text of a page: "#:~:text=...".
 *
 * Such a link leads to the page, or to an element of it, like any other link. In
 * addition, the text is searched for once the page is fetched. If the page was
 * searched before the link was found, it is fetched again. A missing text is a separate
 * finding: a target with the directive in its fragment.
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
    struct table pages; /* of struct text_page, by URL */
    struct text_page **all;
    size_t count, capacity;
    size_t kept_bytes; /* bytes of the texts that are stored */
};

/* Return the directive after ":~:" in a reference, or NULL if it names no text. */
const char *text_checks_directive(const char *reference);

/* Add a link on the page `from` to a text of `page`. Fails like verdicts_settle(). */
int text_checks_add(struct text_checks *checks, const struct target *from,
                    const struct link *link, struct target *page, const char *directive);

/* True if the text of the page is needed: search_want_text(). */
bool text_checks_want(const struct text_checks *checks, const struct target *page);

/* Call after the page was searched: look for all linked texts in `text`, the text of the
   page. Takes ownership of it. NULL if it was not needed. Fails like verdicts_settle(). */
int text_checks_take(struct text_checks *checks, const struct target *page, char *text);

/* Call before the verdict of a page is settled. If a link needs the text of the page by
   now, enqueue the page again. */
void text_checks_refetch(struct text_checks *checks, struct target *page);

/* The page redirects to page->next: look for its texts there. Returns 0 or -ENOMEM. */
int text_checks_redirect(struct text_checks *checks, struct target *page);

/* Zeroes are accepted. */
void text_checks_finish(struct text_checks *checks);

#endif
