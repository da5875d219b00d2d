/*
 * member.h - a crawler that takes part in a crawl which many share: --frontier, --crawl.
 *
 *     rc = member_open(&member, &crawler);         // after crawler_init()
 *     if (rc == 0)
 *         rc = crawler_run(&crawler);
 *     rc = member_close(&member, rc);              // in any case, in the same task
 *
 * It asks for what it leases, hands up what that links to, and brings the answers; what to think of them, `collect` finds
 * when it has all. So it judges nothing, and has no mentions. docs/design/many-machines.md
 */
#ifndef CRAWLER_MEMBER_H
#define CRAWLER_MEMBER_H

#include "../shared/connection.h"
#include "crawl.h"
#include "../shared/shared.h"
#include "../saved/store.h"

struct member {
    struct crawler *crawler;
    struct connection connection;
    struct leases leases;
    struct shared_crawl callbacks;
    struct shared shared;
};

/* Connect, and begin the crawl or learn of it. Fails as connection_open() and leases_begin(). */
COIL_SUSPENDS int member_open(struct member *member, struct crawler *crawler);

/* Disconnect. `rc` is what the crawl came to; returns that, or what the connection failed with, and crawler->complaint is
   why. */
COIL_SUSPENDS int member_close(struct member *member, int rc);

/* A task's body, `arg` being the member: lease hosts until the crawl is over. What was handed up before it are the
   starts. As shared_run(). */
COIL_SUSPENDS int member_lease(void *arg);

/* What came of a target. The links of its page have no numbers. 0 or -ENOMEM. */
int member_bring(struct member *member, const struct target *target,
                 const struct store_page *page);

/* The sitemaps that the robots.txt of a host names; `rules` is its target. */
int member_bring_sitemaps(struct member *member, struct host *host,
                          const struct target *rules, const struct store_page *page);

#endif
