/*
 * coil_copy.c - copies a file, or all files in a directory, WORKERS at a time.
 *
 *     coil_copy FROM TO
 */
#include <coil.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define WORKERS 16
#define FOLDER_MAX (PATH_MAX - NAME_MAX - 2) /* length of a folder's path */

struct tree {
    const char *from, *to;
    coil_directory *directory;
    coil_lock lock;
};

/* Store the name of the next file in `name`. Returns 0 if there are no more files. */
static int take_name(struct tree *tree, char *name)
{
    coil_directory_entry entry;
    int rc = coil_lock_acquire(&tree->lock);

    if (rc < 0)
        return rc;
    rc = coil_directory_next(tree->directory, &entry);
    if (rc > 0)
        strcpy(name, entry.name);
    coil_lock_release(&tree->lock);
    return rc;
}

/* Like Go's program, without parsing a format. main() has checked the lengths. */
static void join_path(char *path, const char *folder, const char *name)
{
    strcpy(stpcpy(stpcpy(path, folder), "/"), name);
}

static int work(void *arg)
{
    struct tree *tree = arg;
    char name[NAME_MAX + 1], from[PATH_MAX], to[PATH_MAX];
    int rc;

    while ((rc = take_name(tree, name)) > 0) {
        join_path(from, tree->from, name);
        join_path(to, tree->to, name);
        rc = coil_copy_file(from, to, NULL);
        if (rc < 0)
            return rc;
    }
    return rc;
}

static int copy_tree(struct tree *tree)
{
    coil_group g;
    int rc = coil_mkdir(tree->to, 0777);

    if (rc == 0)
        rc = coil_directory_open(tree->from, &tree->directory);
    if (rc < 0)
        return rc;
    coil_group_enter(&g);
    for (int i = 0; i < WORKERS && rc == 0; i++)
        rc = coil_group_spawn(&g, work, tree, NULL, NULL);
    rc = coil_group_exit(&g, rc);
    coil_directory_destroy(tree->directory);
    return rc;
}

static int copy(void *arg)
{
    char **argv = arg;
    struct tree tree = {.from = argv[1], .to = argv[2], .lock = COIL_LOCK_INIT};
    struct statx st;
    int rc = coil_stat(tree.from, 0, &st);

    if (rc < 0)
        return rc;
    return S_ISDIR(st.stx_mode) ? copy_tree(&tree)
                                : coil_copy_file(tree.from, tree.to, NULL);
}

int main(int argc, char **argv)
{
    int rc;

    if (argc != 3 || strlen(argv[1]) > FOLDER_MAX || strlen(argv[2]) > FOLDER_MAX)
        return 2;
    rc = coil_run(copy, argv, NULL);
    if (rc < 0)
        fprintf(stderr, "coil_copy: %s\n", strerror(-rc));
    return rc < 0;
}
