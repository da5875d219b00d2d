/*
 * change.c - a list of changes to files that a watch has found.
 */
#include "change.h"

#include <string.h>

void coil__change_free(struct coil__change *change)
{
    if (change == NULL)
        return;
    coil__free(change->path);
    coil__free(change->old_path);
    coil__free(change);
}

struct coil__change *coil__changes_first(const struct coil__list *changes)
{
    return coil__list_empty(changes)
               ? NULL
               : COIL__CONTAINER(changes->next, struct coil__change, link);
}

static bool is_repeated(const struct coil__list *changes, enum coil_change_kind kind,
                        const char *path)
{
    const struct coil__change *last;

    if (coil__list_empty(changes))
        return false;
    last = COIL__CONTAINER(changes->prev, const struct coil__change, link);
    return last->kind == kind && !last->is_open && strcmp(last->path, path) == 0;
}

int coil__changes_add(struct coil__list *changes, enum coil_change_kind kind, char *path,
                      bool is_directory, struct coil__change **out)
{
    struct coil__change *change;

    if (path == NULL)
        return coil__failed(-ENOMEM);
    if (is_repeated(changes, kind, path)) {
        coil__free(path);
        return 0;
    }
    change = coil__alloc_zeroed(sizeof *change);
    if (change == NULL) {
        coil__free(path);
        return coil__failed(-ENOMEM);
    }
    change->kind = kind;
    change->is_directory = is_directory;
    change->path = path;
    coil__list_push(changes, &change->link);
    if (out != NULL)
        *out = change;
    return 0;
}

struct coil__change *coil__changes_find_open(const struct coil__list *changes,
                                             uint32_t cookie)
{
    COIL__LIST_EACH (link, changes) {
        struct coil__change *change = COIL__CONTAINER(link, struct coil__change, link);

        if (change->is_open && change->cookie == cookie)
            return change;
    }
    return NULL;
}

const char *coil_change_name(enum coil_change_kind kind)
{
    static const char *const names[] = {
        [COIL_CREATED] = "created",       [COIL_MODIFIED] = "modified",
        [COIL_ATTRIBUTES] = "attributes", [COIL_DELETED] = "deleted",
        [COIL_MOVED] = "moved",           [COIL_OVERFLOW] = "overflow"};

    return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}
