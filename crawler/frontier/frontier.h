/*
 * frontier.h - which target is fetched next, from which host, and when.
 *
 *     frontier_add(&frontier, target);
 *     ...
 *     while ((rc = frontier_take(&frontier, class, &job)) == 0) {   // in each worker
 *         ... fetch job.target, or the robots.txt of job.host ...
 *         frontier_retry(&frontier, &job, when)  or  frontier_done(&frontier, &job)
 *     }
 *
 * Each host has a queue. Hosts that may get a request now take turns. A host with a
 * delay or a Retry-After waits for its time, but no worker waits with it.
 *
 * In a shared crawl, frontier_above receives the targets that are added, and returns
 * those that this process has leased: frontier_lease(). docs/design/many-machines.md
 */
#ifndef CRAWLER_FRONTIER_H
#define CRAWLER_FRONTIER_H

#include "depth_queue.h"
#include "schedule.h"
#include "throttle.h"
#include "../base/table.h"
#include "target.h"

#include <coil/timer.h>

struct answer;
struct robots;

/* Sites and strangers have workers apart, so that slow strangers hold up no site. */
enum frontier_class { FRONTIER_SITE, FRONTIER_EXTERNAL, FRONTIER_CLASSES };

enum host_robots { ROBOTS_UNNEEDED, ROBOTS_WANTED, ROBOTS_ASKED, ROBOTS_KNOWN };

struct host {
    char *origin; /* "http://example.org:8080" */
    enum frontier_class class;
    struct target *first, *last; /* its queue */
    size_t queued;               /* in it */
    struct host *next_ready;
    unsigned in_flight;
    int64_t next_ns;  /* before that it is not asked */
    int64_t delay_ns; /* between two requests */
    bool is_ready;    /* it is in the line of its class */
    bool is_timed;    /* it is in the schedule */
    bool is_troubled; /* it has said that it can take no more: one request at a time */
    struct throttle throttle; /* what its refusals have taught */
    int64_t asked_ns;         /* when a request went out last */
    struct target *
        suspect; /* refused by a test just now: the next answer tells whether it is the reason */
    enum host_robots robots;
    bool has_told_sitemaps; /* those that its robots.txt names */
    bool has_lost_sitemaps; /* it is to tell them again; for shared.c */
    struct robots *rules;   /* NULL: not known, or there are none */
    int64_t rules_asked_ns; /* when they were last requested */
    int64_t rules_until_ns; /* when they are requested again */
    /* Why its robots.txt could not be fetched, so that nothing is; for free(), or
       NULL. */
    struct answer *rules_failure;
    bool rules_is_rested; /* the host was not asked for a while before that */
    unsigned rules_tries, rules_refusals; /* of its robots.txt, in a row */
    unsigned deserted; /* how often in a row the host could not be reached for it */
    unsigned failures; /* in a row, that may pass */
    const char *const *headers; /* that its requests have; for the crawler */
    bool has_headers;           /* they are known */
};

struct frontier_job {
    struct host *host;
    struct target *target; /* NULL: fetch the robots.txt of the host */
};

/* The functions of a shared crawl. They may not suspend. */
struct frontier_above {
    /* Some process shall fetch the target. Called for a new target, for one that has
       come nearer (by_depth), and for one that is fetched again. */
    void (*add)(void *arg, struct target *target);
    /* The job's target is through. */
    void (*complete)(void *arg, const struct frontier_job *job);
    /* Requeue the target of the job for that time or later. 0 or -ENOMEM. */
    int (*release)(void *arg, const struct frontier_job *job, int64_t at_ns);
    void *arg;
};

struct frontier_options {
    unsigned limits[FRONTIER_CLASSES];   /* requests at a time */
    unsigned per_host[FRONTIER_CLASSES]; /* the same, to one host */
    int64_t delay_ns;
    bool asks_robots;                   /* of hosts of the site */
    bool by_depth;                      /* all of one depth before the next */
    struct cold *cold;                  /* for targets whose depth is not due; or NULL */
    const struct frontier_above *above; /* it must outlive the frontier; or NULL */
};

struct frontier {
    struct frontier_options options;
    struct table hosts;
    struct host *ready[FRONTIER_CLASSES], **ready_end[FRONTIER_CLASSES];
    unsigned in_flight[FRONTIER_CLASSES];
    size_t queued;                  /* or put back for later */
    size_t through;                 /* targets that were given out and not put back */
    struct depth_queue depth_queue; /* targets that are not due yet, by_depth */
    unsigned depth;                 /* that is due, by_depth */
    struct schedule retries;        /* targets */
    struct schedule waiting;        /* hosts */
    coil_timer timer;
    struct frontier_idle *idle;
    int failure;
    bool closed;
    bool notes_only; /* what is added waits for frontier_take_noted() */
};

/* A worker of the class has nothing to ask for now. */
bool frontier_has_idle(const struct frontier *frontier, enum frontier_class class);

/* In a loop. */
void frontier_init(struct frontier *frontier, const struct frontier_options *options);

/* No worker may wait in it any more. */
void frontier_finish(struct frontier *frontier);

/* The host of a URL, made if it is new; NULL without memory. */
struct host *frontier_host(struct frontier *frontier, const char *url,
                           enum frontier_class class);

/* Accept a target, whose host is set, and queue it when its depth is due, unless it was
   queued before. Call it again when target->depth has become less. */
void frontier_add(struct frontier *frontier, struct target *target);

/* Queue a target again that is done. */
void frontier_add_again(struct frontier *frontier, struct target *target);

/* Queue a target that this process has leased, whose host is set. */
void frontier_lease(struct frontier *frontier, struct target *target);

/*
 * For the replay of a saved crawl: from now on, targets that are added become
 * TARGET_NOTED. frontier_take_noted() ends that and queues those that were not done
 * meanwhile.
 */
void frontier_note_only(struct frontier *frontier);
void frontier_noted_is_done(struct frontier *frontier, struct target *target);
void frontier_take_noted(struct frontier *frontier, const struct targets *targets);

/* Take the next target that may be fetched now, and suspend until there is one. Fails
   with -ESHUTDOWN when the frontier is empty and no job is in progress, or when it is
   closed; in a shared crawl only when it is closed. Also -ENOMEM and -ECANCELED. */
COIL_SUSPENDS int frontier_take(struct frontier *frontier, enum frontier_class class,
                                struct frontier_job *job);

/* The worker is through with its job. */
void frontier_done(struct frontier *frontier, const struct frontier_job *job);

/* The same, but the job's target is to be given out again, at that time or later. 0 or
   -ENOMEM. */
int frontier_retry(struct frontier *frontier, const struct frontier_job *job,
                   int64_t at_ns);

/* The same, but the target is given out first of its host's, once that has rested. */
int frontier_test(struct frontier *frontier, const struct frontier_job *job);

/* A request to the host begins: so does its delay, and its bucket loses a token. Returns
   true if the host got no request for throttle_rest_ns() before. */
bool frontier_ask(struct host *host);

/* The same for one more request of the same job: when it may go out. */
int64_t frontier_take_turn(struct host *host);

/* The host has answered; `is_rested` is what frontier_ask() returned. */
void frontier_accept(struct host *host, struct target *target, bool is_rested);

/* The host has refused, which slows its requests down. Counts target->refusals. */
enum throttle_advice frontier_refuse(struct host *host, struct target *target,
                                     const struct throttle_refusal *refusal);

/* The time between two requests to the host: its delay, or what its refusals have
   taught. */
int64_t frontier_spacing_ns(const struct host *host);

/* Nobody asks this host before that time. */
void frontier_pause(struct host *host, int64_t until_ns);

/* Nothing is given out any more; what is left is still to be had by frontier_left(). */
void frontier_close(struct frontier *frontier);

/* Requests at work, targets that wait, and targets that are through. */
size_t frontier_at_work(const struct frontier *frontier);
size_t frontier_left(const struct frontier *frontier);
size_t frontier_through(const struct frontier *frontier);

#endif
