/*
 * watched.c - the files and folders of a watch, in a hash table keyed by the kernel's
 * numbers for them.
 */
#include "watched.h"

#include <string.h>

#define FIRST_BUCKETS 16

static struct coil__watched **bucket_of(const struct coil__watched_table *table,
                                        int number)
{
    return &table->buckets[(size_t)number % table->bucket_count];
}

struct coil__watched *coil__watched_find(const struct coil__watched_table *table,
                                         int number)
{
    struct coil__watched *w = table->count > 0 ? *bucket_of(table, number) : NULL;

    while (w != NULL && w->number != number)
        w = w->next;
    return w;
}

static bool make_room(struct coil__watched_table *table)
{
    struct coil__watched_table larger = {NULL, table->bucket_count * 2, table->count};

    if (table->count < table->bucket_count)
        return true;
    if (larger.bucket_count == 0)
        larger.bucket_count = FIRST_BUCKETS;
    larger.buckets = coil__alloc_zeroed(larger.bucket_count * sizeof(void *));
    if (larger.buckets == NULL)
        return false;
    for (size_t i = 0; i < table->bucket_count; i++)
        for (struct coil__watched *w = table->buckets[i], *next; w != NULL; w = next) {
            struct coil__watched **bucket = bucket_of(&larger, w->number);

            next = w->next;
            w->next = *bucket;
            *bucket = w;
        }
    coil__free(table->buckets);
    *table = larger;
    return true;
}

struct coil__watched *coil__watched_insert(struct coil__watched_table *table, int number,
                                           const char *path)
{
    struct coil__watched *w = coil__alloc_zeroed(sizeof *w);
    struct coil__watched **bucket;

    if (w == NULL)
        return NULL;
    w->path = coil__path_join(path, "");
    if (w->path == NULL || !make_room(table)) {
        coil__free(w->path);
        coil__free(w);
        return NULL;
    }
    w->number = number;
    coil__list_init(&w->scan);
    bucket = bucket_of(table, number);
    w->next = *bucket;
    *bucket = w;
    table->count++;
    return w;
}

void coil__watched_remove(struct coil__watched_table *table,
                          struct coil__watched *watched)
{
    struct coil__watched **w = bucket_of(table, watched->number);

    while (*w != watched)
        w = &(*w)->next;
    *w = watched->next;
    coil__list_remove(&watched->scan);
    coil__watched_forget_all(watched);
    coil__free(watched->path);
    coil__free(watched);
    if (--table->count == 0) {
        coil__free(table->buckets);
        *table = (struct coil__watched_table){NULL, 0, 0};
    }
}

int coil__watched_each(struct coil__watched_table *table,
                       int (*visit)(struct coil__watched *watched, void *arg), void *arg)
{
    /* removing the last entry frees the buckets */
    for (size_t i = 0; i < table->bucket_count; i++)
        for (struct coil__watched *w = table->buckets[i], *next; w != NULL; w = next) {
            int rc;

            next = w->next;
            rc = visit(w, arg);
            if (rc < 0)
                return rc;
            if (table->count == 0)
                return 0;
        }
    return 0;
}

/* ---- paths ------------------------------------------------------------------------- */

bool coil__path_is_inside(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    return strncmp(path, folder, length) == 0 &&
           (path[length] == '\0' || path[length] == '/' ||
            (length > 0 && folder[length - 1] == '/'));
}

char *coil__path_join(const char *folder, const char *name)
{
    size_t length = strlen(folder), rest = strlen(name);
    bool needs_slash = rest > 0 && length > 0 && folder[length - 1] != '/';
    char *path = coil__alloc(length + needs_slash + rest + 1);

    if (path == NULL)
        return NULL;
    memcpy(path, folder, length);
    if (needs_slash)
        path[length] = '/';
    memcpy(path + length + needs_slash, name, rest + 1);
    return path;
}

/* ---- names that a listing has reported --------------------------------------------- */

bool coil__watched_note(struct coil__watched *watched, const char *name)
{
    size_t bytes = strlen(name) + 1;
    struct coil__seen *seen = coil__alloc(sizeof *seen + bytes);

    if (seen == NULL)
        return false;
    memcpy(seen->name, name, bytes);
    seen->next = watched->seen;
    watched->seen = seen;
    return true;
}

static struct coil__seen **find_seen(struct coil__watched *watched, const char *name)
{
    struct coil__seen **seen = &watched->seen;

    while (*seen != NULL && strcmp((*seen)->name, name) != 0)
        seen = &(*seen)->next;
    return seen;
}

bool coil__watched_has(const struct coil__watched *watched, const char *name)
{
    return *find_seen((struct coil__watched *)watched, name) != NULL;
}

bool coil__watched_forget(struct coil__watched *watched, const char *name)
{
    struct coil__seen **seen = find_seen(watched, name), *found = *seen;

    if (found == NULL)
        return false;
    *seen = found->next;
    coil__free(found);
    return true;
}

void coil__watched_forget_all(struct coil__watched *watched)
{
    for (struct coil__seen *seen = watched->seen, *next; seen != NULL; seen = next) {
        next = seen->next;
        coil__free(seen);
    }
    watched->seen = NULL;
}
