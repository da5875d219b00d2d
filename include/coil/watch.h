/*
 * coil/watch.h - watch files and folders for changes.
 *
 *     static int follow(void *folder)
 *     {
 *         COIL_AUTO(coil_watch) watch = NULL;
 *         coil_change change;
 *         int rc = coil_watch_create(&watch);
 *
 *         if (rc == 0)
 *             rc = coil_watch_add(watch, folder, COIL_WATCH_TREE);
 *         while (rc == 0 && (rc = coil_watch_next(watch, &change)) == 0)
 *             printf("%s %s\n", coil_change_name(change.kind), change.path);
 *         return rc;
 *     }
 *
 * A watch reports changes made by any process, in the order in which inotify(7) reports
 * them. In a tree, a watch also follows new folders, and reports files that were created
 * in a new folder before coil began to watch that folder. The two events of a rename
 * become one change with both paths. If the kernel's queue overflows, changes are lost.
 * The watch then reports COIL_OVERFLOW, and the caller must compare the files itself.
 *
 * On network and FUSE file systems, the kernel does not report changes that were made by
 * other machines. The kernel reports no changes in /proc and /sys. Symbolic links in a
 * tree are not followed.
 */
#ifndef COIL_WATCH_H
#define COIL_WATCH_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_watch coil_watch;

enum coil_change_kind {
    COIL_CREATED,    /* created, or moved here from a folder that is not watched */
    COIL_MODIFIED,   /* written or truncated, or closed after writing */
    COIL_ATTRIBUTES, /* the mode, owner, times or number of links changed */
    COIL_DELETED,    /* deleted, or moved to a folder that is not watched */
    COIL_MOVED,      /* moved from old_path to path */
    COIL_OVERFLOW    /* changes were lost; path is "" */
};

typedef struct coil_change {
    enum coil_change_kind kind;
    bool is_directory;
    /*
     * The path given to coil_watch_add(), followed by the path within that folder.
     * Borrowed until the next call on the watch.
     */
    const char *path;
    const char *old_path; /* set for COIL_MOVED, otherwise NULL */
} coil_change;

/* Whether the watch of a folder includes its subfolders. */
enum coil_watch_depth { COIL_WATCH_ONE, COIL_WATCH_TREE };

/*
 * Create an empty watch. The caller destroys *out. Fails with -EMFILE, -ENFILE or
 * -ENOMEM.
 */
COIL_API COIL_CHECKED int coil_watch_create(coil_watch **out);

/*
 * Watch a file, or a folder and its entries. Existing entries are not reported.
 *
 * Suspends while reading the folders of a tree. To follow a file that programs replace,
 * watch its folder. Adding a path a second time has no effect. Fails like
 * inotify_add_watch(2): -ENOENT, -EACCES, or -ENOSPC at the limit of watches
 * (/proc/sys/fs/inotify/max_user_watches). Also fails with -ENOMEM, -ECANCELED, or, while
 * another call on the watch is in progress, with -EBUSY. After a failure the path is not
 * watched.
 */
COIL_SUSPENDS COIL_CHECKED int coil_watch_add(coil_watch *watch, const char *path,
                                              enum coil_watch_depth depth);

/* Stop watching a path that was added. Fails with -ENOENT or -EBUSY. */
COIL_API int coil_watch_remove(coil_watch *watch, const char *path);

/*
 * Wait for the next change. (Rust: notify; Python: watchfiles.awatch)
 *
 * Identical consecutive changes are reported once. A file that is moved out of all
 * watched folders is reported as deleted after 10 ms. Returns 0. Fails with -ECANCELED
 * (no change is lost), -ENOMEM, -EBUSY while another call on the watch is in progress, or
 * -ENOSPC if a new folder cannot be watched. After a failure the call can be repeated.
 */
COIL_SUSPENDS COIL_CHECKED int coil_watch_next(coil_watch *watch, coil_change *out);

/* Return the name of a kind, in lower case: "created". Never NULL. */
COIL_API const char *coil_change_name(enum coil_change_kind kind);

/*
 * Close and free the watch; NULL is accepted. Aborts if a task is in a call on the watch.
 */
COIL_API void coil_watch_destroy(coil_watch *watch);

#ifdef __cplusplus
}
#endif

#endif
