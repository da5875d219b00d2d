/*
 * saved_crawl.h - open the files of a saved crawl (`-d DIR`) for a command.
 *
 *     rc = saved_crawl_open(&kept, COMMAND_RESUME, DIR, &message);    // or saved_crawl_begin()
 *     ... options_restore() with saved_crawl_setup() ...
 *     crawler_take_saved(&crawler, &saved);
 *     rc = coil_run(crawler_run, &crawler, NULL);
 *     rc = saved_crawl_close(&kept, crawler.result.is_finished, &message);
 */
#ifndef CRAWLER_SAVED_CRAWL_H
#define CRAWLER_SAVED_CRAWL_H

#include "../options/options.h"
#include "recheck.h"
#include "state.h"

/* A struct of zeroes has no files open. */
struct saved_crawl {
    const char *folder;
    enum options_command command;
    struct store *store; /* the pages to replay; owned by `state`, if it is not NULL */
    struct state *state; /* writes new pages; NULL if the command only reads */
    struct recheck *recheck; /* the earlier crawl that is checked again; or NULL */
    struct cold *cold;       /* stores targets in the folder: for crawler_init() */
    int64_t interval_ns;     /* --state-interval */
    char *notice;            /* describes damage that was repaired; or NULL */
};

/* Create the files of a new crawl with these options. Fails like store_create(). */
int saved_crawl_begin(struct saved_crawl *saved, const struct options *options,
                      char **message);

/*
 * Open an existing crawl, to resume it, to report it, or to recheck it. Fails as
 * store_open(). Also fails with -EINVAL for a recheck of a crawl that is not finished.
 */
int saved_crawl_open(struct saved_crawl *saved, enum options_command command,
                     const char *folder, int64_t interval_ns, char **message);

const struct store_setup *saved_crawl_setup(const struct saved_crawl *saved);

/*
 * Close the files. A recheck that is finished replaces the earlier crawl. Fails as
 * store_replace(). A struct of zeroes is accepted.
 */
int saved_crawl_close(struct saved_crawl *saved, bool is_finished, char **message);

#endif
