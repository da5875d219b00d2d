/*
 * shared.h - the link between the frontier of a process and the queues of a shared crawl
 * in Redis: lease URLs, pass them to the frontier, and send their results to Redis.
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

/*
 * Callbacks of the crawl. The callbacks must not suspend. A negative result ends the
 * crawl.
 */
struct shared_crawl {
    /*
     * Called for an origin that belongs to the site because a start URL redirects to it.
     * May be called repeatedly for the same origin.
     */
    int (*add_origin)(void *arg, const char *origin);
    /* Called once, after add_origin() was called for the last origin. */
    int (*end_starts)(void *arg);
    /* Called after end_starts() for a held URL: enqueue it in its real class. */
    int (*place)(void *arg, const struct lease_url *url);
    /* Called when a target was leased, before it is queued. */
    void (*take)(void *arg, struct target *target);
    void *arg;
};

struct shared_options {
    struct leases *leases;
    struct frontier *frontier;
    struct targets *targets;
    const struct shared_crawl *crawl; /* callbacks, or NULL */
    bool has_external;                /* also lease URLs of other sites */
    unsigned most;                    /* maximum number of URLs per lease */
    /*
     * Approximate number of leased URLs in each class. If workers are idle because the
     * hosts of these URLs need pauses, more URLs are leased.
     */
    unsigned ahead;
};

/* The leased targets that are in the frontier. */
struct shared_works {
    struct shared_work *all;
    size_t count, capacity;
};

/* The leases of this process. */
struct shared_active {
    struct active_lease *first; /* a list */
    unsigned count;
    unsigned sending; /* number of tasks that hold or wait for the lock */
    coil_event has_room;
    coil_lock completing;
};

struct shared {
    struct frontier_above above;
    struct shared_options options;
    struct redis_words links; /* URLs that are not sent to Redis yet */
    struct shared_works works;
    unsigned at_work[FRONTIER_CLASSES];
    struct shared_active active;
    int64_t origins; /* number of origins passed to add_origin() */
    bool knows_site; /* end_starts() was called */
    coil_group group;
    unsigned restarts; /* redis_restarts() when the last restart was handled */
    /*
     * Negative errno that ends the crawl, or 0. After an error, no more URLs are
     * completed.
     */
    int failure;
};

void shared_init(struct shared *shared, const struct shared_options *options);

/* Free the memory. Call this after shared_run() has returned, and before
   frontier_finish(). */
void shared_finish(struct shared *shared);

/*
 * Lease URLs until the crawl is over for all processes. Finally, close the frontier. This
 * is a task function. The targets that were added to the frontier before the call are the
 * start URLs. After an error or a cancellation, all leases are released. Fails like
 * leases_acquire().
 */
COIL_SUSPENDS int shared_run(void *arg);

/*
 * Send the URL of a target in state TARGET_HELD to Redis, where it is held until all
 * start URLs are completed.
 */
void shared_hold(struct shared *shared, struct target *target);

/*
 * Add the origin of a URL to the site of all processes. Called for a URL to which a start
 * URL redirects.
 */
void shared_add_origin(struct shared *shared, const char *url);

/* True if this process has a valid lease of the target. */
bool shared_may_fetch(const struct shared *shared, const struct target *target);

/*
 * True if several processes ended while they were fetching the target. In that case, the
 * crawler must report an error instead of fetching it.
 */
bool shared_has_given_up(const struct shared *shared, const struct target *target);

/*
 * Store the result of a target, to be sent to Redis after frontier_done(). Fails with
 * -ENOMEM.
 */
int shared_bring(struct shared *shared, const struct target *target, const void *bytes,
                 size_t n);

/*
 * Send the sitemaps listed in a host's robots.txt to Redis. The frontier must contain
 * targets of the host. If the sitemaps do not reach Redis, robots.txt is fetched again.
 */
void shared_bring_sitemaps(struct shared *shared, struct host *host, const void *bytes,
                           size_t n);

#endif
