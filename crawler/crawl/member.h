/*
 * member.h - one process of a shared crawl (--frontier, --crawl).
 *
 *     rc = member_open(&member, &crawler);         // after crawler_init()
 *     if (rc == 0)
 *         rc = crawler_run(&crawler);
 *     rc = member_close(&member, rc);              // always, in the same task
 *
 * The process leases URLs, fetches them, and sends their answers and links to Redis.
 * Later, the command `collect` reads these results, and determines the verdicts
 * (docs/design/many-machines.md).
 */
#ifndef CRAWLER_MEMBER_H
#define CRAWLER_MEMBER_H

#include "../saved/store.h"
#include "../shared/connection.h"
#include "../shared/shared.h"
#include "crawl.h"

struct member {
    struct crawler *crawler;
    struct connection connection;
    struct leases leases;
    struct shared_crawl callbacks;
    struct shared shared;
};

/* Connect to Redis, and create or join the crawl. Fails like connection_open() and
   leases_begin(). */
COIL_SUSPENDS int member_open(struct member *member, struct crawler *crawler);

/*
 * Disconnect, and return `rc`, the result of the crawl. If the connection failed, return
 * its error instead, and store the message in crawler->result.complaint.
 */
COIL_SUSPENDS int member_close(struct member *member, int rc);

/*
 * Lease URLs until the crawl is over. This is a task function whose argument is the
 * member. When it is called, the start URLs must be the only targets. Fails like
 * shared_run().
 */
COIL_SUSPENDS int member_lease(void *arg);

/* Send the result of a target to Redis. The links in `page` must contain URLs instead of
   numbers. Returns 0 or -ENOMEM. */
int member_bring(struct member *member, const struct target *target,
                 const struct store_page *page);

/*
 * Send the sitemaps listed in a host's robots.txt to Redis. `rules` is the target of the
 * robots.txt.
 */
int member_bring_sitemaps(struct member *member, struct host *host,
                          const struct target *rules, const struct store_page *page);

#endif
