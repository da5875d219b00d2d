/*
 * trap.h - recognise traps: sites that generate an unlimited number of URLs.
 *
 *     if (trap_repeats(url) || trap_session(&traps, url, is_known, arg) ||
 *         trap_calendar(page, url, now_s)) ...
 *
 * The URLs must be results of url_resolve(). docs/design/checker.md explains the rules.
 * The functions do not use coil.
 */
#ifndef CRAWLER_TRAP_H
#define CRAWLER_TRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How often a segment, or a pair of segments, must occur in a row to make a path a trap.
 */
#define TRAP_REPEATS 4

/* Initialize with zeroes. */
struct traps {
    struct trap_session *sessions; /* hashes of URLs that had a session id */
    size_t session_count, session_capacity;
};

void traps_finish(struct traps *traps);

/* True if a path segment, or a pair of segments, occurs TRAP_REPEATS times in a row. */
bool trap_repeats(const char *url);

/*
 * Remove session ids, such as ";jsessionid=x", "?PHPSESSID=x" and "/(S(x))/", from a URL.
 * The caller frees *out, which is NULL if the URL does not contain a session id. Fails
 * with -ENOMEM.
 */
int trap_without_session(const char *url, char **out);

/*
 * True if the URL has a session id, and is_known() is true for the same URL without the
 * id, or the same URL with another id was passed to this function before. Repeated calls
 * for a URL return the same result as long as is_known() does. Returns false if memory
 * runs out.
 */
bool trap_session(struct traps *traps, const char *url,
                  bool (*is_known)(const char *url, void *arg), void *arg);

/*
 * True if the link from the page to `url` is a step in a calendar that may be endless.
 * The crawler skips a URL if all links to it are such steps. `now_s` is the current
 * time(2). The result depends only on the arguments.
 */
bool trap_calendar(const char *page_url, const char *url, int64_t now_s);

#endif
