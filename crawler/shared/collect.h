/*
 * collect.h - the answers of a crawl that many share, put into a folder: coil-crawl collect.
 *
 *     struct collecting collecting = {.options = options};
 *     rc = coil_run(collect, &collecting, NULL);
 *     ... collecting.complaint ...
 *
 * The folder is that of a crawl which was kept, as if one process had been at work (docs/design/state.md): `resume` asks for
 * what is missing, if anything is, and tells the reports. docs/design/many-machines.md
 */
#ifndef CRAWLER_COLLECT_H
#define CRAWLER_COLLECT_H

#include "../options/options.h"
#include "lease.h"

struct collecting {
    const struct options *options;
    size_t count;                   /* answers that this run has put there */
    struct lease_progress progress; /* of the crawl */
    char *complaint;                /* for free() */
};

/*
 * A task's body, `arg` being the struct collecting: until the crawl is over, and the folder has all of it; then Redis
 * forgets it. Goes on with a folder that has some. 0; or -ECANCELED, with which what has come until then
 * is kept; fails as connection_open(), leases_join(), store_create(), store_open() and
 * collector_add(), and with -EEXIST for a folder that has another crawl.
 */
COIL_SUSPENDS int collect(void *arg);

#endif
