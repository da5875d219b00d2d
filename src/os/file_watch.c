/*
 * file_watch.c - watches files and folders for changes: see coil/watch.h.
 *
 *     kernel --- fill() ---> buffer --- handle() ---> changes --- coil_watch_next()
 *                                          |             ^
 *                                   folders to scan -- coil__folders_scan()
 *
 * A notice from the kernel contains the number of a watched folder and the name of an
 * entry in it. If the notice reports a new folder in a tree, the new folder is listed:
 * see watch_folders.c.
 *
 * The kernel reports a rename with two notices that have the same cookie, and usually
 * follow each other directly. The change for the first notice stays in the list, and
 * delays the changes after it, until the second notice arrives. If no second notice
 * arrives within PAIR_NS, the file was moved out of the watched folders.
 *
 * Invariants
 * 1. New folders are listed before the next notice is handled, so the folder to which a
 *    notice refers is always known.
 * 2. If handling a notice fails with -ENOMEM, it is handled again. coil__changes_add()
 *    drops a change that is equal to the last one, so the caller sees no duplicate.
 * 3. `busy` prevents other calls, so no folder is removed while a listing is suspended.
 */
#include "watch_folders.h"

#include "../base/fault.h"
#include "../kernel/notices.h"
#include "../task/budget.h"
#include "../task/task.h"

#include <coil/error.h>
#include <coil/loop.h>
#include <coil/scope.h>
#include <coil/stream.h>
#include <coil/watch.h>

#include <string.h>
#include <unistd.h>

#define PAIR_NS COIL_MSEC(10)

struct coil_watch {
    struct coil__folders folders;
    struct coil__change *given; /* the change that the caller received last */
    unsigned alive;             /* 0 in freed memory */
    bool busy;
    size_t position, filled;
    _Alignas(8) char buffer[4 * COIL__NOTICES_BYTES];
};

/* ---- notices ----------------------------------------------------------------------- */

/*
 * Stop waiting for the second half of a rename: the file was moved out of the watched
 * folders.
 */
static void end_rename(coil_watch *watch, struct coil__change *change)
{
    change->is_open = false;
    if (change->is_directory)
        coil__folders_unwatch(&watch->folders, change->path);
}

static int handle_moved_from(coil_watch *watch, struct coil__watched *folder,
                             const struct coil__notice *notice)
{
    struct coil__change *change = NULL;
    int rc;

    rc = coil__changes_add(&watch->folders.changes, COIL_DELETED,
                           coil__path_join(folder->path, notice->name),
                           notice->is_directory, &change);
    coil__watched_forget(folder, notice->name);
    if (change != NULL) {
        change->is_open = true;
        change->cookie = notice->cookie;
        change->until = coil_in(PAIR_NS);
    }
    return rc;
}

static int handle_created(coil_watch *watch, struct coil__watched *folder,
                          const struct coil__notice *notice)
{
    int rc;

    if (coil__watched_forget(folder, notice->name))
        return 0;
    rc = coil__changes_add(&watch->folders.changes, COIL_CREATED,
                           coil__path_join(folder->path, notice->name),
                           notice->is_directory, NULL);
    if (rc < 0 || !notice->is_directory || !folder->is_tree)
        return rc;
    folder->quiet = false;
    return coil__folders_watch_inner(&watch->folders, folder, notice->name);
}

/*
 * Called after a folder was moved into `into`. If `into` belongs to a tree, update the
 * paths of the moved folder and of the folders inside it, and watch the moved folder.
 * Otherwise stop watching these folders.
 */
static int move_folders(coil_watch *watch, const struct coil__watched *into,
                        const char *old_path, const char *path)
{
    int rc;

    if (!into->is_tree) {
        coil__folders_unwatch(&watch->folders, old_path);
        return 0;
    }
    rc = coil__folders_rename(&watch->folders, old_path, path);
    if (rc == 0)
        rc = coil__folders_watch(&watch->folders, path,
                                 false); /* no effect if already watched */
    return rc < 0 ? rc : 0;
}

static int handle_moved_to(coil_watch *watch, struct coil__watched *folder,
                           const struct coil__notice *notice)
{
    struct coil__change *change =
        coil__changes_find_open(&watch->folders.changes, notice->cookie);
    char *path;
    int rc = 0;

    if (change == NULL)
        return handle_created(watch, folder, notice);
    /* a listing of the folder has already reported the new name */
    if (coil__watched_forget(folder, notice->name)) {
        end_rename(watch, change);
        return 0;
    }
    path = coil__path_join(folder->path, notice->name);
    if (path == NULL)
        return coil__failed(-ENOMEM);
    if (change->is_directory)
        rc = move_folders(watch, folder, change->path, path);
    if (rc == -ENOMEM) {
        coil__free(path);
        return rc;
    }
    change->kind = COIL_MOVED;
    change->is_open = false;
    change->old_path = change->path;
    change->path = path;
    return rc;
}

/*
 * Called if a watched folder itself was deleted or renamed: if the folder was given to
 * coil_watch_add(), add a change.
 */
static int handle_gone(coil_watch *watch, struct coil__watched *folder)
{
    if (!folder->is_root)
        return 0;
    return coil__changes_add(&watch->folders.changes, COIL_DELETED,
                             coil__path_join(folder->path, ""), folder->is_tree, NULL);
}

static int scan_tree_later(struct coil__watched *folder, void *arg)
{
    folder->has_unwatched = false;
    if (folder->is_tree)
        coil__folders_scan_later(arg, folder, true);
    return 0;
}

static int handle_overflow(coil_watch *watch)
{
    int rc = coil__changes_add(&watch->folders.changes, COIL_OVERFLOW,
                               coil__path_join("", ""), false, NULL);

    return rc == 0 ? coil__watched_each(&watch->folders.table, scan_tree_later,
                                        &watch->folders)
                   : rc;
}

/*
 * Add a change for a notice that needs no special treatment. Ignore a notice about a
 * folder inside a tree that comes from the folder's own watch, because the watch of the
 * folder above reports the same change.
 */
static int handle_other(coil_watch *watch, const struct coil__watched *folder,
                        const struct coil__notice *notice, enum coil_change_kind kind)
{
    if (notice->name[0] == '\0' && !folder->is_root)
        return 0;
    return coil__changes_add(&watch->folders.changes, kind,
                             coil__path_join(folder->path, notice->name),
                             notice->is_directory, NULL);
}

static int handle(coil_watch *watch, const struct coil__notice *notice)
{
    struct coil__watched *folder =
        coil__watched_find(&watch->folders.table, notice->watch);

    if (notice->kind == COIL__NOTICE_OVERFLOW)
        return handle_overflow(watch);
    if (folder == NULL)
        return 0;
    switch (notice->kind) {
    case COIL__NOTICE_CREATED:
        return handle_created(watch, folder, notice);
    case COIL__NOTICE_MOVED_FROM:
        return handle_moved_from(watch, folder, notice);
    case COIL__NOTICE_MOVED_TO:
        return handle_moved_to(watch, folder, notice);
    case COIL__NOTICE_DELETED:
        coil__watched_forget(folder, notice->name);
        return handle_other(watch, folder, notice, COIL_DELETED);
    case COIL__NOTICE_MODIFIED:
        return handle_other(watch, folder, notice, COIL_MODIFIED);
    case COIL__NOTICE_ATTRIBUTES:
        return handle_other(watch, folder, notice, COIL_ATTRIBUTES);
    case COIL__NOTICE_GONE:
        return handle_gone(watch, folder);
    case COIL__NOTICE_IGNORED:
        coil__watched_remove(&watch->folders.table, folder);
        return 0;
    case COIL__NOTICE_OVERFLOW:
    case COIL__NOTICE_OTHER:
        break;
    }
    return 0;
}

static int handle_next(coil_watch *watch)
{
    size_t before = watch->position;
    struct coil__notice notice;
    int rc;

    coil__notices_take(watch->buffer, &watch->position, &notice);
    rc = handle(watch, &notice);
    if (rc == -ENOMEM)
        watch->position = before;
    return rc;
}

static int forget_names(struct coil__watched *folder, void *arg)
{
    (void)arg;
    if (!folder->unlisted && !folder->has_unwatched)
        coil__watched_forget_all(folder);
    return 0;
}

/*
 * Wait for notices. If the first change is the first half of a rename, wait at most until
 * its time is up.
 */
static int wait_for_notices(coil_watch *watch)
{
    struct coil__change *first = coil__changes_first(&watch->folders.changes);
    coil_scope scope;
    int rc;

    if (first == NULL)
        return coil_wait_fd(watch->folders.fd, COIL_READABLE);
    rc = coil_scope_enter(&scope, first->until);
    if (rc < 0)
        return rc;
    rc = coil_scope_exit(&scope, coil_wait_fd(watch->folders.fd, COIL_READABLE));
    return rc == -ETIMEDOUT ? 0 : rc;
}

static int fill(coil_watch *watch)
{
    ssize_t n = coil__call_fails(EIO, "read")
                    ? -1
                    : read(watch->folders.fd, watch->buffer, sizeof watch->buffer);
    int rc;

    if (n > 0) {
        watch->position = 0;
        watch->filled = (size_t)n;
        return 0;
    }
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return coil__failed(-errno);
    coil__watched_each(&watch->folders.table, forget_names, NULL);
    rc = wait_for_notices(watch);
    return rc < 0 ? rc : 0;
}

/* True if the first change is complete, so it can be given to the caller. */
static bool has_change(coil_watch *watch)
{
    struct coil__change *first = coil__changes_first(&watch->folders.changes);

    if (first != NULL && first->is_open && coil_now() >= first->until)
        end_rename(watch, first);
    return first != NULL && !first->is_open;
}

/*
 * Wait for a change. All notices in the buffer are handled first, so that equal changes
 * are merged.
 */
static int wait_for_change(coil_watch *watch)
{
    int rc = 0;

    while (rc == 0) {
        if (!coil__list_empty(&watch->folders.to_scan))
            rc = coil__folders_scan(&watch->folders);
        else if (watch->position < watch->filled)
            rc = handle_next(watch);
        else if (has_change(watch))
            break;
        else
            rc = fill(watch);
    }
    return rc;
}

/* ---- the interface ----------------------------------------------------------------- */

static void check(const coil_watch *watch, const char *caller)
{
    if (COIL__UNLIKELY(watch->alive == 0))
        coil__misuse_gone(caller);
}

int coil_watch_create(coil_watch **out)
{
    COIL__REQUIRE(out, "an output pointer");
    coil_watch *watch = coil__alloc_zeroed(sizeof *watch);

    *out = NULL;
    if (watch == NULL)
        return coil__failed(-ENOMEM);
    watch->folders.fd = coil__notices_open();
    if (watch->folders.fd < 0) {
        coil__free(watch);
        return coil__failed(-errno);
    }
    watch->alive = 1;
    coil__list_init(&watch->folders.changes);
    coil__list_init(&watch->folders.to_scan);
    *out = watch;
    return 0;
}

static int watch_root(coil_watch *watch, const char *path, enum coil_watch_depth depth)
{
    int number = coil__notices_add(watch->folders.fd, path, false);
    struct coil__watched *root;

    if (number < 0)
        return coil_fail(-errno, "cannot watch '%s'", path);
    root = coil__watched_find(&watch->folders.table, number);
    if (root == NULL)
        root = coil__watched_insert(&watch->folders.table, number, path);
    if (root == NULL) {
        coil__notices_remove(watch->folders.fd, number);
        return coil__failed(-ENOMEM);
    }
    root->is_root = true;
    if (depth == COIL_WATCH_TREE && !root->is_tree) {
        root->is_tree = true;
        coil__folders_scan_later(&watch->folders, root, true);
    }
    return 0;
}

int coil_watch_add(coil_watch *watch, const char *path, enum coil_watch_depth depth)
{
    COIL__REQUIRE(watch, "a watch");
    COIL__REQUIRE(path, "a path");
    int rc;

    check(watch, "coil_watch_add");
    coil__task_require("coil_watch_add");
    if (watch->busy)
        return coil__failed(-EBUSY);
    watch->busy = true;
    rc = watch_root(watch, path, depth);
    while (rc == 0 && !coil__list_empty(&watch->folders.to_scan))
        rc = coil__folders_scan(&watch->folders);
    watch->busy = false;
    if (rc < 0)
        coil_watch_remove(watch, path);
    return rc;
}

/*
 * If the folder was given to coil_watch_add() with this path, treat it like any other
 * folder inside a tree from now on. Returns -EEXIST.
 */
static int unmark_root(struct coil__watched *folder, void *arg)
{
    if (!folder->is_root || strcmp(folder->path, arg) != 0)
        return 0;
    folder->is_root = false;
    return -EEXIST;
}

int coil_watch_remove(coil_watch *watch, const char *path)
{
    COIL__REQUIRE(watch, "a watch");
    COIL__REQUIRE(path, "a path");

    check(watch, "coil_watch_remove");
    if (watch->busy)
        return coil__failed(-EBUSY);
    if (coil__watched_each(&watch->folders.table, unmark_root, (void *)path) == 0)
        return coil__failed(-ENOENT);
    coil__folders_unwatch(&watch->folders, path);
    return 0;
}

int coil_watch_next(coil_watch *watch, coil_change *out)
{
    COIL__REQUIRE(watch, "a watch");
    COIL__REQUIRE(out, "memory for a change");
    struct coil__change *change;
    int rc;

    check(watch, "coil_watch_next");
    if (watch->busy)
        return coil__failed(-EBUSY);
    rc = coil__task_spend("coil_watch_next");
    if (rc < 0)
        return rc;
    coil__change_free(watch->given);
    watch->given = NULL;
    watch->busy = true;
    rc = wait_for_change(watch);
    watch->busy = false;
    if (rc < 0)
        return rc;
    change = coil__changes_first(&watch->folders.changes);
    coil__list_remove(&change->link);
    watch->given = change;
    *out = (coil_change){.kind = change->kind,
                         .is_directory = change->is_directory,
                         .path = change->path,
                         .old_path = change->old_path};
    return 0;
}

static int remove_entry(struct coil__watched *folder, void *arg)
{
    coil__watched_remove(arg, folder);
    return 0;
}

void coil_watch_destroy(coil_watch *watch)
{
    struct coil__list *link;

    if (watch == NULL)
        return;
    check(watch, "coil_watch_destroy");
    if (watch->busy)
        coil__misuse("coil_watch_destroy: a task is still in a call on the watch");
    close(watch->folders.fd);
    coil__watched_each(&watch->folders.table, remove_entry, &watch->folders.table);
    while ((link = coil__list_pop(&watch->folders.changes)) != NULL)
        coil__change_free(COIL__CONTAINER(link, struct coil__change, link));
    coil__change_free(watch->given);
    watch->alive = 0;
    coil__free_object(watch);
}
