/*
 * text_checks.h - check links to a text on a page: "#:~:text=...".
 *
 * Without its text directive, such a link leads to a page or to an element of a page, and
 * is checked like any other link. In addition, the crawler searches the page for the
 * text. If the link is found after the page was searched, the page is fetched again. A
 * missing text is reported on a separate target, whose URL contains the directive.
 *
 * Saved and shared crawls do not check such texts, because they do not save the texts of
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
    size_t kept_bytes; /* total size of the stored page texts */
};

/* Return the directive after ":~:" in a reference, or NULL if it has no "text=". */
const char *text_checks_directive(const char *reference);

/* Add a link on the page `from` that leads to a text on `page`. Fails like
   verdicts_settle(). */
int text_checks_add(struct text_checks *checks, const struct target *from,
                    const struct link *link, struct target *page, const char *directive);

/* True if links need the text of the page, which is not stored yet. The caller then calls
   search_want_text(). */
bool text_checks_want(const struct text_checks *checks, const struct target *page);

/* Check all links to texts on the page. Call this after the page was searched. `text` is
   the whole text of the page, or NULL if no link needs it. The function takes ownership
   of `text`. Fails like verdicts_settle(). */
int text_checks_take(struct text_checks *checks, const struct target *page, char *text);

/* If a link needs the text of the page, but the page was searched without storing it,
   enqueue the page again. Call this before the verdict of the page is settled. */
void text_checks_refetch(struct text_checks *checks, struct target *page);

/* If a page redirects, check the links to its texts on the page at the end of the
   redirect chain instead. Returns 0, or fails like verdicts_settle(). */
int text_checks_redirect(struct text_checks *checks, struct target *page);

/* Free the members. The struct may be zeroed. */
void text_checks_finish(struct text_checks *checks);

#endif
