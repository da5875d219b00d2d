/*
 * change.h (internal) - the list of changes that a watch of files has found, oldest
 * first.
 */
#ifndef COIL_OS_CHANGE_H
#define COIL_OS_CHANGE_H

#include "../base/base.h"

#include <coil/watch.h>

struct coil__change {
    struct coil__list link; /* coil_watch.changes */
    enum coil_change_kind kind;
    bool is_directory;
    bool is_open;    /* first half of a rename; the second half may follow */
    uint32_t cookie; /* the cookie of that rename */
    int64_t until;   /* time at which the wait for the second half ends */
    char *path, *old_path;
};

/* NULL is accepted. */
void coil__change_free(struct coil__change *change);

/*
 * Add a change, unless it is equal to the last change. Takes ownership of the path. A
 * NULL path means that memory ran out. If `out` is not NULL, *out is set to the new
 * change. Returns 0 or -ENOMEM.
 */
int coil__changes_add(struct coil__list *changes, enum coil_change_kind kind, char *path,
                      bool is_directory, struct coil__change **out);

/* Return the oldest change, or NULL. */
struct coil__change *coil__changes_first(const struct coil__list *changes);

/*
 * Return the change for the first half of this rename, if the second half is still
 * awaited, or NULL.
 */
struct coil__change *coil__changes_find_open(const struct coil__list *changes,
                                             uint32_t cookie);

#endif
