/*
 * host_queue.h - track which hosts may get a request now, and wake workers for them.
 *
 * Only frontier.c includes this header.
 */
#ifndef CRAWLER_HOST_QUEUE_H
#define CRAWLER_HOST_QUEUE_H

#include "frontier.h"

#include <coil/event.h>

/* A worker that is waiting in frontier_take(). */
struct frontier_idle {
    coil_event event;
    struct frontier_idle *next;
    enum frontier_class class;
};

/* Wake a waiting worker of the class. If there is none, start another worker. */
void frontier_wake_one(struct frontier *frontier, enum frontier_class class);

void frontier_wake_all(struct frontier *frontier);

void frontier_forget_idle(struct frontier *frontier, struct frontier_idle *idle);

bool frontier_may_get_request(const struct frontier *frontier, const struct host *host);

/* Set the timer to the earliest time in `delays`. Returns 0 or -ENOMEM. */
int frontier_set_timer(struct frontier *frontier);

/*
 * If the host has a job, add it to the ready hosts of its class, or to `delays.hosts` if
 * it must wait. Returns 0 or -ENOMEM.
 */
int frontier_list_if_ready(struct frontier *frontier, struct host *host);

struct host *frontier_first_ready(struct frontier *frontier, enum frontier_class class);

#endif
