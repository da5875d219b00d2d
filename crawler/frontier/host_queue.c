/*
 * host_queue.c - see host_queue.h
 */
#include "host_queue.h"

#include "../scope/robots.h"
#include "../url/url.h"

#include <coil/event.h>

#include <stdlib.h>
#include <string.h>

/* ---- idle workers ------------------------------------------------------------------ */

bool frontier_has_room(const struct frontier *frontier, enum frontier_class class)
{
    return frontier->in_flight[class] < frontier->workers.limits[class];
}

void frontier_wake_one(struct frontier *frontier, enum frontier_class class)
{
    const struct frontier_staff *staff = &frontier->workers.staff;

    for (struct frontier_idle **at = &frontier->workers.idle; *at != NULL;
         at = &(*at)->next)
        if ((*at)->class == class) {
            struct frontier_idle *idle = *at;
            *at = idle->next;
            coil_event_set(&idle->event);
            return;
        }
    if (staff->add != NULL && frontier_has_room(frontier, class))
        staff->add(staff->arg, class);
}

void frontier_wake_all(struct frontier *frontier)
{
    struct frontier_idle *idle = frontier->workers.idle;

    frontier->workers.idle = NULL;
    for (; idle != NULL; idle = idle->next)
        coil_event_set(&idle->event);
}

void frontier_forget_idle(struct frontier *frontier, struct frontier_idle *idle)
{
    struct frontier_idle **at = &frontier->workers.idle;

    while (*at != NULL && *at != idle)
        at = &(*at)->next;
    if (*at != NULL)
        *at = idle->next;
}

/* ---- hosts ------------------------------------------------------------------------- */

static bool has_job(const struct host *host)
{
    return host->queue.first != NULL && host->robots.state != ROBOTS_REQUESTED;
}

bool frontier_may_get_request(const struct frontier *frontier, const struct host *host)
{
    unsigned limit = host->pace.is_troubled ? 1 : frontier->options.per_host[host->class];

    return has_job(host) && host->in_flight < limit && !host->is_timed;
}

int frontier_set_timer(struct frontier *frontier)
{
    int64_t retry = schedule_first(&frontier->delays.retries);
    int64_t host = schedule_first(&frontier->delays.hosts);
    int64_t first = retry < host ? retry : host;

    return first < INT64_MAX ? coil_timer_start(&frontier->delays.timer, first) : 0;
}

int frontier_list_if_ready(struct frontier *frontier, struct host *host)
{
    int rc;

    if (host->is_ready || !frontier_may_get_request(frontier, host))
        return 0;
    if (host->pace.next_ns > coil_now()) {
        rc = schedule_add(&frontier->delays.hosts, host->pace.next_ns, host);
        host->is_timed = rc == 0;
        return rc == 0 ? frontier_set_timer(frontier) : rc;
    }
    host->is_ready = true;
    host->next_ready = NULL;
    *frontier->ready[host->class].end = host;
    frontier->ready[host->class].end = &host->next_ready;
    frontier_wake_one(frontier, host->class);
    return 0;
}

struct host *frontier_first_ready(struct frontier *frontier, enum frontier_class class)
{
    struct host *host = frontier->ready[class].first;

    frontier->ready[class].first = host->next_ready;
    if (host->next_ready == NULL)
        frontier->ready[class].end = &frontier->ready[class].first;
    host->is_ready = false;
    return host;
}

static struct host *create_host(struct frontier *frontier, const char *origin,
                                enum frontier_class class)
{
    struct host *host = calloc(1, sizeof *host);

    if (host == NULL)
        return NULL;
    host->origin = strdup(origin);
    host->class = class;
    host->pace.delay_ns = frontier->options.delay_ns;
    if (class == FRONTIER_SITE && frontier->options.obeys_robots &&
        strncmp(origin, "file:", 5) != 0)
        host->robots.state = ROBOTS_WANTED;
    if (host->origin != NULL && table_add(&frontier->hosts, host->origin, host) == 0)
        return host;
    free(host->origin);
    free(host);
    return NULL;
}

struct host *frontier_host(struct frontier *frontier, const char *url,
                           enum frontier_class class)
{
    size_t n = url_origin_length(url);
    char *origin = strndup(url, n);
    struct host *host;

    if (origin == NULL)
        return NULL;
    host = table_get(&frontier->hosts, origin);
    if (host == NULL)
        host = create_host(frontier, origin, class);
    free(origin);
    return host;
}
