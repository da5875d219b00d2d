/* starts.c - see starts.h */
#include "starts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * If a start is a URL, create its target. For files and folders, enqueue_paths()
 * does this later.
 */
static int add_start(struct crawler *crawler, const char *url)
{
    bool is_new;
    struct target *target;

    if (strstr(url, "://") == NULL)
        return 0;
    target = targets_get(&crawler->targets, url, 0, &is_new);
    if (target == NULL)
        return -ENOMEM;
    target->is_wanted = true;
    return site_add(&crawler->enqueuer.site, url);
}

/* If a value of --sitemap is a URL, mark its target as a sitemap. */
static int mark_sitemap(struct crawler *crawler, const char *url)
{
    bool is_new;
    struct target *target = strstr(url, "://") != NULL
                                ? targets_get(&crawler->targets, url, 0, &is_new)
                                : NULL;

    if (target == NULL)
        return strstr(url, "://") != NULL ? -ENOMEM : 0;
    target->is_sitemap = true;
    return 0;
}

int starts_add(struct crawler *crawler)
{
    const struct options *options = crawler->options;
    int rc = 0;

    for (size_t i = 0; i < options->starts.count && rc == 0; i++)
        rc = add_start(crawler, options->starts.at[i]);
    for (size_t i = 0; i < options->sitemaps.count && rc == 0; i++)
        rc = mark_sitemap(crawler, options->sitemaps.at[i]);
    return rc;
}

/* ---- files and folders ------------------------------------------------------------- */

static bool is_named_as_sitemap(const struct options *options, const char *path)
{
    for (size_t i = 0; i < options->sitemaps.count; i++)
        if (strcmp(options->sitemaps.at[i], path) == 0)
            return true;
    return false;
}

static int enqueue_path(const char *path, int failure, void *arg)
{
    struct crawler *crawler = arg;
    char *url = local_url(path);
    struct target *target;
    bool is_new;
    int rc;

    if (url == NULL)
        return -ENOMEM;
    target = targets_get(&crawler->targets, url, 0, &is_new);
    free(url);
    if (target == NULL)
        return -ENOMEM;
    if (!is_new)
        return 0;
    target->is_start = true;
    target->is_sitemap = is_named_as_sitemap(crawler->options, path);
    rc = verdicts_want(&crawler->verdicts, target);
    if (rc == 0 && failure == 0)
        return enqueue_file(&crawler->enqueuer, target);
    target->kind = TARGET_FILE;
    target_set_state(target, TARGET_LEFT_OUT);
    return rc < 0 ? rc
                  : verdicts_settle(&crawler->verdicts, target,
                                    (struct judgement){VERDICT_ERROR, REASON_UNREADABLE},
                                    strerror(-failure));
}

/* Enqueue a file that was found in a folder. */
static int enqueue_found(const char *path, int failure, void *arg)
{
    const struct crawler *crawler = arg;

    if (crawler->options->no_css && local_is_sheet(local_content_type(path)))
        return 0;
    return enqueue_path(path, failure, arg);
}

static int enqueue_path_or_folder(struct crawler *crawler, const char *path)
{
    struct stat info;

    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return local_walk(path, enqueue_found, crawler);
    return enqueue_path(path, 0, crawler);
}

static bool is_pipe(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISFIFO(info.st_mode);
}

/*
 * Return the file or folder that determines the root: the only one that the user named,
 * or the working directory if there are several or it is a pipe. Sitemaps only count if
 * there is nothing else, because "--sitemap public/sitemap.xml public" checks one folder.
 */
static const char *find_root(const struct options *options)
{
    const char *path = NULL, *sitemap = NULL;
    size_t path_count = 0, sitemap_count = 0;

    for (size_t i = 0; i < options->starts.count; i++) {
        const char *start = options->starts.at[i];

        if (strstr(start, "://") != NULL)
            continue;
        if (is_named_as_sitemap(options, start)) {
            sitemap = start;
            sitemap_count++;
        } else {
            path = start;
            path_count++;
        }
    }
    if (path_count == 0) {
        path = sitemap;
        path_count = sitemap_count;
    }
    return path_count == 1 && !is_pipe(path) ? path : ".";
}

/* Enqueue the files and folders that the user named. */
static int enqueue_paths(struct crawler *crawler)
{
    const struct text_list *starts = &crawler->options->starts;
    int rc = 0;

    for (size_t i = 0; i < starts->count && rc == 0; i++) {
        if (strstr(starts->at[i], "://") != NULL)
            continue;
        if (crawler->local.root_url == NULL)
            rc = local_init(&crawler->local, crawler->options,
                            find_root(crawler->options));
        if (rc == 0)
            rc = enqueue_path_or_folder(crawler, starts->at[i]);
    }
    return rc;
}

int starts_enqueue(struct crawler *crawler)
{
    size_t count = crawler->targets.count;
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++)
        rc = enqueue_start(&crawler->enqueuer, targets_at(&crawler->targets, i));
    return rc == 0 ? enqueue_paths(crawler) : rc;
}
