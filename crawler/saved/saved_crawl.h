/*
 * saved_crawl.h - open the files of a saved crawl (`-d DIR`) for a command.
 *
 *     rc = saved_crawl_open(&saved, COMMAND_RESUME, DIR, &message);
 *     // or, for a new crawl, saved_crawl_begin()
 *     ... options_restore() with saved_crawl_setup() ...
 *     crawler_take_saved(&crawler, &saved);
 *     rc = coil_run(crawler_run, &crawler, NULL);
 *     rc = saved_crawl_close(&saved, crawler.result.is_finished, &message);
 */
#ifndef CRAWLER_SAVED_CRAWL_H
#define CRAWLER_SAVED_CRAWL_H

#include "../options/options.h"
#include "recheck.h"
#include "state.h"

/* The open files of a saved crawl. All members are zero if no files are open. */
struct saved_crawl {
    const char *folder;
    enum options_command command;
    /* pages to replay; owned by `state`, if that is not NULL */
    struct store *store;
    struct state *state;     /* writes new pages; NULL if the command only reads */
    struct recheck *recheck; /* the earlier crawl of a recheck, or NULL */
    struct cold *cold;       /* storage for targets, in a file in the folder */
    int64_t interval_ns;     /* --state-interval */
    char *notice;            /* message about damage that was repaired, or NULL */
};

/*
 * Create the folder of a new crawl, if it does not exist. Other files of the crawl, for
 * example reports, can then be created in it. Returns 0, or a negative errno and a
 * message, which the caller frees.
 */
int saved_crawl_make_folder(const char *folder, char **message);

/* Create the files of a new crawl with these options. Fails like store_create(). */
int saved_crawl_begin(struct saved_crawl *saved, const struct options *options,
                      char **message);

/*
 * Open an existing crawl to resume, report or recheck it. Fails like store_open(), or
 * with -EINVAL if the crawl is to be rechecked but is not finished.
 */
int saved_crawl_open(struct saved_crawl *saved, enum options_command command,
                     const char *folder, int64_t interval_ns, char **message);

const struct store_setup *saved_crawl_setup(const struct saved_crawl *saved);

/*
 * Close the files. If a recheck is finished, it replaces the earlier crawl. Fails like
 * store_replace(). A zeroed struct is accepted.
 */
int saved_crawl_close(struct saved_crawl *saved, bool is_finished, char **message);

#endif
