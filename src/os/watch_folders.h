/*
 * watch_folders.h (internal) - watches and lists the folders of a watch.
 */
#ifndef COIL_OS_WATCH_FOLDERS_H
#define COIL_OS_WATCH_FOLDERS_H

#include "change.h"
#include "watched.h"

struct coil__folders {
    struct coil__watched_table table;
    struct coil__list changes; /* oldest first; a listing adds to them */
    struct coil__list to_scan; /* coil__watched.scan */
    int fd;                    /* from coil__notices_open() */
};

/*
 * Watch a folder inside a tree, and list it later. Returns 1 if the folder no longer
 * exists, has been replaced by another file, or cannot be read (EACCES).
 */
int coil__folders_watch(struct coil__folders *folders, const char *path, bool quiet);

/*
 * Watch the folder `name` inside `folder`. If the inner folder is not found, `folder` or
 * a folder above may have been renamed, so the inner folder is watched when `folder` gets
 * its new path.
 */
int coil__folders_watch_inner(struct coil__folders *folders, struct coil__watched *folder,
                              const char *name);

/* Stop watching the folders inside `path`, except those given to coil_watch_add(). */
void coil__folders_unwatch(struct coil__folders *folders, const char *path);

/* Update the paths of the folders inside `old_path`, which was renamed. */
int coil__folders_rename(struct coil__folders *folders, const char *old_path,
                         const char *path);

/*
 * Schedule a listing of the folder. If `quiet` is true, the listing does not report the
 * entries.
 */
void coil__folders_scan_later(struct coil__folders *folders, struct coil__watched *folder,
                              bool quiet);

/*
 * List the next folder in the scan list. After a failure, the folder is listed again by
 * the next call, or when it gets a new path.
 */
int coil__folders_scan(struct coil__folders *folders);

#endif
