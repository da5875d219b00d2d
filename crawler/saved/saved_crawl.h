/*
 * saved_crawl.h - the files of a crawl that is kept, opened for what the command wants of them.
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

/* Zeroes are none. */
struct saved_crawl {
    const char *folder;
    enum options_command command;
    struct store *store;     /* what is replayed; the state's, if there is one */
    struct state *state;     /* where the crawl goes on */
    struct recheck *recheck; /* the crawl before it */
    struct cold *cold;       /* of its targets, in the folder; for crawler_init() */
    int64_t interval_ns;     /* --state-interval */
    char *notice; /* of damage that was repaired, for whoever prints it; or NULL */
};

/* A new crawl, as the options say. Fails as store_create(). */
int saved_crawl_begin(struct saved_crawl *saved, const struct options *options,
                      char **message);

/* One that is there: to go on with it, to tell it, or to do it again. Fails as store_open(), or with
   -EINVAL where it is not done, and so cannot be checked again. */
int saved_crawl_open(struct saved_crawl *saved, enum options_command command,
                     const char *folder, int64_t interval_ns, char **message);

const struct store_setup *saved_crawl_setup(const struct saved_crawl *saved);

/* A recheck that is done takes its place. 0, or as store_replace(). Zeroes are accepted. */
int saved_crawl_close(struct saved_crawl *saved, bool is_finished, char **message);

#endif
