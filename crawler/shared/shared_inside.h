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
#define TEND_NS COIL_SEC(1) /* interval for renewing leases and ending expired ones */
/* Pause between polls for work, doubled after each poll that finds none. */
#define LOOK_NS COIL_MSEC(50)
#define LOOK_LONGEST_NS COIL_MSEC(400)
#define FULL_NS COIL_SEC(1)     /* pause if results must be collected first */
#define AGAIN_NS COIL_MSEC(200) /* pause after a temporary failure */
#define GOODBYE_NS COIL_SEC(2)

/* An item to be released, so that it is tried again later. */
struct held_back {
    int64_t number, at_ns;
    uint8_t tries;
};

/*
 * A lease, its unsent results, and the items to be released from it. The struct has many
 * members, because these three are always used together.
 */
struct held {
    struct shared *shared;
    struct lease lease;
    enum frontier_class class;
    struct host *host;            /* NULL for a lease of held URLs */
    size_t at_work;               /* number of targets of this lease in the frontier */
    struct lease_result *results; /* unsent results, which own their bytes */
    size_t result_count, result_capacity;
    struct held_back *backs;
    size_t back_count, back_capacity;
    int64_t first_ns;   /* time of the oldest unsent result or release */
    int64_t until_ns;   /* earliest time at which the lease may expire */
    int64_t sending_ns; /* when its task began to send or to wait for the lock; or 0 */
    coil_event changed;
    struct held *next;
};

struct shared_work {
    struct target *target;
    struct held *held; /* its lease, or NULL if it was lost */
    int64_t number;    /* number of the item within the lease */
    struct text bytes; /* the result, from shared_bring() */
    bool is_given_up;
};

struct shared_work *held_find_work(const struct shared *shared,
                                   const struct target *target);

void held_leave(struct shared_work *work);

struct shared_work *held_add_work(struct shared *shared, struct target *target);

size_t held_unsent_count(const struct held *held);

void held_ask_for_robots_again(struct host *host);

/*
 * Make the frontier fetch the robots.txt of a host again, now or when the host is leased
 * again. Called because the host's sitemaps did not reach Redis, or were lost there.
 */
void held_forget_sitemaps(const struct shared *shared, struct host *host);

/*
 * Call held_forget_sitemaps() if the results contain sitemaps. Called if the results were
 * not sent, or if Redis ignored some of them.
 */
void held_forget_unsent_sitemaps(const struct held *held,
                                 const struct lease_result *results, size_t count);

/*
 * If Redis was restarted, and may have lost its last second of data, reset the state of
 * all targets, so that lost pages are fetched again, and URLs and sitemaps are sent
 * again.
 */
void held_forget_if_restarted(struct shared *shared);

/*
 * If *rc is a temporary failure, sleep for a while and return true: the caller must
 * repeat the operation. Otherwise return false. If the sleep is cancelled, *rc is set to
 * its error.
 */
bool held_is_to_repeat(int *rc);

/*
 * Return the time at which a lease that is acquired or renewed now will expire, minus a
 * safety margin of a tenth of its duration.
 */
int64_t held_expiry(const struct shared *shared);

/* Set held->until_ns, unless it is already later. */
void held_note_expiry(struct held *held, int64_t until_ns);

void held_link(struct shared *shared, struct held *held);

void held_unlink(struct held *held);

void held_destroy(struct held *held);

int held_hold(void *arg);

/*
 * Call the crawl's add_origin() if Redis has reported new origins, and end_starts() if it
 * has reported that all start URLs are completed.
 */
int held_update_site(struct shared *shared);

int held_move_all(struct held *held);

/*
 * True if another host may be leased, because too few targets are leased, or because
 * workers are idle while the leased hosts need pauses. False if too many tasks are
 * waiting to send.
 */
bool held_has_room(const struct shared *shared, enum frontier_class class);

#endif
