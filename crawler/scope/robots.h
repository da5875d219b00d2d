/*
 * robots.h - parse a robots.txt, and decide what it allows a crawler to fetch. (RFC 9309)
 *
 *     robots = robots_parse(text, n, "coil-crawl");
 *     if (!robots_allows(robots, "/a?b", &line))
 *         ...    // line 12 of robots.txt forbids it
 *     robots_destroy(robots);
 *
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
 * beyond this limit is dropped, so a longer text should be passed with at least one more
 * byte. (RFC 9309, 2.5)
 */
#define ROBOTS_BYTES (500 * 1024)

struct robots;

/*
 * Parse the rules for the crawler with this product token. Invalid lines are skipped. The
 * text is not needed afterwards. The caller must pass the result to robots_destroy().
 * Returns NULL if memory runs out.
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
 * Return 1 if the URL with this "/path?query" may be fetched, 0 if not, or -ENOMEM.
 * Stores the line number of the decisive rule in *line, or 0 if no rule matches. `line`
 * may be NULL. In the worst case, each rule scans the path once.
 */
int robots_allows(const struct robots *robots, const char *path_and_query,
                  unsigned *line);

/* Return the Crawl-delay (an extension), at most an hour, or -1 if there is none. */
int64_t robots_delay_ns(const struct robots *robots);

/*
 * Return the URL in the Sitemap line with this index, as written, or NULL after the last
 * one. Indices begin at 0. (2.2.4)
 */
const char *robots_sitemap(const struct robots *robots, size_t index);

/* Return the line and column of the URL in a Sitemap line, both numbered from 1. */
void robots_sitemap_place(const struct robots *robots, size_t index, uint32_t *line,
                          uint32_t *column);

#endif
