/*
 * trap.h - URLs that would never end, told by what they look like.
 *
 *     if (trap_repeats(url) || trap_session(&traps, url, is_known, arg) ||
 *         trap_calendar(page, url, now_s)) ...
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

/* Zeroes are none. */
struct traps {
    struct trap_session *sessions; /* URLs without the session id that they had */
    size_t session_count, session_capacity;
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
 * True if a link of the page to that URL is a step of a calendar that may be endless. The
 * URL is skipped unless another link leads to it. A pure function; now_s is a time(2).
 */
bool trap_calendar(const char *page_url, const char *url, int64_t now_s);

#endif
