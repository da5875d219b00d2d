/*
 * cache.h - a file of external targets that were OK recently. (--cache, --max-age)
 *
 *     rc = cache_open("cache.jsonl", time(NULL), max_age_ns, &cache, &message);
 *     if (!cache_has(cache, url))
 *         ... fetch it; if it is OK: cache_add(cache, url, time(NULL)) ...
 *     rc = cache_write(cache, &message);
 *     cache_destroy(cache);
 *
 * The file consists of a line {"type":"cache","schema":1}, and a line
 * {"target":URL,"time":SECONDS} for each target. cache_write() writes a new file and
 * renames it to the name of the old one, so the file is always complete. If two processes
 * write at the same time, the new entries of one of them are lost.
 */
#ifndef CRAWLER_CACHE_H
#define CRAWLER_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct cache;

/*
 * Read the cache. If the file does not exist or is empty, the cache is empty. Entries
 * from the future are ignored, and so are entries older than max_age_ns. `now_s` is the
 * current time(2). The caller must pass *out to cache_destroy().
 *
 * Fails with -EINVAL if the file is not a cache. Sets *message like json_lines_read().
 * Blocks the thread.
 */
int cache_open(const char *path, int64_t now_s, int64_t max_age_ns, struct cache **out,
               char **message);

/* NULL is allowed. */
void cache_destroy(struct cache *cache);

/*
 * Check whether the cache can be written. Call this before the crawl. Fails like
 * cache_write().
 */
int cache_check(const struct cache *cache, char **message);

/*
 * True if the cache contains the target, that is, if it was OK recently. Fragments are
 * not cached.
 */
bool cache_has(const struct cache *cache, const char *target);

/*
 * Add a target that was OK at the time now_s. URLs with passwords are ignored. Returns 0
 * or -ENOMEM.
 */
int cache_add(struct cache *cache, const char *target, int64_t now_s);

/* Remove a target that is no longer OK. */
void cache_drop(struct cache *cache, const char *target);

/*
 * Write the file if the cache has changed. Returns 0, or a negative errno with a
 * *message. Blocks the thread.
 */
int cache_write(struct cache *cache, char **message);

#endif
