/*
 * shared.h - the coordinator above a process's frontier in a shared crawl. It leases
 * hosts from Redis, passes their URLs to the frontier, and sends the results to Redis.
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

/* The crawl's callbacks. None may suspend. A negative result ends shared_run(). */
struct shared_crawl {
    /* Add an origin to the site, because a start URL redirects there. Later calls may
       pass new origins, or the same ones again. */
    int (*add_origin)(void *arg, const char *origin);
    /* No more origins follow, so it is known what belongs to the site. Called once. */
    int (*end_starts)(void *arg);
    /* Decide to which class a held URL belongs, and add it to the frontier again. */
    int (*place)(void *arg, const struct lease_url *url);
    /* The target was leased, and is about to be queued. */
    void (*take)(void *arg, struct target *target);
    void *arg;
};

struct shared_options {
    struct leases *leases;
    struct frontier *frontier;
    struct targets *targets;
    const struct shared_crawl *crawl; /* NULL: the site is not determined */
    bool has_external;                /* URLs of other sites are leased as well */
    unsigned most;                    /* URLs of a host in a lease */
    /* About how many URLs of each class are leased at a time. More are leased if workers
       are idle because the leased hosts must not be contacted yet. */
    unsigned ahead;
};

struct shared {
    struct frontier_above above;
    struct shared_options options;
    struct redis_words links;  /* added by the frontier, and not sent yet */
    struct shared_work *works; /* targets that are in the frontier */
    size_t work_count, work_capacity;
    unsigned at_work[FRONTIER_CLASSES];
    struct held *first_held; /* the list of leases */
    unsigned held_count;
    unsigned sending; /* tasks that send results, or wait to do so */
    int64_t origins;  /* number of origins passed to the crawl */
    bool knows_site;  /* end_starts() was called */
    coil_event has_room;
    coil_lock completing;
    coil_group group;
    unsigned lives; /* redis_lives() at the last lease */
    int failure;    /* the error after which nothing is sent */
};

void shared_init(struct shared *shared, const struct shared_options *options);

/* Called before frontier_finish(). No task may be in shared_run() any more. */
void shared_finish(struct shared *shared);

/*
 * The body of a task. URLs that were added before it runs are the start URLs. It runs
 * until the crawl has ended in all processes, and then closes the frontier. If it is
 * cancelled, it gives back all leased URLs. Otherwise fails as leases_acquire().
 */
COIL_SUSPENDS int shared_run(void *arg);

/* The target seems to be outside the site. Hold it until all processes know what belongs
 * to the site. Its state is TARGET_HELD. */
void shared_hold(struct shared *shared, struct target *target);

/* A start URL redirects to this URL: add its origin to the site, for all processes. */
void shared_add_origin(struct shared *shared, const char *url);

/* True if the target, which the frontier has given out, is still leased. */
bool shared_may_ask(const struct shared *shared, const struct target *target);

/* True if processes have ended again and again while they fetched the target. The target
 * is then reported as an error, and not fetched. */
bool shared_has_given_up(const struct shared *shared, const struct target *target);

/* Store the result of a target, before frontier_done(). Returns 0 or -ENOMEM. */
int shared_bring(struct shared *shared, const struct target *target, const void *bytes,
                 size_t n);

/* Send the sitemaps that a host's robots.txt names, while targets of the host are in the
 * frontier. If they do not reach Redis, robots.txt is fetched again. */
void shared_bring_sitemaps(struct shared *shared, struct host *host, const void *bytes,
                           size_t n);

#endif
