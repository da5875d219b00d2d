/*
 * robots.h - what a site's robots.txt allows one crawler to fetch. (RFC 9309)
 *
 *     robots = robots_parse(text, n, "coil-crawl");
 *     if (!robots_allows(robots, "/a?b", &line))
 *         ...                            // line 12 of robots.txt forbids it
 *     robots_destroy(robots);
 *
 * Fetching robots.txt, its redirects and how long it is kept are the caller's. Calls nothing
 * of coil. docs/design/robots.md compares it with another implementation.
 */
#ifndef CRAWLER_ROBOTS_H
#define CRAWLER_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So much of a robots.txt is looked at; a line that goes on beyond it is dropped, for which one
   byte more must be given. (RFC 9309, 2.5) */
#define ROBOTS_BYTES (500 * 1024)

struct robots;

/*
 * The rules for the crawler with this product token, of a robots.txt of `n` bytes. Any text
 * is accepted: lines that say nothing are skipped. Nothing given is kept. For
 * robots_destroy(); NULL without memory.
 */
struct robots *robots_parse(const char *text, size_t n, const char *product);

/*
 * The rules where there is no robots.txt to parse: 500 and more, and 0 for no answer, forbid
 * everything; any other status allows everything. (2.3.1.3, 2.3.1.4) NULL without memory.
 */
struct robots *robots_for_status(int status);

void robots_destroy(struct robots *robots);

/*
 * 1 if what a URL has behind its host, "/path?query", may be fetched, 0 if not, or -ENOMEM. *line
 * becomes the number of the line that decided, from 1, or 0 if none did; `line` may be NULL. At
 * worst the path is looked through once for each rule.
 */
int robots_allows(const struct robots *robots, const char *path_and_query,
                  unsigned *line);

/* Crawl-delay, an extension; -1 if there is none. At most an hour. */
int64_t robots_delay_ns(const struct robots *robots);

/* The index-th Sitemap, from 0, as written; NULL behind the last. (2.2.4) */
const char *robots_sitemap(const struct robots *robots, size_t index);

/* Where that stands, from 1. */
void robots_sitemap_place(const struct robots *robots, size_t index, uint32_t *line,
                          uint32_t *column);

#endif
