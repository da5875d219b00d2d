/*
 * collect.h - write the results of a shared crawl to a folder: coil-crawl collect.
 *
 *     struct collecting collecting = {.options = options};
 *     rc = coil_run(collect, &collecting, NULL);
 *     ... collecting.complaint ...
 *
 * The folder has the same format as a crawl saved by one process: docs/design/state.md.
 * `resume` then fetches any missing pages and writes the reports. See also
 * docs/design/many-machines.md.
 */
#ifndef CRAWLER_COLLECT_H
#define CRAWLER_COLLECT_H

#include "../options/options.h"
#include "lease.h"

struct collecting {
    const struct options *options;
    size_t count;                   /* results that this run has written to the folder */
    struct lease_progress progress; /* of the crawl */
    char *complaint;                /* a message; the caller frees it */
};

/*
 * A task's function; `arg` is the struct collecting. Collects results until the crawl is
 * over and the folder has all of them. The crawl's data in Redis is then deleted. If the
 * folder already has some results of the crawl, collect() continues there.
 *
 * Returns 0. If the task is cancelled, fails with -ECANCELED; results collected so far
 * stay in the folder. Fails with -EEXIST if the folder contains another crawl. Otherwise
 * fails like connection_open(), leases_join(), store_create(), store_open() or
 * collector_add().
 */
COIL_SUSPENDS int collect(void *arg);

#endif
