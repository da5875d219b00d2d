/*
 * option_output.c - restrict where an automatically found configuration file may write.
 *
 * ./coil-crawl.toml may come from a checkout whose author the user does not trust. So its
 * outputs must be below its folder, after following symbolic links, and must not be in
 * .git, where a checkout cannot create files.
 */
#include "option_row.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Suffixes of all files that may be written for an output: the output itself (""), the
 * index of an archive, and the files of a saved crawl.
 */
static const char *const endings[] = {"",
                                      ".cdxj",
                                      ".cdxj.new",
                                      "/crawl.db",
                                      "/crawl.db-wal",
                                      "/crawl.db-shm",
                                      "/crawl.db-journal"};

static bool has_component(const char *path, const char *name)
{
    size_t n = strlen(name);

    while (*path != '\0') {
        path += strspn(path, "/");
        if (strncasecmp(path, name, n) == 0 && (path[n] == '/' || path[n] == '\0'))
            return true;
        path += strcspn(path, "/");
    }
    return false;
}

/* True if a path is below a folder. Both arguments must be results of realpath(3). */
static bool is_below(const char *path, const char *folder)
{
    size_t n = strcmp(folder, "/") == 0 ? 0 : strlen(folder);

    return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0') &&
           !has_component(path + n, ".git");
}

/* True if a file with this name may be created in the folder. */
static bool may_create(const char *name)
{
    return name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
           strcasecmp(name, ".git") != 0;
}

/*
 * True if the file that is written or created at `path` is below `folder`. Modifies
 * `path`.
 */
static bool stays_below(char *path, const char *folder)
{
    char real[PATH_MAX];
    struct stat info;

    for (;;) {
        char *slash = strrchr(path, '/');

        if (realpath(path, real) != NULL)
            return is_below(real, folder);
        if (errno == ENOTDIR)
            return true; /* opening the file will fail, as its folder is missing */
        if (errno != ENOENT || lstat(path, &info) == 0)
            return false; /* for example a symbolic link to a missing file */
        if (!may_create(slash != NULL ? slash + 1 : path))
            return false;
        if (slash == NULL)
            return realpath(".", real) != NULL && is_below(real, folder);
        slash[slash == path] = '\0';
    }
}

/*
 * Return 1 if the output and all files written next to it are below the folder, 0 if not,
 * or -ENOMEM.
 */
static int all_stay_below(const char *path, const char *folder)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *whole;
        bool stays;

        if (asprintf(&whole, "%.*s%s", (int)n, path, endings[i]) < 0)
            return -ENOMEM;
        stays = stays_below(whole, folder);
        free(whole);
        if (!stays)
            return 0;
    }
    return 1;
}

int option_check_output(const struct option_source *source, const struct option_row *row,
                        const char *value)
{
    const char *path = value;
    char folder[PATH_MAX];
    int stays;

    if (!row->writes || !source->is_found)
        return 0;
    if (row->choices != NULL) { /* "text:FILE"; "text" alone writes to stdout */
        path = strchr(value, ':');
        if (path == NULL || strcmp(path, ":-") == 0)
            return 0;
        path++;
    }
    stays = realpath(".", folder) != NULL ? all_stay_below(path, folder) : 0;
    if (stays != 0)
        return stays < 0 ? stays : 0;
    return option_complain(source, row,
                           "\"%s\" is not below the folder of this file, which was not "
                           "named by --config",
                           path);
}
