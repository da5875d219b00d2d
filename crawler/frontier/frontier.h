/*
 * frontier.h - decide which URL to fetch next, from which host, and when.
 *
 *     frontier_add(&frontier, target);
 *     ...
 *     while ((rc = frontier_take(&frontier, class, &job)) == 0) {   // in each worker
 *         ... fetch job.target, or the robots.txt of job.host ...
 *         frontier_retry(&frontier, &job, when)  or  frontier_done(&frontier, &job)
 *     }
 *
 * Each host has a queue of targets. Hosts that may get a request now are served in turn.
 * While a host must not get requests, because of its delay or Retry-After, the workers
 * fetch from other hosts.
 *
 * In a shared crawl, added targets are not queued but passed to a coordinator, struct
 * frontier_above. frontier_lease() queues the targets that this process has leased
 * (docs/design/many-machines.md).
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

/*
 * Each class of hosts has its own workers, so that slow external hosts do not delay the
 * site.
 */
enum frontier_class { FRONTIER_SITE, FRONTIER_EXTERNAL, FRONTIER_CLASSES };

/* The targets of a host that are waiting for a worker. */
struct host_queue {
    struct target *first, *last;
    size_t count;
};

/* Determines when a host may get its next request. */
struct host_pace {
    int64_t next_ns;          /* no request before this time */
    int64_t delay_ns;         /* time between two requests */
    int64_t requested_ns;     /* when the last request was sent */
    struct throttle throttle; /* limits the rate after refusals */
    /*
     * A target that was just refused although its host had rested before. The host's next
     * answer shows whether the target itself is the reason (throttle.c).
     */
    struct target *suspect;
    bool is_troubled;  /* a request was refused: send one request at a time */
    unsigned failures; /* number of temporary failures in a row */
};

enum robots_state { ROBOTS_UNNEEDED, ROBOTS_WANTED, ROBOTS_REQUESTED, ROBOTS_KNOWN };

/* The robots.txt of a host, which robots_txt.c fetches. */
struct host_robots {
    enum robots_state state;
    struct robots *rules; /* NULL: no rules, or not yet known */
    /*
     * The failed request for robots.txt, or NULL. If it is not NULL, no page of the host
     * is fetched. Allocated with malloc().
     */
    struct answer *failure;
    int64_t requested_ns;       /* when robots.txt was last requested */
    int64_t until_ns;           /* when robots.txt is outdated */
    bool is_rested;             /* result of frontier_begin_request() for robots.txt */
    unsigned tries, refusals;   /* numbers since the last successful fetch */
    unsigned unreachable_count; /* how often in a row the host was unreachable */
    bool has_reported_sitemaps; /* its sitemaps were reported */
    bool has_lost_sitemaps;     /* Redis lost its sitemaps, so they must be sent again */
};

struct host {
    char *origin; /* "http://example.org:8080" */
    enum frontier_class class;
    struct host_queue queue;
    struct host_pace pace;
    struct host_robots robots;
    struct host *next_ready;
    unsigned in_flight;
    bool is_ready;              /* the host is in the list of ready hosts of its class */
    bool is_timed;              /* the host is in the schedule */
    const char *const *headers; /* sent with its requests; set by the crawler */
    bool has_headers;           /* `headers` is set */
};

struct frontier_job {
    struct host *host;
    struct target *target; /* NULL: fetch the host's robots.txt */
};

/*
 * Starts workers on demand: add() is called when a job is available, but no worker of its
 * class is waiting. add() must not suspend, and does nothing if all workers are running.
 */
struct frontier_staff {
    void (*add)(void *arg, enum frontier_class class);
    void *arg;
};

/* The coordinator of a shared crawl. Its functions must not suspend. */
struct frontier_above {
    /*
     * Let some process fetch the target. Called when the target is added, when it is to
     * be fetched again, and in a crawl by depth when its depth decreases.
     */
    void (*add)(void *arg, struct target *target);
    /* Report that the job's target is finished. */
    void (*complete)(void *arg, const struct frontier_job *job);
    /*
     * Release the job's target. No process may lease it before at_ns. Returns 0 or
     * -ENOMEM.
     */
    int (*release)(void *arg, const struct frontier_job *job, int64_t at_ns);
    void *arg;
};

struct frontier_options {
    unsigned limits[FRONTIER_CLASSES];   /* maximum number of concurrent requests */
    unsigned per_host[FRONTIER_CLASSES]; /* maximum number for each host */
    int64_t delay_ns;                    /* time between two requests to a host */
    bool obeys_robots;                   /* obey the robots.txt of the site's hosts */
    bool by_depth;                       /* finish each depth before the next begins */
    struct cold *cold; /* storage for the queue of later depths; NULL: the heap */
    const struct frontier_above *above; /* must outlive the frontier; may be NULL */
};

/* The queue of hosts of one class that may get a request now. */
struct ready_hosts {
    struct host *first, **end;
};

/* The targets of later depths. Only used with by_depth. */
struct later_depths {
    struct depth_queue queue;
    unsigned current; /* the depth that is being crawled */
};

/* Targets and hosts that are waiting until a certain time. */
struct delays {
    struct schedule retries; /* targets to be tried again */
    struct schedule hosts;   /* hosts whose next request must wait */
    coil_timer timer;        /* expires at the earliest time in both schedules */
};

/* The workers, and how many of them may have a job. */
struct frontier_workers {
    struct frontier_idle *idle;
    struct frontier_staff staff;
    unsigned limits[FRONTIER_CLASSES]; /* options.limits, or less after frontier_lack() */
    unsigned lacks; /* how often in a row the only job lacked descriptors */
};

struct frontier {
    struct frontier_options options;
    struct table hosts;
    struct ready_hosts ready[FRONTIER_CLASSES];
    unsigned in_flight[FRONTIER_CLASSES];
    size_t queued;  /* number of targets in host queues and in delays.retries */
    size_t through; /* number of finished targets */
    struct later_depths later;
    struct delays delays;
    struct frontier_workers workers;
    int failure;
    bool closed;
    bool notes_only; /* do not queue added targets: see frontier_note_only() */
};

/* Return true if the limit allows another job of the class. */
bool frontier_has_room(const struct frontier *frontier, enum frontier_class class);

/* Initialize an empty frontier. The thread must have a loop. */
void frontier_init(struct frontier *frontier, const struct frontier_options *options);

/*
 * Start workers on demand from now on. If staff->add is NULL, which is the default, the
 * caller starts them.
 */
void frontier_set_staff(struct frontier *frontier, const struct frontier_staff *staff);

/* Free the frontier. No worker may be waiting in frontier_take(). */
void frontier_finish(struct frontier *frontier);

/* Return the host of a URL, creating it if necessary. Returns NULL if memory runs out. */
struct host *frontier_host(struct frontier *frontier, const char *url,
                           enum frontier_class class);

/*
 * Add a target, whose `host` must be set. The target is queued when the crawl reaches its
 * depth. Call this again whenever target->depth decreases; a target that was already
 * queued is not queued twice.
 */
void frontier_add(struct frontier *frontier, struct target *target);

/* Queue a finished target again. */
void frontier_add_again(struct frontier *frontier, struct target *target);

/* Queue a target that this process has leased. target->host must be set. */
void frontier_lease(struct frontier *frontier, struct target *target);

/*
 * Functions for the replay of a saved crawl. After frontier_note_only(), added targets
 * are not queued, but get the state TARGET_NOTED. The replay calls
 * frontier_noted_is_done() for each target with a saved answer. Finally,
 * frontier_take_noted() queues the remaining noted targets, and ends this mode.
 */
void frontier_note_only(struct frontier *frontier);
void frontier_noted_is_done(struct frontier *frontier, struct target *target);
void frontier_take_noted(struct frontier *frontier, const struct targets *targets);

/*
 * Take the next job, suspending until a host may get a request. Fails with -ESHUTDOWN if
 * the frontier is closed or no target is queued or in progress. In a shared crawl, which
 * may lease more targets, only closing the frontier causes -ESHUTDOWN. Also fails with
 * -ENOMEM or -ECANCELED.
 */
COIL_SUSPENDS int frontier_take(struct frontier *frontier, enum frontier_class class,
                                struct frontier_job *job);

/* Report that the worker has finished its job. */
void frontier_done(struct frontier *frontier, const struct frontier_job *job);

/* End the job. Its target is queued again at at_ns. Returns 0 or -ENOMEM. */
int frontier_retry(struct frontier *frontier, const struct frontier_job *job,
                   int64_t at_ns);

/*
 * End the job, and make its target the next one that is requested from its host. Returns
 * 0 or -ENOMEM.
 */
int frontier_test(struct frontier *frontier, const struct frontier_job *job);

/* How long to wait before a job is tried again that failed for lack of descriptors. */
#define FRONTIER_LACK_NS COIL_MSEC(200)

/*
 * Record that the job failed because this process lacks descriptors, and allow fewer
 * concurrent jobs. Call this before the job is ended. Returns true if the job can be
 * tried again, or false if even a single job has failed FRONTIER_LACKS times.
 */
bool frontier_lack(struct frontier *frontier, const struct frontier_job *job);
#define FRONTIER_LACKS 10

/*
 * Record that a request to the host is sent now: start the host's delay, and take a token
 * from its bucket. Returns true if this is the host's only request, and the previous one
 * was sent at least throttle_rest_ns() ago.
 */
bool frontier_begin_request(struct host *host);

/*
 * Reserve a time for another request of the same job. Returns the time at which the
 * request may be sent.
 */
int64_t frontier_take_turn(struct host *host);

/*
 * Record that the host has answered the request for `target`. `is_rested` is the result
 * of frontier_begin_request().
 */
void frontier_accept(struct host *host, struct target *target, bool is_rested);

/*
 * Record that the host has refused a request: adapt its rate of requests, and count the
 * refusal in target->refusals. `target` is NULL for robots.txt. Returns whether to try
 * again, and when.
 */
enum throttle_advice frontier_refuse(struct host *host, struct target *target,
                                     const struct throttle_refusal *refusal);

/*
 * Return the time between two requests to the host: its delay, or the interval that its
 * throttle currently requires, whichever is longer.
 */
int64_t frontier_spacing_ns(const struct host *host);

/* Send no request to this host before until_ns. */
void frontier_pause(struct host *host, int64_t until_ns);

/*
 * Close the frontier: workers get no more jobs. frontier_queued_count() still counts the
 * targets that were not fetched.
 */
void frontier_close(struct frontier *frontier);

/*
 * These functions return the number of jobs in progress, of queued targets, and of
 * finished targets.
 */
size_t frontier_job_count(const struct frontier *frontier);
size_t frontier_queued_count(const struct frontier *frontier);
size_t frontier_finished_count(const struct frontier *frontier);

#endif
