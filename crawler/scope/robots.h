/*
 * robots.h - decide what a site's robots.txt allows a crawler to fetch. (RFC 9309)
 *
 *     robots = robots_parse(text, n, "coil-crawl");
 *     if (!robots_allows(robots, "/a?b", &line))
 *         ...    // line 12 of robots.txt forbids it
 *     robots_destroy(robots);
 *
 * The caller fetches robots.txt, follows its redirects and decides how long to cache it.
 * The functions do not use coil. docs/design/robots.md compares the parser with another
 * implementation.
 */
#ifndef CRAWLER_ROBOTS_H
#define CRAWLER_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The maximum number of bytes of a robots.txt that are parsed. A line that continues
 * beyond this limit is dropped. To detect such a line, the parser needs at least one byte
 * more. (RFC 9309, 2.5)
 */
#define ROBOTS_BYTES (500 * 1024)

struct robots;

/*
 * Parse the rules for the crawler with this product token. Any text is accepted, because
 * invalid lines are skipped. The text is not needed afterwards. The caller passes the
 * result to robots_destroy(). Returns NULL if memory runs out.
 */
struct robots *robots_parse(const char *text, size_t n, const char *product);

/*
 * Return the rules that apply if robots.txt could not be fetched. If `status` is 500 or
 * more, or 0 because no answer arrived, they forbid everything. Otherwise they allow
 * everything. (2.3.1.3, 2.3.1.4) Returns NULL if memory runs out.
 */
struct robots *robots_for_status(int status);

void robots_destroy(struct robots *robots);

/*
 * Return 1 if "/path?query" of a URL may be fetched, 0 if not, or -ENOMEM. *line is set
 * to the line of the rule that matched, counted from 1, or to 0 if none did. `line` may
 * be NULL. In the worst case, each rule scans the path once.
 */
int robots_allows(const struct robots *robots, const char *path_and_query,
                  unsigned *line);

/* Return the Crawl-delay (an extension), limited to an hour, or -1 if it is missing. */
int64_t robots_delay_ns(const struct robots *robots);

/* Return the URL in a Sitemap line, as written, or NULL after the last one. `index`
 * begins at 0. (2.2.4) */
const char *robots_sitemap(const struct robots *robots, size_t index);

/* Return the line and column of a Sitemap's URL, counted from 1. */
void robots_sitemap_place(const struct robots *robots, size_t index, uint32_t *line,
                          uint32_t *column);

#endif
