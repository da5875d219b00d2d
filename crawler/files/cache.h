/*
 * cache.h - external targets that were well not long ago, kept in a file. (--cache, --max-age)
 *
 *     rc = cache_open("cache.jsonl", time(NULL), max_age_ns, &cache, &message);
 *     if (!cache_has(cache, url))
 *         ... ask for it; if it is well: cache_add(cache, url, time(NULL)) ...
 *     rc = cache_write(cache, &message);
 *     cache_destroy(cache);
 *
 * The file has a line {"type":"cache","schema":1} and then {"target":URL,"time":SECONDS} for
 * each. It is written whole beside itself and renamed. So it is always whole, and of two
 * processes that write at once one loses what the other found.
 */
#ifndef CRAWLER_CACHE_H
#define CRAWLER_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct cache;

/*
 * Read a cache; a file that is not there is an empty one. Entries that are older than
 * max_age_ns at now_s, in seconds since 1970, or from later than that, are forgotten. *out is
 * for cache_destroy(). A file that is no cache fails with -EINVAL; it is not written to.
 * *message as for json_lines_read(). Blocks.
 */
int cache_open(const char *path, int64_t now_s, int64_t max_age_ns, struct cache **out,
               char **message);

/* NULL is accepted. */
void cache_destroy(struct cache *cache);

/* Whether cache_write() will be able to write, so that this does not turn out after the
   crawl. 0, or as cache_write(). */
int cache_check(const struct cache *cache, char **message);

/* True if the target was well; whether it has some fragment is not kept. */
bool cache_has(const struct cache *cache, const char *target);

/* It was well at this time. A URL with a password is not kept. 0 or -ENOMEM. */
int cache_add(struct cache *cache, const char *target, int64_t now_s);

/* It is not well, whatever it was. */
void cache_drop(struct cache *cache, const char *target);

/* Write it, if anything has changed. Fails with a negative errno and *message. Blocks. */
int cache_write(struct cache *cache, char **message);

#endif
