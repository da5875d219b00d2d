/*
 * trap.h - URLs that would never end, told by what they look like.
 *
 *     if (trap_repeats(url) || trap_session(&traps, url, is_known, arg)) ...
 *
 *     struct trap_page page = {0};
 *     for (each target that a page links to, if nobody has linked to it before)
 *         if (trap_calendar(&traps, &page, target))
 *             ... skip it ...
 *     trap_page_end(&traps, &page, url_of_the_page);
 *
 * URLs are such as url_resolve() makes. docs/design/checker.md has the rules. Calls
 * nothing of coil.
 */
#ifndef CRAWLER_TRAP_H
#define CRAWLER_TRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A path segment, or two in turn, so often in a row is a trap. */
#define TRAP_REPEATS 4

/* So many pages with dates that bring nothing but dates, and new dates so many times. */
#define TRAP_CALENDAR_PAGES 200
#define TRAP_CALENDAR_DATES 12

/* Zeroes are none. */
struct traps {
    struct trap_session *sessions; /* URLs without the session id that they had */
    size_t session_count, session_capacity;
    struct trap_calendars *calendars; /* allocated with the first date: 448 KiB */
};

/* What a page has brought so far; zeroes: nothing. */
struct trap_page {
    bool news;  /* something that is not another date */
    bool dates; /* a new date */
};

void traps_finish(struct traps *traps);

/* True if the path has a segment, or two in turn, TRAP_REPEATS times in a row. */
bool trap_repeats(const char *url);

/*
 * The URL without session ids: ";jsessionid=x", "?PHPSESSID=x", "/(S(x))/", and others. *out is
 * the caller's, or NULL if there are none. Fails with -ENOMEM.
 */
int trap_without_session(const char *url, char **out);

/*
 * True if the URL has a session id, and the same without it, or with another one, is known
 * already: to is_known(), or because it was given here before. The same URL gets the same
 * answer again unless is_known() changes its mind. Without memory the answer is no.
 */
bool trap_session(struct traps *traps, const char *url,
                  bool (*is_known)(const char *url, void *arg), void *arg);

/*
 * True if a target, to which a page links for the first time, is but another date of an
 * endless calendar. Otherwise it counts as brought by the page.
 */
bool trap_calendar(struct traps *traps, struct trap_page *page, const char *url);

/* The page has no more links. */
void trap_page_end(struct traps *traps, const struct trap_page *page, const char *url);

#endif
