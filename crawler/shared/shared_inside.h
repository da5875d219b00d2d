/*
 * shared_inside.h - declarations shared by shared.c and shared_lease.c.
 *
 * shared.c tracks the leased targets and runs the loops that acquire leases.
 * shared_lease.c handles a single lease.
 */
#ifndef CRAWLER_SHARED_INSIDE_H
#define CRAWLER_SHARED_INSIDE_H

#include "shared.h"

#define RESULTS_AT_ONCE 16
#define LEASES_MOST 256          /* maximum number of leases, if workers are idle */
#define LINGER_NS COIL_MSEC(500) /* results are delayed to send several at once */
/* no host is leased while this many tasks hold or wait for the lock */
#define SENDING_MOST 64
/*
 * If the task of a lease cannot send its results, the lease is no longer renewed after
 * this many lease durations.
 */
#define SENDING_SPANS_MOST 4
#define RENEWED_AT_ONCE 64
#define UPKEEP_NS COIL_SEC(1) /* interval for renewing leases and ending expired ones */
/* Pause between polls for work, doubled after each poll that finds none. */
#define POLL_NS COIL_MSEC(50)
#define POLL_LONGEST_NS COIL_MSEC(400)
#define FULL_NS COIL_SEC(1)     /* pause if results must be collected first */
#define RETRY_NS COIL_MSEC(200) /* pause after a temporary failure */
#define LEAVE_NS COIL_SEC(2)

/* An item to be released, so that it is tried again later. */
struct active_release {
    int64_t number, at_ns;
    uint8_t tries;
};

/*
 * A lease, its unsent results, and the items to be released from it. The struct has many
 * members, because these three are always used together.
 */
struct active_lease {
    struct shared *shared;
    struct lease lease;
    enum frontier_class class;
    struct host *host;            /* NULL for a lease of held URLs */
    size_t at_work;               /* number of targets of this lease in the frontier */
    struct lease_result *results; /* unsent results, which own their bytes */
    size_t result_count, result_capacity;
    struct active_release *releases;
    size_t release_count, release_capacity;
    int64_t first_ns;   /* time of the oldest unsent result or release */
    int64_t until_ns;   /* earliest time at which the lease may expire */
    int64_t sending_ns; /* when its task began to send or to wait for the lock; or 0 */
    coil_event changed;
    struct active_lease *next;
};

struct shared_work {
    struct target *target;
    struct active_lease *active; /* its lease, or NULL if it was lost */
    int64_t number;              /* number of the item within the lease */
    struct text bytes;           /* the result, from shared_bring() */
    bool is_given_up;
};

struct shared_work *shared_find_work(const struct shared *shared,
                                     const struct target *target);

void shared_detach_work(struct shared_work *work);

struct shared_work *shared_add_work(struct shared *shared, struct target *target);

size_t active_unsent_count(const struct active_lease *active);

void shared_refetch_robots(struct host *host);

/*
 * Make the frontier fetch the robots.txt of a host again, now or when the host is leased
 * again. Called because the host's sitemaps did not reach Redis, or were lost there.
 */
void shared_forget_sitemaps(const struct shared *shared, struct host *host);

/*
 * Call shared_forget_sitemaps() if the results contain sitemaps. Called if the results were
 * not sent, or if Redis ignored some of them.
 */
void active_forget_unsent_sitemaps(const struct active_lease *active,
                                   const struct lease_result *results, size_t count);

/*
 * If Redis was restarted, and may have lost its last second of data, reset the state of
 * all targets, so that lost pages are fetched again, and URLs and sitemaps are sent
 * again.
 */
void shared_forget_if_restarted(struct shared *shared);

/*
 * If *rc is a temporary failure, sleep for a while and return true: the caller must
 * repeat the operation. Otherwise return false. If the sleep is cancelled, *rc is set to
 * its error.
 */
bool shared_must_repeat(int *rc);

/*
 * Return the time at which a lease that is acquired or renewed now will expire, minus a
 * safety margin of a tenth of its duration.
 */
int64_t shared_lease_expiry(const struct shared *shared);

/* Set active->until_ns, unless it is already later. */
void active_note_expiry(struct active_lease *active, int64_t until_ns);

void active_link(struct shared *shared, struct active_lease *active);

void active_unlink(struct active_lease *active);

void active_destroy(struct active_lease *active);

int active_run(void *arg);

/*
 * Call the crawl's add_origin() if Redis has reported new origins, and end_starts() if it
 * has reported that all start URLs are completed.
 */
int shared_update_site(struct shared *shared);

int active_move_all(struct active_lease *active);

/*
 * True if another host may be leased, because too few targets are leased, or because
 * workers are idle while the leased hosts need pauses. False if too many tasks are
 * waiting to send.
 */
bool shared_has_room(const struct shared *shared, enum frontier_class class);

#endif
