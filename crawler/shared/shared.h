/*
 * shared.h - the layer above the frontier in a worker of a shared crawl. It leases URLs
 * of hosts, lets the frontier schedule them, and returns their results to Redis.
 *
 *     shared_init(&shared, &options);
 *     frontier_init(&frontier, &(struct frontier_options){..., .above = &shared.above});
 *     coil_group_spawn(&group, shared_run, &shared, NULL, NULL);
 *     ...
 *     while ((rc = frontier_take(&frontier, class, &job)) == 0) {      // in each worker
 *         if (shared_may_ask(&shared, job.target)) {
 *             ... fetch ...
 *             shared_bring(&shared, job.target, bytes, n);
 *         }
 *         frontier_done(&frontier, &job);
 *     }
 *
 * docs/design/many-machines.md
 */
#ifndef CRAWLER_SHARED_H
#define CRAWLER_SHARED_H

#include "../frontier/frontier.h"
#include "lease.h"

#include <coil/event.h>
#include <coil/group.h>
#include <coil/lock.h>

/* Callbacks to the crawl. A negative result ends the crawl. None of them may suspend. */
struct shared_crawl {
    /*
     * An origin belongs to the site, because a start URL redirects there. Other origins
     * may follow. The origin may already be known.
     */
    int (*add_origin)(void *arg, const char *origin);
    /* No more origins follow, so the extent of the site is known. Called once. */
    int (*end_starts)(void *arg);
    /* Add a URL that was held until end_starts(), in the class to which it belongs. */
    int (*place)(void *arg, const struct lease_url *url);
    /* The target was leased, and is about to be queued. */
    void (*take)(void *arg, struct target *target);
    void *arg;
};

struct shared_options {
    struct leases *leases;
    struct frontier *frontier;
    struct targets *targets;
    const struct shared_crawl *crawl; /* NULL: no callbacks */
    bool has_external;                /* also lease URLs of other sites */
    unsigned most;                    /* URLs of a host in one lease */
    /*
     * The approximate number of URLs of each class that are leased at a time. More are
     * leased while workers are idle because the hosts need pauses.
     */
    unsigned ahead;
};

struct shared {
    struct frontier_above above;
    struct shared_options options;
    struct redis_words links;  /* URLs that were found, and not sent to Redis yet */
    struct shared_work *works; /* leased targets that are in the frontier */
    size_t work_count, work_capacity;
    unsigned at_work[FRONTIER_CLASSES];
    struct held *first_held; /* the list of leases */
    unsigned held_count;
    unsigned sending; /* tasks that complete URLs, or wait until they may */
    int64_t origins;  /* number of the site's origins that were passed to add_origin() */
    bool knows_site;  /* end_starts() was called */
    coil_event has_room;
    coil_lock completing;
    coil_group group;
    unsigned lives; /* redis_lives() when its restarts were last handled */
    int failure; /* a negative errno that ends the crawl; nothing is completed after it */
};

void shared_init(struct shared *shared, const struct shared_options *options);

/* No task may be in shared_run() any more. Call this before frontier_finish(). */
void shared_finish(struct shared *shared);

/*
 * A task's function. Targets that were added to the frontier before it begins are the
 * start URLs. It runs until the crawl is over for all processes, and then closes the
 * frontier. If it is cancelled, it releases its leases. Otherwise it fails as
 * leases_acquire().
 */
COIL_SUSPENDS int shared_run(void *arg);

/*
 * The target seems to lead out of the site. It is held in Redis until all start URLs are
 * complete. Its state is TARGET_HELD.
 */
void shared_hold(struct shared *shared, struct target *target);

/* A start URL redirects to this URL: its origin belongs to the site in all processes. */
void shared_add_origin(struct shared *shared, const char *url);

/* True if a target that the frontier has returned has a lease that is still valid. */
bool shared_may_ask(const struct shared *shared, const struct target *target);

/*
 * True if processes have ended repeatedly while they fetched the target. Report an error
 * then, and do not fetch the target.
 */
bool shared_has_given_up(const struct shared *shared, const struct target *target);

/* Store the result of a target. Call this before frontier_done(). Fails with -ENOMEM. */
int shared_bring(struct shared *shared, const struct target *target, const void *bytes,
                 size_t n);

/*
 * Store the sitemaps that the robots.txt of a host names. Targets of the host must be in
 * the frontier. If the sitemaps do not reach Redis, robots.txt is fetched again.
 */
void shared_bring_sitemaps(struct shared *shared, struct host *host, const void *bytes,
                           size_t n);

#endif
