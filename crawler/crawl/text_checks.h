/*
 * text_checks.h - links to a text of a page: "#:~:text=...".
 *
 * Such a link is a link to the page, or to an element of it, like any other. Besides, the text is looked
 * for once the page is there. A page whose text nobody wanted when it came is fetched again, once. A text
 * that is missing is a finding of its own: a target with the directive in its fragment.
 *
 * A crawl that is kept in a file or shared looks for no texts, since it keeps none.
 */
#ifndef CRAWLER_TEXT_CHECKS_H
#define CRAWLER_TEXT_CHECKS_H

#include "../page/link/links.h"
#include "../base/table.h"
#include "enqueue.h"

struct text_page;

struct text_checks {
    struct enqueuer *enqueuer;
    bool is_off;        /* the crawl is saved or shared */
    struct table pages; /* of struct text_page, by URL */
    struct text_page **all;
    size_t count, capacity;
    size_t kept_bytes; /* of their texts */
};

/* The directive in a reference, behind ":~:"; NULL if it has none that asks for a text. */
const char *text_checks_directive(const char *reference);

/* A link of `from` leads to a text of the page. 0, or as verdicts_settle(). */
int text_checks_add(struct text_checks *checks, const struct target *from,
                    const struct link *link, struct target *page, const char *directive);

/* True if a text of the page is wanted: search_want_text(). */
bool text_checks_want(const struct text_checks *checks, const struct target *page);

/* The page was searched to its end: look for all texts in it. `text` is taken over; NULL if it was not
   asked for. 0, or as verdicts_settle(). */
int text_checks_take(struct text_checks *checks, const struct target *page, char *text);

/* The page is about to get its verdict: if its text is wanted only now, it is fetched again. */
void text_checks_ask_again(struct text_checks *checks, struct target *page);

/* The page redirects to page->next: so do its texts. -ENOMEM. */
int text_checks_redirect(struct text_checks *checks, struct target *page);

/* Zeroes are accepted. */
void text_checks_finish(struct text_checks *checks);

#endif
