/*
 * option_output.c - check the files that a run will write.
 *
 * Two outputs must not be the same file, because the later one would destroy the other.
 *
 * ./coil-crawl.toml may come from a checkout whose author the user does not trust. So its
 * outputs must be below its folder, after following symbolic links, and must not be in
 * .git, where a checkout cannot create files.
 */
#include "option_row.h"

#include "../base/array.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
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

/* ---- a found configuration file ---------------------------------------------------- */

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

/* ---- distinct outputs -------------------------------------------------------------- */

struct output {
    const char *option;
    char *path, *real_path; /* as the user wrote it, and without symbolic links */
};

struct outputs {
    struct output *all;
    size_t count, capacity;
};

/* Return the path of a file that may not exist yet, in the form of realpath(3). */
static char *real_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *real = realpath(path, NULL), *folder, *whole;

    if (real != NULL)
        return real;
    folder = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    real = folder != NULL ? realpath(folder, NULL) : NULL;
    free(folder);
    if (real == NULL)
        return strdup(path); /* the folder does not exist, so opening the file fails */
    if (asprintf(&whole, "%s/%s", real, slash != NULL ? slash + 1 : path) < 0)
        whole = NULL;
    free(real);
    return whole;
}

/* Devices and pipes may be written by several options. */
static bool is_special(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

static int add_output(struct outputs *outputs, const char *option, const char *path,
                      const char *ending)
{
    struct output *output;
    char *whole;

    if (outputs->count == outputs->capacity &&
        array_grow(&outputs->all, &outputs->capacity, sizeof *outputs->all) < 0)
        return -ENOMEM;
    if (asprintf(&whole, "%s%s", path, ending) < 0)
        return -ENOMEM;
    if (is_special(whole)) {
        free(whole);
        return 0;
    }
    output = &outputs->all[outputs->count++];
    *output = (struct output){option, whole, real_path(whole)};
    return output->real_path != NULL ? 0 : -ENOMEM;
}

/* Add the file of a saved crawl, which the user named, or whose folder the user named. */
static int add_saved_crawl(struct outputs *outputs, const char *path)
{
    int rc = add_output(outputs, "state", path, "");

    return rc == 0 ? add_output(outputs, "state", path, "/crawl.db") : rc;
}

static int add_outputs(struct outputs *outputs, const struct options *options)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < options->formats.count; i++) {
        const char *file = strchr(options->formats.at[i], ':') + 1;

        if (strcmp(file, "-") != 0)
            rc = add_output(outputs, "format", file, "");
    }
    if (rc == 0 && options->warc != NULL)
        rc = add_output(outputs, "warc", options->warc, "");
    if (rc == 0 && options->warc != NULL)
        rc = add_output(outputs, "warc", options->warc, ".cdxj");
    if (rc == 0 && options->cache != NULL)
        rc = add_output(outputs, "cache", options->cache, "");
    if (rc == 0 && options->state != NULL)
        rc = add_saved_crawl(outputs, options->state);
    if (rc == 0 && options->later_state != NULL)
        rc = add_saved_crawl(outputs, options->later_state);
    return rc;
}

/* Two saved crawls may be the same: diff only reads them. */
static bool are_same(const struct output *one, const struct output *other)
{
    return strcmp(one->real_path, other->real_path) == 0 &&
           (strcmp(one->option, "state") != 0 || strcmp(other->option, "state") != 0);
}

static int complain_of_same(const struct outputs *outputs, FILE *complaints)
{
    for (size_t i = 0; i < outputs->count; i++)
        for (size_t k = 0; k < i; k++)
            if (are_same(&outputs->all[i], &outputs->all[k])) {
                fprintf(complaints, "coil-crawl: --%s and --%s write the same file: %s\n",
                        outputs->all[k].option, outputs->all[i].option,
                        outputs->all[i].path);
                return -EINVAL;
            }
    return 0;
}

int options_check_outputs(const struct options *options, FILE *complaints)
{
    struct outputs outputs = {.count = 0};
    int rc = add_outputs(&outputs, options);

    if (rc == 0)
        rc = complain_of_same(&outputs, complaints);
    for (size_t i = 0; i < outputs.count; i++) {
        free(outputs.all[i].path);
        free(outputs.all[i].real_path);
    }
    free(outputs.all);
    return rc;
}
