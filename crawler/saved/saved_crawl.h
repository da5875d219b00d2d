/*
 * saved_crawl.h - the files of a crawl that is kept, opened for what the command wants of them.
 *
 *     rc = kept_open(&kept, COMMAND_RESUME, DIR, &message);    // or kept_begin()
 *     ... options_restore() with kept_setup() ...
 *     kept_give(&kept, &crawler);
 *     rc = coil_run(crawler_run, &crawler, NULL);
 *     rc = kept_close(&kept, crawler.is_finished, &message);
 */
#ifndef CRAWLER_SAVED_CRAWL_H
#define CRAWLER_SAVED_CRAWL_H

#include "../crawl/crawl.h"
#include "recheck.h"

/* Zeroes are none. */
struct kept {
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
int kept_begin(struct kept *kept, const struct options *options, char **message);

/* One that is there: to go on with it, to tell it, or to do it again. Fails as store_open(), or with
   -EINVAL where it is not done, and so cannot be checked again. */
int kept_open(struct kept *kept, enum options_command command, const char *folder,
              int64_t interval_ns, char **message);

const struct store_setup *kept_setup(const struct kept *kept);

/* After crawler_init(). */
void kept_give(const struct kept *kept, struct crawler *crawler);

/* A recheck that is done takes its place. 0, or as store_replace(). Zeroes are accepted. */
int kept_close(struct kept *kept, bool is_finished, char **message);

#endif
