/*
 * change.h (internal) - a list of changes to files that a watch has found, oldest first.
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
    uint32_t cookie; /* the rename's cookie */
    int64_t until;   /* time at which the wait for the second half ends */
    char *path, *old_path;
};

/* NULL is accepted. */
void coil__change_free(struct coil__change *change);

/*
 * Add a change, unless it is equal to the last one. Takes ownership of the path. A path
 * of NULL means that the caller ran out of memory for the path: the call fails with
 * -ENOMEM. If `out` is not NULL, stores the new change in *out. Returns 0 or -ENOMEM.
 */
int coil__changes_add(struct coil__list *changes, enum coil_change_kind kind, char *path,
                      bool is_directory, struct coil__change **out);

/* Return the oldest change, or NULL. */
struct coil__change *coil__changes_first(const struct coil__list *changes);

/*
 * Return the change for the first half of the rename with this cookie if the second half
 * is still awaited; otherwise return NULL.
 */
struct coil__change *coil__changes_find_open(const struct coil__list *changes,
                                             uint32_t cookie);

#endif
