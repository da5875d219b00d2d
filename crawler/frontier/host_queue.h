/*
 * host_queue.h - the lists of hosts, and the workers that are waiting for a host.
 *
 * Only frontier.c includes this header.
 */
#ifndef CRAWLER_HOST_QUEUE_H
#define CRAWLER_HOST_QUEUE_H

#include "frontier.h"

#include <coil/event.h>

/* A worker without a job. */
struct frontier_idle {
    coil_event event;
    struct frontier_idle *next;
    enum frontier_class class;
};

void frontier_wake_one(struct frontier *frontier, enum frontier_class class);

void frontier_wake_all(struct frontier *frontier);

void frontier_forget_idle(struct frontier *frontier, struct frontier_idle *idle);

bool frontier_may_get_request(const struct frontier *frontier, const struct host *host);

/* Set the timer according to invariant 3 of frontier.c. */
int frontier_set_timer(struct frontier *frontier);

/* Put the host in the list that invariants 1 and 2 of frontier.c require, if any. Returns
   0 or -ENOMEM. */
int frontier_list_if_ready(struct frontier *frontier, struct host *host);

struct host *frontier_first_ready(struct frontier *frontier, enum frontier_class class);

#endif
