/*
 * text_checks.h - check links to a text on a page: "#:~:text=...".
 *
 * The crawler checks such a link like any other link, as if it had no text directive. In
 * addition, it searches the linked page for the text. If the link is found after the page
 * was searched, the page is fetched again. If the text is missing, a separate target
 * whose URL contains the directive gets the verdict.
 *
 * Saved and shared crawls do not perform these checks, because they do not save the texts
 * of pages.
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

/*
 * Check a link on the page `from` to a text on `page`, now or when the text is received.
 * Fails like verdicts_settle().
 */
int text_checks_add(struct text_checks *checks, const struct target *from,
                    const struct link *link, struct target *page, const char *directive);

/*
 * True if a link needs the text of the page, which is not stored. In that case, the
 * caller must call search_want_text().
 */
bool text_checks_want(const struct text_checks *checks, const struct target *page);

/*
 * Check all links to texts on the page. Call this after the page was searched. `text` is
 * the whole text of the page, and is now owned by `checks`. If it is NULL, do nothing.
 * Fails like verdicts_settle().
 */
int text_checks_take(struct text_checks *checks, const struct target *page, char *text);

/*
 * Enqueue the page again if a link needs its text, but the page was searched without
 * collecting the text. Call this before the verdict of the page is settled.
 */
void text_checks_refetch(struct text_checks *checks, struct target *page);

/*
 * Called for a page that redirects: check the links to its texts on the last page of the
 * redirect chain instead. Returns 0, or fails like verdicts_settle().
 */
int text_checks_redirect(struct text_checks *checks, struct target *page);

/* Free the members. A zeroed struct is accepted. */
void text_checks_finish(struct text_checks *checks);

#endif
