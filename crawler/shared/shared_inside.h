/*
 * shared_inside.h - what the files of a shared crawl have in common.
 *
 * shared.c has the targets at work and the loop that leases. shared_lease.c has one lease.
 */
#ifndef CRAWLER_SHARED_INSIDE_H
#define CRAWLER_SHARED_INSIDE_H

#include "shared.h"

#define RESULTS_AT_ONCE 16
#define LEASES_MOST 256          /* while hosts want to be left alone */
#define LINGER_NS COIL_MSEC(500) /* a result waits for others */
#define SENDING_MOST 64 /* leases that wait for each other to send; then none is added */
#define SENDING_SPANS_MOST 4 /* so long a lease is renewed whose task cannot send */
#define RENEWED_AT_ONCE 64
#define TEND_NS COIL_SEC(1)   /* between looks at leases, one's own and all */
#define LOOK_NS COIL_MSEC(50) /* for what others have added; twice as long when in vain */
#define LOOK_LONGEST_NS COIL_MSEC(400)
#define FULL_NS COIL_SEC(1)     /* until somebody collects */
#define AGAIN_NS COIL_MSEC(200) /* after a failure that may pass */
#define GOODBYE_NS COIL_SEC(2)

/* It is to be tried again. */
struct held_back {
    int64_t number, at_ns;
    uint8_t tries;
};

/* A lease, and what is to be sent of it. */
struct held {
    struct shared *shared;
    struct lease lease;
    enum frontier_class class;
    struct host *host; /* NULL: of URLs that are held until all starts are through */
    size_t at_work;    /* its targets that the frontier has */
    struct lease_result *results; /* the bytes are the held's */
    size_t result_count, result_capacity;
    struct held_back *backs;
    size_t back_count, back_capacity;
    int64_t first_ns;   /* when the first of them came */
    int64_t until_ns;   /* when the lease expires, at the earliest */
    int64_t sending_ns; /* since when it sends or waits for that; 0: it does not */
    coil_event changed;
    struct held *next;
};

struct shared_work {
    struct target *target;
    struct held *held; /* NULL: its lease was lost */
    int64_t number;    /* within the lease */
    struct text bytes; /* shared_bring() */
    bool is_given_up;
};

struct shared_work *held_find_work(const struct shared *shared,
                                   const struct target *target);

void held_leave_held(struct shared_work *work);

struct shared_work *held_add_work(struct shared *shared, struct target *target);

size_t held_unsent_count(const struct held *held);

void held_ask_for_robots_again(struct host *host);

/* They have not come to Redis, or are lost there: the robots.txt is asked for again, and tells them. If others may
   have the host by now, that waits for the next lease. */
void held_forget_sitemaps(const struct shared *shared, struct host *host);

/* These were not sent, or some of them not taken. */
void held_forget_unsent_sitemaps(const struct held *held,
                                 const struct lease_result *results, size_t count);

/* Redis may have lost its last second: what was sent then is not known any more, and the pages it was found
   on are asked for again. */
void held_forget_if_reborn(struct shared *shared);

/* For a loop around what may be repeated: true, after a while, if it is to be. */
bool held_is_to_repeat(int *rc);

/* Of a lease that Redis is going to be told of. */
int64_t held_expiry(const struct shared *shared);

/* Another reply may have come before. */
void held_note_expiry(struct held *held, int64_t until_ns);

void held_link_held(struct shared *shared, struct held *held);

void held_unlink_held(struct held *held);

void held_destroy_held(struct held *held);

int held_hold(void *arg);

/* Redis may have told of something new. */
int held_learn(struct shared *shared);

int held_place_all(struct held *held);

/* Where hosts want to be left alone, their URLs wait here, and workers with them: then there is room for others. */
bool held_has_room(const struct shared *shared, enum frontier_class class);

#endif
