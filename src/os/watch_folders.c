/*
 * watch_folders.c - watches and lists the folders of a watch.
 *
 * A new folder in a tree is first watched and then listed, so that no entry is missed.
 * But then the kernel may also send a notice about an entry that the listing has
 * reported. So the names in a listing are recorded until the kernel's queue is empty
 * (watched.h), and notices with these names are dropped.
 */
#include "watch_folders.h"

#include "../kernel/notices.h"

#include <coil/directory.h>
#include <coil/error.h>
#include <coil/watch.h>

#include <dirent.h>
#include <string.h>

static void unwatch(struct coil__folders *folders, struct coil__watched *folder)
{
    coil__notices_remove(folders->fd, folder->number);
    coil__watched_remove(&folders->table, folder);
}

struct subtree {
    struct coil__folders *folders;
    const char *path;
    const char *new_path;
};

static int unwatch_inside(struct coil__watched *folder, void *arg)
{
    const struct subtree *subtree = arg;

    if (!folder->is_root && coil__path_is_inside(folder->path, subtree->path))
        unwatch(subtree->folders, folder);
    return 0;
}

void coil__folders_unwatch(struct coil__folders *folders, const char *path)
{
    struct subtree subtree = {folders, path, NULL};

    coil__watched_each(&folders->table, unwatch_inside, &subtree);
}

void coil__folders_scan_later(struct coil__folders *folders, struct coil__watched *folder,
                              bool quiet)
{
    folder->quiet = quiet;
    folder->unlisted |= !folder->has_unwatched;
    if (coil__list_empty(&folder->scan))
        coil__list_push(&folders->to_scan, &folder->scan);
}

static int rename_inside(struct coil__watched *folder, void *arg)
{
    const struct subtree *subtree = arg;
    const char *rest;
    char *path;

    if (folder->is_root || !coil__path_is_inside(folder->path, subtree->path))
        return 0;
    rest = folder->path + strlen(subtree->path);
    path = coil__path_join(subtree->new_path, rest[0] == '/' ? rest + 1 : rest);
    if (path == NULL)
        return coil__failed(-ENOMEM);
    coil__free(folder->path);
    folder->path = path;
    if (folder->unlisted || folder->has_unwatched)
        coil__folders_scan_later(subtree->folders, folder, folder->quiet);
    return 0;
}

int coil__folders_rename(struct coil__folders *folders, const char *old_path,
                         const char *path)
{
    struct subtree subtree = {folders, old_path, path};

    return coil__watched_each(&folders->table, rename_inside, &subtree);
}

/*
 * True if the error means that the folder was removed, was replaced with another file, or
 * cannot be read (EACCES).
 */
static bool is_gone(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EACCES;
}

int coil__folders_watch(struct coil__folders *folders, const char *path, bool quiet)
{
    int number = coil__notices_add(folders->fd, path, true);
    struct coil__watched *folder;

    if (number < 0)
        return is_gone(errno) ? 1 : coil_fail(-errno, "cannot watch '%s'", path);
    if (coil__watched_find(&folders->table, number) != NULL)
        return 0;
    folder = coil__watched_insert(&folders->table, number, path);
    if (folder == NULL) {
        coil__notices_remove(folders->fd, number);
        return coil__failed(-ENOMEM);
    }
    folder->is_tree = true;
    coil__folders_scan_later(folders, folder, quiet);
    return 0;
}

static int report_entry(struct coil__folders *folders, struct coil__watched *folder,
                        const coil_directory_entry *entry)
{
    int rc;

    if (folder->was_begun && coil__watched_has(folder, entry->name))
        return 0;
    rc = coil__changes_add(&folders->changes, COIL_CREATED,
                           coil__path_join(folder->path, entry->name),
                           entry->type == DT_DIR, NULL);
    if (rc == 0 && !coil__watched_note(folder, entry->name))
        rc = coil__failed(-ENOMEM);
    return rc;
}

int coil__folders_watch_inner(struct coil__folders *folders, struct coil__watched *folder,
                              const char *name)
{
    char *path = coil__path_join(folder->path, name);
    int rc = path != NULL ? coil__folders_watch(folders, path, folder->quiet)
                          : coil__failed(-ENOMEM);

    coil__free(path);
    if (rc != 1)
        return rc;
    folder->has_unwatched = true;
    if (!coil__watched_has(folder, name) && !coil__watched_note(folder, name))
        return coil__failed(-ENOMEM);
    return 0;
}

static int take_entry(struct coil__folders *folders, struct coil__watched *folder,
                      const coil_directory_entry *entry)
{
    int rc = folder->quiet ? 0 : report_entry(folders, folder, entry);

    return rc == 0 && entry->type == DT_DIR
               ? coil__folders_watch_inner(folders, folder, entry->name)
               : rc;
}

/*
 * Handle an entry of a folder whose entries were all reported earlier: if the entry is an
 * inner folder that could not be watched then, watch it now.
 */
static int take_unwatched(struct coil__folders *folders, struct coil__watched *folder,
                          const coil_directory_entry *entry)
{
    return entry->type == DT_DIR && coil__watched_has(folder, entry->name)
               ? coil__folders_watch_inner(folders, folder, entry->name)
               : 0;
}

int coil__folders_scan(struct coil__folders *folders)
{
    struct coil__watched *folder =
        COIL__CONTAINER(folders->to_scan.next, struct coil__watched, scan);
    bool only_unwatched = !folder->unlisted && folder->has_unwatched;
    coil_directory_entry entry;
    coil_directory *directory;
    int rc = coil_directory_open(folder->path, &directory);

    if (rc == 0)
        folder->has_unwatched = false;
    while (rc == 0 && (rc = coil_directory_next(directory, &entry)) > 0)
        rc = only_unwatched ? take_unwatched(folders, folder, &entry)
                            : take_entry(folders, folder, &entry);
    coil_directory_destroy(directory);
    folder->was_begun = rc < 0;
    if (rc < 0 && only_unwatched)
        folder->has_unwatched = true;
    if (rc < 0 && !is_gone(-rc))
        return rc;
    folder->unlisted = rc < 0 && !only_unwatched;
    coil__list_remove(&folder->scan);
    return 0;
}
