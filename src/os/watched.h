/*
 * watched.h (internal) - the files and folders of a watch, keyed by the kernel's numbers
 * for them.
 */
#ifndef COIL_OS_WATCHED_H
#define COIL_OS_WATCHED_H

#include "../base/base.h"

/* A name that a listing has reported, and for which a notice may still arrive. */
struct coil__seen {
    struct coil__seen *next;
    char name[];
};

struct coil__watched {
    struct coil__watched *next; /* next in the bucket */
    struct coil__list scan;     /* link in the watch's list of folders to list */
    struct coil__seen *seen;
    int number;
    bool is_root;  /* given to coil_watch_add() */
    bool is_tree;  /* inner folders are watched too */
    bool quiet;    /* the next listing does not report the entries */
    bool unlisted; /* must be listed, possibly again under a new path */
    /* an inner folder whose name is recorded in `seen` could not be watched */
    bool has_unwatched;
    bool was_begun; /* a listing failed after it had recorded names */
    char *path;
};

struct coil__watched_table {
    struct coil__watched **buckets;
    size_t bucket_count, count;
};

/* Return the entry, or NULL. */
struct coil__watched *coil__watched_find(const struct coil__watched_table *table,
                                         int number);

/* Add an entry with a copy of the path. Returns NULL if there is no memory. */
struct coil__watched *coil__watched_insert(struct coil__watched_table *table, int number,
                                           const char *path);

/* Remove the entry and free it. */
void coil__watched_remove(struct coil__watched_table *table,
                          struct coil__watched *watched);

/* Call visit() for each entry, which it may remove. Stops at a negative result, and
   returns it. */
int coil__watched_each(struct coil__watched_table *table,
                       int (*visit)(struct coil__watched *watched, void *arg), void *arg);

/* True if `path` is `folder` itself, or inside it. */
bool coil__path_is_inside(const char *path, const char *folder);

/*
 * Return "folder/name", or only the folder if the name is empty, in memory from
 * coil__alloc(). Returns NULL if there is no memory.
 */
char *coil__path_join(const char *folder, const char *name);

/* Record a name that a listing has reported. Returns false if there is no memory. */
bool coil__watched_note(struct coil__watched *watched, const char *name);

/* Forget a name. Returns true if the name was recorded. */
bool coil__watched_forget(struct coil__watched *watched, const char *name);

bool coil__watched_has(const struct coil__watched *watched, const char *name);

void coil__watched_forget_all(struct coil__watched *watched);

#endif
