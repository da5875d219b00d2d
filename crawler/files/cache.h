/*
 * cache.h - a file of external targets that were OK recently. (--cache, --max-age)
 *
 *     rc = cache_open("cache.jsonl", time(NULL), max_age_ns, &cache, &message);
 *     if (!cache_has(cache, url))
 *         ... fetch it; if it is OK: cache_add(cache, url, time(NULL)) ...
 *     rc = cache_write(cache, &message);
 *     cache_destroy(cache);
 *
 * The file has a line {"type":"cache","schema":1}, followed by a line
 * {"target":URL,"time":SECONDS} for each target. cache_write() writes a new file and
 * renames it over the old file, so the file is always complete. If two processes write at
 * the same time, the new entries of one of them are lost.
 */
#ifndef CRAWLER_CACHE_H
#define CRAWLER_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct cache;

/*
 * Read the cache. A missing file counts as an empty cache. Entries that are older than
 * max_age_ns at the time now_s (seconds since 1970), and entries from the future, are
 * ignored. The caller passes *out to cache_destroy().
 *
 * If the file is not a cache, the function fails with -EINVAL and leaves the file
 * unchanged. *message is set as in json_lines_read(). Blocks.
 */
int cache_open(const char *path, int64_t now_s, int64_t max_age_ns, struct cache **out,
               char **message);

/* NULL is allowed. */
void cache_destroy(struct cache *cache);

/*
 * Check, before the crawl, that the cache can be written. Returns 0, or the error that
 * cache_write() would return.
 */
int cache_check(const struct cache *cache, char **message);

/* True if the cache contains the target, which was therefore OK recently. Fragments are
 * not cached. */
bool cache_has(const struct cache *cache, const char *target);

/*
 * Add a target that was OK at the time now_s. URLs with passwords are ignored. Returns 0
 * or -ENOMEM.
 */
int cache_add(struct cache *cache, const char *target, int64_t now_s);

/* Remove a target that is no longer OK. */
void cache_drop(struct cache *cache, const char *target);

/*
 * Write the file if the cache has changed. On failure, return a negative errno and set
 * *message. Blocks.
 */
int cache_write(struct cache *cache, char **message);

#endif
