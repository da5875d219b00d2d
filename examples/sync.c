/*
 * sync.c - keep a copy of a folder up to date:
 *
 *     sync FROM TO
 *
 * Until Ctrl-C, the program copies each file and folder that is created or modified in
 * FROM, and repeats deletions and renames. Files that exist at the start are not copied.
 */
#include <coil.h>

#include <stdio.h>
#include <string.h>

static char **folders; // FROM and TO

/* Return the path in TO that corresponds to a path in FROM. */
static const char *copy_of(const char *path, char *text, size_t size)
{
    snprintf(text, size, "%s%s", folders[1], path + strlen(folders[0]));
    return text;
}

static int repeat(const coil_change *change)
{
    char to[1024], old[1024];

    copy_of(change->path, to, sizeof to);
    switch (change->kind) {
    case COIL_CREATED:
        if (change->is_directory)
            return coil_mkdir(to, 0777);
        return (int)coil_copy_file(change->path, to, NULL);
    case COIL_MODIFIED:
        return (int)coil_copy_file(change->path, to, NULL);
    case COIL_DELETED:
        return change->is_directory ? coil_rmdir(to) : coil_unlink(to);
    case COIL_MOVED:
        return coil_rename(copy_of(change->old_path, old, sizeof old), to, 0);
    default:
        return 0;
    }
}

static int app(void *arg)
{
    COIL_AUTO(coil_watch) watch = NULL;
    coil_change change;
    int rc = coil_watch_create(&watch);

    folders = arg;
    if (rc == 0)
        rc = coil_watch_add(watch, folders[0], COIL_WATCH_TREE);
    if (rc == 0)
        printf("watching %s\n", folders[0]);
    fflush(stdout);
    while (rc == 0 && (rc = coil_watch_next(watch, &change)) == 0) {
        if (change.kind == COIL_OVERFLOW)
            return coil_fail(-EOVERFLOW, "changes were lost: copy the folder again");
        rc = repeat(&change);
        printf("%s %s: %s\n", coil_change_name(change.kind), change.path,
               rc < 0 ? strerror(-rc) : "done");
        fflush(stdout);
        if (rc != -ECANCELED)
            rc = 0; // the file may be gone already
    }
    return rc;
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return coil_run(app, argv + 1, NULL) < 0;
    fprintf(stderr, "usage: sync FROM TO\n");
    return 2;
}
