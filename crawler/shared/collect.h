/*
 * collect.h - write the results of a shared crawl to a folder (coil-crawl collect).
 *
 *     struct collecting collecting = {.options = options};
 *     rc = coil_run(collect, &collecting, NULL);
 *     ... collecting.complaint ...
 *
 * The folder has the same format as a crawl saved by one process: docs/design/state.md.
 * Afterwards, `coil-crawl resume` fetches missing pages and writes the reports. See also
 * docs/design/many-machines.md.
 */
#ifndef CRAWLER_COLLECT_H
#define CRAWLER_COLLECT_H

#include "../options/options.h"
#include "lease.h"

struct collecting {
    const struct options *options;
    /* number of results written to the folder by this run */
    size_t count;
    struct lease_progress progress; /* the progress of the crawl */
    /* error message, which the caller frees, or NULL */
    char *complaint;
};

/*
 * Collect results until the crawl is over and all of its results are in the folder.
 * Finally, delete the crawl's data in Redis. This is a task function whose argument is a
 * struct collecting. If the folder already contains some of the results, collect()
 * continues after them.
 *
 * Fails with -EEXIST if the folder contains another crawl, with -ECANCELED, or like
 * connection_open(), leases_join(), store_create(), store_open() or collector_add().
 * After an error, the results collected so far remain in the folder.
 */
COIL_SUSPENDS int collect(void *arg);

#endif
