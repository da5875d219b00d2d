/*
 * collect.h - write the results of a shared crawl to a folder (coil-crawl collect).
 *
 *     struct collecting collecting = {.options = options};
 *     rc = coil_run(collect, &collecting, NULL);
 *     ... collecting.complaint ...
 *
 * The folder has the same format as a crawl that one process has saved:
 * docs/design/state.md. `coil-crawl resume` then fetches any missing pages and writes the
 * reports. See also docs/design/many-machines.md.
 */
#ifndef CRAWLER_COLLECT_H
#define CRAWLER_COLLECT_H

#include "../options/options.h"
#include "lease.h"

struct collecting {
    const struct options *options;
    /* number of results that this run has written to the folder */
    size_t count;
    struct lease_progress progress; /* the progress of the crawl */
    /* an error message, which the caller frees, or NULL */
    char *complaint;
};

/*
 * Collect results until the crawl is over and the folder contains all results. Then
 * delete the crawl's data in Redis. This is a task function, and `arg` is a struct
 * collecting. If the folder already has some results of the crawl, collect() continues
 * from there.
 *
 * If the task is cancelled, collect() fails with -ECANCELED, and the results that were
 * collected remain in the folder. Fails with -EEXIST if the folder contains another
 * crawl. Otherwise fails like connection_open(), leases_join(), store_create(),
 * store_open() or collector_add().
 */
COIL_SUSPENDS int collect(void *arg);

#endif
