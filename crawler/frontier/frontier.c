/*
 * frontier.c - decide which URL to fetch next, from which host, and when.
 *
 * Invariants
 *   1. A host that may get a request now is in the list `ready` of its class (is_ready).
 *      After every change that may make a host ready, the code calls
 *      frontier_list_if_ready(). take_job() removes listed hosts that must wait again.
 *   2. A host that has a job but must wait is in `delays.hosts` (is_timed).
 *   3. The timer is set to the earliest time in `delays`.
 *   4. While a job is available and a worker of its class is idle, at least one worker is
 *      being woken. Code that makes a job available wakes one worker. A worker that takes
 *      a job wakes another one if more jobs are available. If no worker is idle, another
 *      one is started.
 *
 * Start reading at frontier_take() and take_job().
 */
#include "host_queue.h"

#include "../scope/robots.h"
#include "../url/url.h"

#include <coil/event.h>

#include <errno.h>
#include <stdlib.h>

/* ---- the schedule ------------------------------------------------------------------ */

static void enqueue(struct host *host, struct target *target)
{
    target->link = NULL;
    if (host->queue.first == NULL)
        host->queue.first = target;
    else
        host->queue.last->link = target;
    host->queue.last = target;
    host->queue.count++;
}

static int release_target(struct frontier *frontier, struct target *target)
{
    enqueue(target->host, target);
    return frontier_list_if_ready(frontier, target->host);
}

static int release_host(struct frontier *frontier, struct host *host)
{
    host->is_timed = false;
    return frontier_list_if_ready(frontier, host);
}

static int release_due(struct frontier *frontier)
{
    int64_t now = coil_now();
    int rc = 0;

    while (rc == 0 && schedule_first(&frontier->delays.retries) <= now)
        rc = release_target(frontier, schedule_take(&frontier->delays.retries));
    while (rc == 0 && schedule_first(&frontier->delays.hosts) <= now)
        rc = release_host(frontier, schedule_take(&frontier->delays.hosts));
    return rc == 0 ? frontier_set_timer(frontier) : rc;
}

static void on_time(void *arg)
{
    struct frontier *frontier = arg;
    int rc = release_due(frontier);

    if (rc == 0)
        return;
    frontier->failure = rc;
    frontier_wake_all(frontier);
}

/*
 * A host that is in the list of ready hosts stays there, because take_job() checks the
 * time.
 */
void frontier_pause(struct host *host, int64_t until_ns)
{
    if (until_ns > host->pace.next_ns)
        host->pace.next_ns = until_ns;
}

static void spend_request(struct host *host, int64_t at_ns)
{
    throttle_spend(&host->pace.throttle, at_ns);
    frontier_pause(host, throttle_due(&host->pace.throttle, at_ns));
}

bool frontier_begin_request(struct host *host)
{
    int64_t now = coil_now();
    bool is_rested = host->in_flight <= 1 && now - host->pace.requested_ns >=
                                                 throttle_rest_ns(&host->pace.throttle);

    if (host->pace.delay_ns > 0)
        frontier_pause(host, now + host->pace.delay_ns);
    spend_request(host, now);
    host->pace.requested_ns = now;
    return is_rested;
}

int64_t frontier_take_turn(struct host *host)
{
    int64_t at = coil_now() + host->pace.delay_ns;

    if (at < host->pace.next_ns)
        at = host->pace.next_ns;
    frontier_pause(host, at + host->pace.delay_ns);
    spend_request(host, at);
    return at;
}

void frontier_accept(struct host *host, struct target *target, bool is_rested)
{
    if (host->pace.suspect != NULL && host->pace.suspect != target) {
        host->pace.suspect->refusals = THROTTLE_PAGE_REFUSALS;
        throttle_prove(&host->pace.throttle);
    } else if (is_rested && target->refusals > 0) {
        throttle_disprove(&host->pace.throttle);
    }
    host->pace.suspect = NULL;
    host->pace.is_troubled = false;
    throttle_accept(&host->pace.throttle, coil_now());
}

enum throttle_advice frontier_refuse(struct host *host, struct target *target,
                                     const struct throttle_refusal *refusal)
{
    enum throttle_advice advice = throttle_refuse(&host->pace.throttle, refusal);

    host->pace.suspect = NULL;
    if (advice == THROTTLE_FAILURE)
        return advice;
    host->pace.is_troubled = true;
    if (advice == THROTTLE_FINAL)
        return advice;
    frontier_pause(host, advice == THROTTLE_TEST
                             ? refusal->now_ns + throttle_rest_ns(&host->pace.throttle)
                             : refusal->now_ns + refusal->retry_after_ns);
    frontier_pause(host, throttle_due(&host->pace.throttle, refusal->now_ns));
    if (target == NULL)
        return advice;
    target->refusals += target->refusals < THROTTLE_PAGE_REFUSALS;
    if (refusal->is_rested && throttle_is_test(refusal))
        host->pace.suspect = target;
    return advice;
}

int64_t frontier_spacing_ns(const struct host *host)
{
    int64_t taught_ns =
        host->pace.throttle.rate > 0 ? (int64_t)(1e9 / host->pace.throttle.rate) : 0;

    return taught_ns > host->pace.delay_ns ? taught_ns : host->pace.delay_ns;
}

/* ---- by depth ---------------------------------------------------------------------- */

/* Return true if no target of the current depth is queued or in progress. */
static bool is_depth_over(const struct frontier *frontier)
{
    return frontier->queued == 0 && frontier_job_count(frontier) == 0;
}

static int queue_target(struct frontier *frontier, struct target *target)
{
    target_set_state(target, TARGET_QUEUED);
    enqueue(target->host, target);
    frontier->queued++;
    return frontier_list_if_ready(frontier, target->host);
}

/*
 * Queue the targets of the next depth. Skip targets that are already queued: if its depth
 * was lowered, a target is in later.queue twice.
 */
static int go_deeper(struct frontier *frontier)
{
    struct target *target;
    int rc = 0;

    frontier->later.current = depth_queue_first(&frontier->later.queue);
    while (rc == 0 && (target = depth_queue_take(&frontier->later.queue,
                                                 frontier->later.current)) != NULL) {
        cold_tend(frontier->later.queue.all.cold);
        if (!target_was_queued(target))
            rc = queue_target(frontier, target);
    }
    return rc;
}

/* ---- jobs -------------------------------------------------------------------------- */

/*
 * If `rc` is an error, make frontier_take() fail with `rc` in all workers, including
 * those that are already waiting.
 */
static void note_failure(struct frontier *frontier, int rc)
{
    if (rc == 0)
        return;
    frontier->failure = rc;
    frontier_wake_all(frontier);
}

/*
 * Pass the target to the coordinator if this was not done before. In a crawl by depth,
 * pass it each time, because the coordinator needs its new depth.
 */
static void pass_to_coordinator(const struct frontier *frontier, struct target *target)
{
    const struct frontier_above *above = frontier->options.above;

    if (target_was_queued(target) && !frontier->options.by_depth)
        return;
    if (!target_was_queued(target))
        target_set_state(target, TARGET_QUEUED);
    above->add(above->arg, target);
}

void frontier_add(struct frontier *frontier, struct target *target)
{
    bool is_later = frontier->options.by_depth && target->depth > frontier->later.current;

    if (!target_was_accepted(target))
        target_set_state(target, TARGET_ACCEPTED);
    if (frontier->closed)
        return;
    if (frontier->options.above != NULL)
        pass_to_coordinator(frontier, target);
    else if (target_was_queued(target))
        return;
    else if (frontier->notes_only)
        target_set_state(target, TARGET_NOTED);
    else if (is_later)
        note_failure(frontier,
                     depth_queue_add(&frontier->later.queue, target->depth, target));
    else
        note_failure(frontier, queue_target(frontier, target));
}

void frontier_add_again(struct frontier *frontier, struct target *target)
{
    const struct frontier_above *above = frontier->options.above;

    if (frontier->notes_only)
        target_set_state(target, TARGET_NOTED);
    else if (!frontier->closed && above != NULL)
        above->add(above->arg, target);
    else if (!frontier->closed)
        note_failure(frontier, queue_target(frontier, target));
}

void frontier_lease(struct frontier *frontier, struct target *target)
{
    if (!target_was_accepted(target))
        target_set_state(target, TARGET_ACCEPTED);
    if (!frontier->closed)
        note_failure(frontier, queue_target(frontier, target));
}

void frontier_note_only(struct frontier *frontier)
{
    frontier->notes_only = true;
}

void frontier_noted_is_done(struct frontier *frontier, struct target *target)
{
    target_set_state(target, TARGET_DONE);
    frontier->through++;
}

void frontier_take_noted(struct frontier *frontier, const struct targets *targets)
{
    frontier->notes_only = false;
    for (size_t i = 0; i < targets->count; i++) {
        struct target *target = targets_at(targets, i);

        if (target->refetch == REFETCH_COOKIE) /* the cookies were not saved */
            target->refetch = REFETCH_NONE;
        if (target->state != TARGET_NOTED)
            continue;
        target_set_state(target, TARGET_ACCEPTED);
        frontier_add(frontier, target);
    }
}

static void take_from(struct frontier *frontier, struct host *host,
                      struct frontier_job *job)
{
    *job = (struct frontier_job){.host = host};
    if (host->robots.state == ROBOTS_WANTED) {
        host->robots.state = ROBOTS_REQUESTED;
    } else {
        job->target = host->queue.first;
        host->queue.first = job->target->link;
        job->target->link = NULL;
        host->queue.count--;
        frontier->queued--;
    }
    host->in_flight++;
    frontier->in_flight[host->class]++;
}

/*
 * Take a job without waiting. Returns 1 on success, 0 if no request of the class may be
 * sent now, or -ENOMEM.
 */
static int take_job(struct frontier *frontier, enum frontier_class class,
                    struct frontier_job *job)
{
    while (frontier->ready[class].first != NULL && frontier_has_room(frontier, class)) {
        struct host *host = frontier_first_ready(frontier, class);
        int rc;
        if (host->pace.next_ns <= coil_now() &&
            frontier_may_get_request(frontier, host)) {
            take_from(frontier, host, job);
            rc = frontier_list_if_ready(frontier, host);
            if (frontier->ready[class].first != NULL)
                frontier_wake_one(frontier, class);
            return rc < 0 ? rc : 1;
        }
        rc = frontier_list_if_ready(frontier, host);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int wait_idle(struct frontier *frontier, enum frontier_class class)
{
    struct frontier_idle idle = {.next = frontier->workers.idle, .class = class};
    int rc;

    coil_event_init(&idle.event);
    frontier->workers.idle = &idle;
    rc = coil_event_wait(&idle.event);
    frontier_forget_idle(frontier, &idle);
    if (rc < 0 && coil_event_is_set(&idle.event))
        /* this worker was woken for a job, but was cancelled too: wake another one */
        frontier_wake_one(frontier, class);
    coil_event_finish(&idle.event);
    return rc;
}

int frontier_take(struct frontier *frontier, enum frontier_class class,
                  struct frontier_job *job)
{
    int rc;

    for (;;) {
        if (frontier->failure < 0)
            return frontier->failure;
        if (frontier->closed)
            return -ESHUTDOWN;
        rc = take_job(frontier, class, job);
        if (rc != 0)
            return rc < 0 ? rc : 0;
        if (!is_depth_over(frontier) || frontier->options.above != NULL)
            rc = wait_idle(frontier, class);
        else if (frontier->later.queue.count > 0)
            rc = go_deeper(frontier);
        else
            frontier_close(frontier);
        if (rc < 0)
            return rc;
    }
}

/* Lower the limit of a class to `limit`, but not below 1. */
static void lower_limit(struct frontier *frontier, enum frontier_class class,
                        unsigned limit)
{
    if (limit == 0)
        limit = 1;
    if (limit < frontier->workers.limits[class])
        frontier->workers.limits[class] = limit;
}

/*
 * If the job is the only one of its class, the other class has the descriptors, and is
 * limited instead.
 */
bool frontier_lack(struct frontier *frontier, const struct frontier_job *job)
{
    enum frontier_class class = job->host->class;
    enum frontier_class other =
        class == FRONTIER_SITE ? FRONTIER_EXTERNAL : FRONTIER_SITE;

    if (frontier_job_count(frontier) == 1)
        return ++frontier->workers.lacks < FRONTIER_LACKS;
    if (frontier->in_flight[class] > 1)
        lower_limit(frontier, class, frontier->in_flight[class] - 1);
    else
        lower_limit(frontier, other, frontier->in_flight[other] - 1);
    return true;
}

/* After each REGAIN targets that are finished, raise the limits that were lowered. */
#define REGAIN 100

static void raise_limits(struct frontier *frontier)
{
    frontier->workers.lacks = 0;
    if (frontier->through % REGAIN != 0)
        return;
    for (int class = 0; class < FRONTIER_CLASSES; class ++)
        frontier->workers.limits[class] +=
            frontier->workers.limits[class] < frontier->options.limits[class];
}

/*
 * End the job, and list its host if the host may get another request now. If no target is
 * queued or in progress, wake all workers: the crawl continues with the next depth, or is
 * over.
 */
static void end_job(struct frontier *frontier, const struct frontier_job *job)
{
    int rc;

    job->host->in_flight--;
    frontier->in_flight[job->host->class]--;
    rc = frontier_list_if_ready(frontier, job->host);
    if (rc < 0)
        frontier->failure = rc;
    if (frontier->ready[job->host->class].first != NULL)
        frontier_wake_one(frontier, job->host->class);
    if (is_depth_over(frontier) || rc < 0)
        frontier_wake_all(frontier);
}

void frontier_done(struct frontier *frontier, const struct frontier_job *job)
{
    const struct frontier_above *above = frontier->options.above;

    if (job->target != NULL) {
        frontier->through++;
        raise_limits(frontier);
    }
    if (above != NULL && job->target != NULL)
        above->complete(above->arg, job);
    end_job(frontier, job);
}

static int retry_here(struct frontier *frontier, struct target *target, int64_t at_ns)
{
    int rc = schedule_add(&frontier->delays.retries, at_ns, target);

    if (rc == 0)
        rc = frontier_set_timer(frontier);
    if (rc == 0)
        frontier->queued++;
    return rc;
}

int frontier_retry(struct frontier *frontier, const struct frontier_job *job,
                   int64_t at_ns)
{
    const struct frontier_above *above = frontier->options.above;
    /* If the target is due now, it only had to wait for robots.txt, and keeps its lease.
       */
    bool is_later = at_ns > coil_now();
    int rc;

    if (above != NULL && is_later)
        rc = above->release(above->arg, job, at_ns);
    else
        rc = retry_here(frontier, job->target, at_ns);
    if (rc == 0)
        end_job(frontier, job);
    return rc;
}

static int put_first(struct frontier *frontier, struct target *target)
{
    struct host *host = target->host;

    target->link = host->queue.first;
    host->queue.first = target;
    if (target->link == NULL)
        host->queue.last = target;
    host->queue.count++;
    frontier->queued++;
    return frontier_list_if_ready(frontier, host);
}

int frontier_test(struct frontier *frontier, const struct frontier_job *job)
{
    const struct frontier_above *above = frontier->options.above;
    int rc;

    if (above != NULL)
        rc = above->release(above->arg, job, job->host->pace.next_ns);
    else
        rc = put_first(frontier, job->target);
    if (rc == 0)
        end_job(frontier, job);
    return rc;
}

void frontier_close(struct frontier *frontier)
{
    frontier->closed = true;
    coil_timer_stop(&frontier->delays.timer);
    frontier_wake_all(frontier);
}

size_t frontier_job_count(const struct frontier *frontier)
{
    return frontier->in_flight[FRONTIER_SITE] + frontier->in_flight[FRONTIER_EXTERNAL];
}

size_t frontier_queued_count(const struct frontier *frontier)
{
    return frontier->queued;
}

size_t frontier_finished_count(const struct frontier *frontier)
{
    return frontier->through;
}

/* ---- life cycle -------------------------------------------------------------------- */

void frontier_init(struct frontier *frontier, const struct frontier_options *options)
{
    *frontier =
        (struct frontier){.options = *options, .later.queue.all.cold = options->cold};
    for (int class = 0; class < FRONTIER_CLASSES; class ++) {
        frontier->ready[class].end = &frontier->ready[class].first;
        frontier->workers.limits[class] = options->limits[class];
    }
    coil_timer_init(&frontier->delays.timer, on_time, frontier);
}

void frontier_set_staff(struct frontier *frontier, const struct frontier_staff *staff)
{
    frontier->workers.staff = *staff;
}

void frontier_finish(struct frontier *frontier)
{
    coil_timer_stop(&frontier->delays.timer);
    schedule_finish(&frontier->delays.retries);
    schedule_finish(&frontier->delays.hosts);
    depth_queue_finish(&frontier->later.queue);
    for (size_t i = 0; i < frontier->hosts.capacity; i++) {
        struct host *host = frontier->hosts.slots[i].value;
        if (host == NULL)
            continue;
        robots_destroy(host->robots.rules);
        free(host->robots.failure);
        free((void *)host->headers);
        free(host->origin);
        free(host);
    }
    table_finish(&frontier->hosts);
    *frontier = (struct frontier){.queued = 0};
}
