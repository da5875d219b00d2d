/*
 * cache.c - see cache.h
 */
#include "cache.h"

#include "../base/arena.h"
#include "json_lines.h"
#include "../base/table.h"
#include "../url/url.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define DROPPED INT64_MIN /* marks an entry that cache_drop() removed */

struct entry {
    struct entry *next; /* the entry added after this one */
    const char *target;
    int64_t time_s;
};

struct cache {
    char *path;
    struct table table; /* maps targets to entries */
    struct arena arena;
    struct entry *first, **last;
    int64_t oldest_s, newest_s; /* entries outside this range are ignored */
    bool changed;
};

/* ---- reading ----------------------------------------------------------------------- */

static int add_entry(struct cache *cache, const char *target, int64_t time_s)
{
    struct entry *entry = table_get(&cache->table, target);

    if (entry != NULL) {
        entry->time_s = time_s;
        return 0;
    }
    entry = arena_alloc(&cache->arena, sizeof *entry);
    if (entry == NULL)
        return -ENOMEM;
    *entry = (struct entry){
        .target = arena_text(&cache->arena, target, strlen(target)),
        .time_s = time_s,
    };
    if (entry->target == NULL || table_add(&cache->table, entry->target, entry) < 0)
        return -ENOMEM;
    *cache->last = entry;
    cache->last = &entry->next;
    return 0;
}

static const char *read_entry(struct cache *cache, const json_t *object)
{
    const char *target = json_lines_string(object, "target");
    const json_t *time = json_object_get(object, "time");
    int64_t time_s = json_integer_value(time);

    if (target == NULL || !json_is_integer(time))
        return "not an entry of a cache";
    if (time_s < cache->oldest_s || time_s > cache->newest_s) {
        cache->changed = true;
        return NULL;
    }
    return add_entry(cache, target, time_s) < 0 ? json_lines_no_memory : NULL;
}

static const char *read_line(const json_t *object, size_t line, void *arg)
{
    const char *type = json_lines_string(object, "type");

    if (line > 1)
        return read_entry(arg, object);
    if (type == NULL || strcmp(type, "cache") != 0)
        return "not a cache written by coil-crawl";
    if (json_integer_value(json_object_get(object, "schema")) != 1)
        return "the schema of the cache is not 1";
    return NULL;
}

static struct cache *cache_create(const char *path)
{
    struct cache *cache = calloc(1, sizeof *cache);

    if (cache == NULL)
        return NULL;
    cache->last = &cache->first;
    /* If the path is a symbolic link, the file to which it points will be replaced. */
    cache->path = realpath(path, NULL);
    if (cache->path == NULL)
        cache->path = strdup(path);
    if (cache->path == NULL) {
        cache_destroy(cache);
        return NULL;
    }
    return cache;
}

static bool is_empty_or_missing(const char *path)
{
    struct stat st;

    return stat(path, &st) < 0 ? errno == ENOENT : S_ISREG(st.st_mode) && st.st_size == 0;
}

int cache_open(const char *path, int64_t now_s, int64_t max_age_ns, struct cache **out,
               char **message)
{
    struct cache *cache = cache_create(path);
    int rc = 0;

    *out = NULL;
    *message = NULL;
    if (cache == NULL)
        return -ENOMEM;
    cache->oldest_s = now_s - max_age_ns / 1000000000;
    cache->newest_s = now_s;
    cache->changed = is_empty_or_missing(path);
    if (!cache->changed)
        rc = json_lines_read(path, read_line, cache, message);
    if (rc < 0)
        cache_destroy(cache);
    else
        *out = cache;
    return rc;
}

void cache_destroy(struct cache *cache)
{
    if (cache == NULL)
        return;
    table_finish(&cache->table);
    arena_finish(&cache->arena);
    free(cache->path);
    free(cache);
}

bool cache_has(const struct cache *cache, const char *target)
{
    const struct entry *entry = table_get(&cache->table, target);

    return entry != NULL && entry->time_s != DROPPED;
}

int cache_add(struct cache *cache, const char *target, int64_t now_s)
{
    if (url_password(target).n > 0)
        return 0;
    cache->changed = true;
    return add_entry(cache, target, now_s);
}

void cache_drop(struct cache *cache, const char *target)
{
    struct entry *entry = table_get(&cache->table, target);

    if (entry == NULL)
        return;
    cache->changed = true;
    entry->time_s = DROPPED;
}

/* ---- writing ----------------------------------------------------------------------- */

static int put_object(FILE *file, json_t *object)
{
    int rc = object != NULL && json_dumpf(object, file, JSON_COMPACT) == 0 &&
                     fputc('\n', file) != EOF
                 ? 0
                 : -1;

    json_decref(object);
    return rc;
}

static int put_entries(const struct cache *cache, FILE *file)
{
    int rc = put_object(file, json_pack("{s:s, s:i}", "type", "cache", "schema", 1));

    for (const struct entry *entry = cache->first; entry != NULL && rc == 0;
         entry = entry->next)
        if (entry->time_s != DROPPED)
            rc = put_object(file, json_pack("{s:s, s:I}", "target", entry->target, "time",
                                            (json_int_t)entry->time_s));
    return rc;
}

/* Create the file that will replace the cache, with a random name. */
static int create_temporary(const char *path, char **name)
{
    uint64_t random;
    int fd;

    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
        random = (uint64_t)getpid();
    if (asprintf(name, "%s.%016llx", path, (unsigned long long)random) < 0) {
        *name = NULL;
        return -ENOMEM;
    }
    fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd >= 0 ? fd : -errno;
}

/*
 * Write all entries, and call fsync(2), without which the file might be empty if the
 * system crashes after the rename.
 */
static int write_entries(const struct cache *cache, int fd)
{
    FILE *file = fdopen(fd, "w");
    int rc = 0;

    if (file == NULL) {
        close(fd);
        return -ENOMEM;
    }
    errno = 0;
    if (put_entries(cache, file) < 0 || fflush(file) != 0 || fsync(fd) < 0)
        rc = errno > 0 ? -errno : -EIO;
    if (fclose(file) != 0 && rc == 0)
        rc = errno > 0 ? -errno : -EIO;
    return rc;
}

static int replace_file(const struct cache *cache)
{
    char *name = NULL;
    int fd = create_temporary(cache->path, &name), rc = fd;

    if (fd >= 0) {
        rc = write_entries(cache, fd);
        if (rc == 0 && rename(name, cache->path) < 0)
            rc = -errno;
        if (rc < 0)
            unlink(name);
    }
    free(name);
    return rc;
}

int cache_check(const struct cache *cache, char **message)
{
    char *name = NULL;
    int fd = create_temporary(cache->path, &name), rc = fd < 0 ? fd : 0;
    struct stat st;

    if (fd >= 0) {
        close(fd);
        unlink(name);
    }
    free(name);
    if (rc == 0 && stat(cache->path, &st) == 0 && !S_ISREG(st.st_mode))
        /* renaming would replace a device or a pipe, so accept only regular files */
        rc = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    *message = NULL;
    if (rc < 0 && asprintf(message, "%s: %s", cache->path, strerror(-rc)) < 0)
        *message = NULL;
    return rc;
}

int cache_write(struct cache *cache, char **message)
{
    int rc = cache->changed ? replace_file(cache) : 0;

    *message = NULL;
    if (rc == 0)
        cache->changed = false;
    else if (asprintf(message, "%s: %s", cache->path, strerror(-rc)) < 0)
        *message = NULL;
    return rc;
}
