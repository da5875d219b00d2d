/*
 * shared.h - what is above the frontier of a process that takes part in a shared crawl: it leases hosts, has the
 * frontier give out their URLs, and brings back what came of them.
 *
 *     shared_init(&shared, &options);
 *     frontier_init(&frontier, &(struct frontier_options){..., .above = &shared.above});
 *     coil_group_spawn(&group, shared_run, &shared, NULL, NULL);
 *     ...
 *     while ((rc = frontier_take(&frontier, class, &job)) == 0) {      // in each worker
 *         if (shared_may_ask(&shared, job.target)) {
 *             ... ask ...
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

/* What the crawl has to do with it. Below 0 ends all; none may suspend. */
struct shared_crawl {
    /* An origin belongs to the site, since a start redirects there; others come later, or are known already. */
    int (*add_origin)(void *arg, const char *origin);
    /* There are no more: what belongs to the site is known. Called once. */
    int (*end_starts)(void *arg);
    /* A URL that was held until then is to be handed up by the class that it is of. */
    int (*place)(void *arg, const struct lease_url *url);
    /* The target was leased, and is going to be queued. */
    void (*take)(void *arg, struct target *target);
    void *arg;
};

struct shared_options {
    struct leases *leases;
    struct frontier *frontier;
    struct targets *targets;
    const struct shared_crawl
        *crawl;        /* NULL: it is not asked for what belongs to the site */
    bool has_external; /* URLs of other sites are leased as well */
    unsigned most;     /* URLs of a host at a time */
    unsigned
        ahead; /* URLs of each class that are leased at a time, about; more where hosts want to be left alone */
};

struct shared {
    struct frontier_above above;
    struct shared_options options;
    struct redis_words links;  /* that were handed up, and not sent yet */
    struct shared_work *works; /* targets that the frontier has */
    size_t work_count, work_capacity;
    unsigned at_work[FRONTIER_CLASSES];
    struct held *first_held; /* leases */
    unsigned held_count;
    unsigned sending; /* tasks that complete something, or wait for that */
    int64_t origins;  /* that the crawl knows */
    bool knows_site;  /* end_starts() was called */
    coil_event has_room;
    coil_lock completing;
    coil_group group;
    unsigned lives; /* redis_lives() at the last lease */
    int failure;    /* that ends it: nothing is completed any more */
};

void shared_init(struct shared *shared, const struct shared_options *options);

/* Nobody may be in shared_run() any more; before frontier_finish(). */
void shared_finish(struct shared *shared);

/* A task's body. What was handed up before it are the starts. It lasts until the crawl is over, for everybody; then
   the frontier is closed. If it is cancelled, what is leased is given back. Else fails as leases_acquire(). */
COIL_SUSPENDS int shared_run(void *arg);

/* The target leads out of the site, it seems, and is held until that is known: by all. Its state is TARGET_HELD. */
void shared_hold(struct shared *shared, struct target *target);

/* A start redirects to this URL: what is of its origin belongs to the site, for all. */
void shared_add_origin(struct shared *shared, const char *url);

/* The lease of a target that the frontier has given out lasts a while yet. */
bool shared_may_ask(const struct shared *shared, const struct target *target);

/* Processes have ended again and again while they asked for it: it is an error, and is not asked for. */
bool shared_has_given_up(const struct shared *shared, const struct target *target);

/* What came of it, before frontier_done(). 0 or -ENOMEM. */
int shared_bring(struct shared *shared, const struct target *target, const void *bytes,
                 size_t n);

/* The sitemaps that the robots.txt of a host names, while targets of it are in the frontier. If they do not reach
   Redis it is asked for again. */
void shared_bring_sitemaps(struct shared *shared, struct host *host, const void *bytes,
                           size_t n);

#endif
