/*
 * shared.h - the layer above the frontier in a process of a shared crawl. It leases URLs
 * of hosts, passes them to the frontier, and sends their results to Redis.
 *
 *     shared_init(&shared, &options);
 *     frontier_init(&frontier, &(struct frontier_options){..., .above = &shared.above});
 *     coil_group_spawn(&group, shared_run, &shared, NULL, NULL);
 *     ...
 *     while ((rc = frontier_take(&frontier, class, &job)) == 0) {      // in each worker
 *         if (shared_may_fetch(&shared, job.target)) {
 *             ... fetch ...
 *             shared_bring(&shared, job.target, bytes, n);
 *         }
 *         frontier_done(&frontier, &job);
 *     }
 *
 * (docs/design/many-machines.md)
 */
#ifndef CRAWLER_SHARED_H
#define CRAWLER_SHARED_H

#include "../frontier/frontier.h"
#include "lease.h"

#include <coil/event.h>
#include <coil/group.h>
#include <coil/lock.h>

/* Callbacks of the crawl. They must not suspend. A negative result ends the crawl. */
struct shared_crawl {
    /*
     * Called for an origin that belongs to the site, because a start URL redirects to it.
     * The origin may already be known, and other origins may follow.
     */
    int (*add_origin)(void *arg, const char *origin);
    /* Called once, when no more origins follow, so that it is known which URLs belong to
     * the site. */
    int (*end_starts)(void *arg);
    /* Called for a URL that was held until end_starts(): add it to its real class. */
    int (*place)(void *arg, const struct lease_url *url);
    /* Called when a target was leased and is about to be queued. */
    void (*take)(void *arg, struct target *target);
    void *arg;
};

struct shared_options {
    struct leases *leases;
    struct frontier *frontier;
    struct targets *targets;
    const struct shared_crawl *crawl; /* callbacks, or NULL */
    bool has_external;                /* also lease URLs of other sites */
    unsigned most;                    /* maximum number of URLs in one lease */
    /*
     * Approximate number of URLs of each class to lease at the same time. If workers are
     * idle because the hosts need pauses, more URLs are leased.
     */
    unsigned ahead;
};

/* The leased targets that are in the frontier. */
struct shared_works {
    struct shared_work *all;
    size_t count, capacity;
};

/* The leases of this process. */
struct shared_held {
    struct held *first; /* a list */
    unsigned count;
    unsigned sending; /* number of tasks that complete URLs, or wait for the lock */
    coil_event has_room;
    coil_lock completing;
};

struct shared {
    struct frontier_above above;
    struct shared_options options;
    struct redis_words links; /* URLs that were found but are not sent to Redis yet */
    struct shared_works works;
    unsigned at_work[FRONTIER_CLASSES];
    struct shared_held held;
    int64_t origins; /* number of the site's origins that were passed to add_origin() */
    bool knows_site; /* end_starts() was called */
    coil_group group;
    unsigned lives; /* result of redis_lives() at the last restart that was handled */
    /* The negative errno that ends the crawl, or 0. After a failure, URLs are no longer
       completed. */
    int failure;
};

void shared_init(struct shared *shared, const struct shared_options *options);

/* Free the memory. Call this after shared_run() has returned, and before
 * frontier_finish(). */
void shared_finish(struct shared *shared);

/*
 * Lease URLs until the crawl is over for all processes, and then close the frontier. This
 * is a task function. Targets that are added to the frontier before it begins are the
 * start URLs. If the task is cancelled, it releases its leases. Fails like
 * leases_acquire().
 */
COIL_SUSPENDS int shared_run(void *arg);

/*
 * Hold a target that seems to be outside the site and is in state TARGET_HELD. Its URL is
 * stored in Redis until all start URLs are completed.
 */
void shared_hold(struct shared *shared, struct target *target);

/* Add the origin of a URL, to which a start URL redirects, to the site of all
   processes. */
void shared_add_origin(struct shared *shared, const char *url);

/* True if a target from the frontier has a valid lease. */
bool shared_may_fetch(const struct shared *shared, const struct target *target);

/*
 * True if several processes died while they were fetching the target. The crawler then
 * reports an error instead of fetching the target.
 */
bool shared_has_given_up(const struct shared *shared, const struct target *target);

/* Store the result of a target. Call this before frontier_done(). Fails with -ENOMEM. */
int shared_bring(struct shared *shared, const struct target *target, const void *bytes,
                 size_t n);

/*
 * Store the sitemaps that the robots.txt of a host lists. The frontier must contain
 * targets of the host. If the sitemaps do not reach Redis, robots.txt is fetched again.
 */
void shared_bring_sitemaps(struct shared *shared, struct host *host, const void *bytes,
                           size_t n);

#endif
