/*
 * shared.c - connect the frontier of a process to the queues of a shared crawl in Redis.
 *
 *    Redis --> lease_hosts() --> active_run() --> frontier --> workers
 *      ^                             |  ^                        |
 *      '---- complete, release ------'  '---- results, links ----'
 *
 * For each class, a task leases URLs of further hosts as long as too few URLs are leased.
 * For each lease, a task sends the results of its URLs, several at a time, and leases
 * more URLs of its host. One task renews all leases, including those with unsent results.
 *
 * Invariants
 *   1. A target is in the frontier at most once. While it is there, `works` has an entry
 *      for it, with its lease, or with NULL if the lease was lost.
 *   2. The links of a page are sent together with the page's result, or earlier. To
 *      ensure this, only one task sends at a time, and it sends the links of all pages.
 *   3. If a result does not reach Redis before the lease expires, other processes fetch
 *      the URL again.
 */
#include "shared_inside.h"

#include "../base/array.h"

#include <coil/scope.h>
#include <coil/task.h>
#include <coil/timer.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const enum lease_class lease_classes[FRONTIER_CLASSES] = {
    [FRONTIER_SITE] = LEASE_SITE, [FRONTIER_EXTERNAL] = LEASE_EXTERNAL};

/* ---- targets that the frontier has ------------------------------------------------- */

struct shared_work *shared_find_work(const struct shared *shared,
                                     const struct target *target)
{
    for (size_t i = 0; i < shared->works.count; i++)
        if (shared->works.all[i].target == target)
            return &shared->works.all[i];
    return NULL;
}

void shared_detach_work(struct shared_work *work)
{
    if (work->active == NULL)
        return;
    work->active->at_work--;
    coil_event_set(&work->active->changed);
    work->active = NULL;
}

static void drop_work(struct shared *shared, struct shared_work *work)
{
    shared_detach_work(work);
    text_finish(&work->bytes);
    shared->at_work[work->target->host->class]--;
    *work = shared->works.all[--shared->works.count];
    coil_event_set(&shared->active.has_room);
}

struct shared_work *shared_add_work(struct shared *shared, struct target *target)
{
    struct shared_work *work;

    if (shared->works.count == shared->works.capacity &&
        array_grow(&shared->works.all, &shared->works.capacity, sizeof *work) < 0)
        return NULL;
    work = &shared->works.all[shared->works.count++];
    *work = (struct shared_work){.target = target};
    shared->at_work[target->host->class]++;
    frontier_lease(shared->options.frontier, target);
    return work;
}

bool shared_may_fetch(const struct shared *shared, const struct target *target)
{
    const struct shared_work *work = shared_find_work(shared, target);

    return work != NULL && work->active != NULL && coil_now() < work->active->until_ns;
}

bool shared_has_given_up(const struct shared *shared, const struct target *target)
{
    const struct shared_work *work = shared_find_work(shared, target);

    return work != NULL && work->is_given_up;
}

int shared_bring(struct shared *shared, const struct target *target, const void *bytes,
                 size_t n)
{
    struct shared_work *work = shared_find_work(shared, target);

    if (work == NULL)
        return 0;
    work->bytes.n = 0;
    text_add(&work->bytes, bytes, n);
    return work->bytes.failed ? -ENOMEM : 0;
}

size_t active_unsent_count(const struct active_lease *active)
{
    return active->result_count + active->release_count;
}

/* Record the time, if no other result or release is waiting to be sent. */
static void note_time(struct active_lease *active)
{
    if (active_unsent_count(active) == 0)
        active->first_ns = coil_now();
}

/*
 * Store a copy of a result, to be sent later. Returns false if memory runs out. In that
 * case, a process will fetch the URL again when the lease has expired.
 */
static bool add_result(struct active_lease *active, int64_t number, const void *bytes,
                       size_t n)
{
    char *copy;

    if (active->result_count == active->result_capacity &&
        array_grow(&active->results, &active->result_capacity, sizeof *active->results) <
            0)
        return false;
    copy = malloc(n);
    if (copy == NULL)
        return false;
    memcpy(copy, bytes, n);
    note_time(active);
    active->results[active->result_count++] = (struct lease_result){number, copy, n};
    return true;
}

/* ---- sitemaps that a robots.txt names ---------------------------------------------- */

static struct active_lease *active_of_host(const struct shared *shared,
                                           const struct host *host)
{
    for (size_t i = 0; i < shared->works.count; i++) {
        struct active_lease *active = shared->works.all[i].active;

        if (active != NULL && active->host == host && !active->lease.is_lost)
            return active;
    }
    return NULL;
}

void shared_refetch_robots(struct host *host)
{
    host->robots.has_lost_sitemaps = false;
    if (!host->robots.has_reported_sitemaps && host->robots.state == ROBOTS_KNOWN)
        host->robots.state = ROBOTS_WANTED;
}

void shared_forget_sitemaps(const struct shared *shared, struct host *host)
{
    host->robots.has_lost_sitemaps |= host->robots.has_reported_sitemaps;
    host->robots.has_reported_sitemaps = false;
    if (host->robots.has_lost_sitemaps && active_of_host(shared, host) != NULL)
        shared_refetch_robots(host);
}

void active_forget_unsent_sitemaps(const struct active_lease *active,
                                   const struct lease_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].number == LEASE_SITEMAPS)
            shared_forget_sitemaps(active->shared, active->host);
}

void shared_bring_sitemaps(struct shared *shared, struct host *host, const void *bytes,
                           size_t n)
{
    struct active_lease *active = active_of_host(shared, host);

    if (active != NULL && add_result(active, LEASE_SITEMAPS, bytes, n))
        coil_event_set(&active->changed);
    else
        shared_forget_sitemaps(shared, host);
}

/* ---- callbacks from the frontier --------------------------------------------------- */

static enum lease_class class_of(const struct target *target)
{
    return target->state == TARGET_HELD ? LEASE_HELD : lease_classes[target->host->class];
}

static void on_add(void *arg, struct target *target)
{
    struct shared *shared = arg;
    struct lease_url url = {.url = target->url,
                            .class = class_of(target),
                            .flags = (target->is_sitemap ? LEASE_SITEMAP : 0) |
                                     (target->wants_body ? LEASE_IDS : 0) |
                                     (target->is_start ? LEASE_START : 0),
                            .hops = target->hops,
                            .depth = target->depth};

    leases_link(shared->options.leases, &shared->links, &url);
}

void shared_hold(struct shared *shared, struct target *target)
{
    on_add(shared, target);
}

void shared_add_origin(struct shared *shared, const char *url)
{
    leases_origin(&shared->links, url);
}

static void on_complete(void *arg, const struct frontier_job *job)
{
    struct shared *shared = arg;
    struct shared_work *work = shared_find_work(shared, job->target);

    if (work == NULL)
        return;
    if (work->active != NULL && work->bytes.n > 0)
        add_result(work->active, work->number, work->bytes.at, work->bytes.n);
    drop_work(shared, work);
}

/*
 * Return the number of tries without refused requests, because items do not contain the
 * number of refusals.
 */
static uint8_t tries_of(const struct target *target)
{
    return target->tries > target->refusals ? target->tries - target->refusals : 0;
}

static int on_release(void *arg, const struct frontier_job *job, int64_t at_ns)
{
    struct shared *shared = arg;
    struct shared_work *work = shared_find_work(shared, job->target);
    struct active_lease *active = work != NULL ? work->active : NULL;

    if (active != NULL) {
        if (active->release_count == active->release_capacity &&
            array_grow(&active->releases, &active->release_capacity,
                       sizeof *active->releases) < 0)
            return -ENOMEM;
        note_time(active);
        active->releases[active->release_count++] =
            (struct active_release){work->number, at_ns, tries_of(job->target)};
    }
    if (work != NULL)
        drop_work(shared, work);
    return 0;
}

/* ---- leasing ----------------------------------------------------------------------- */

bool shared_has_room(const struct shared *shared, enum frontier_class class)
{
    if (shared->active.sending >= SENDING_MOST)
        return false;
    return shared->at_work[class] < shared->options.ahead ||
           (shared->active.count < LEASES_MOST &&
            frontier_has_room(shared->options.frontier, class));
}

static int wait_for_room(struct shared *shared, enum frontier_class class)
{
    coil_scope scope;
    int rc = 0;

    while (rc == 0 && !shared_has_room(shared, class)) {
        coil_event_clear(&shared->active.has_room);
        rc = coil_scope_enter(&scope, coil_in(POLL_NS));
        if (rc == 0)
            rc = coil_scope_exit(&scope, coil_event_wait(&shared->active.has_room));
        if (rc == -ETIMEDOUT)
            rc = 0;
    }
    return rc;
}

/*
 * Spawn the task of a lease, which frees `active`. The task starts eagerly, because it
 * could not free `active` if it were cancelled before it starts.
 */
static int spawn_lease_task(struct shared *shared, struct active_lease *active)
{
    coil_spawn_opts opts = {.name = "lease", .eager = true};
    int rc = coil_group_spawn(&shared->group, active_run, active, &opts, NULL);

    if (rc < 0)
        active_destroy(active);
    return rc;
}

/*
 * Lease URLs of one host, and spawn the task of the lease. Returns the same values as
 * leases_acquire().
 */
static int lease_host(struct shared *shared, enum frontier_class class, int64_t *wait_ns)
{
    struct active_lease *active = calloc(1, sizeof *active);
    int rc;

    if (active == NULL)
        return -ENOMEM;
    shared->active.count++;
    active->class = class;
    active_link(shared, active);
    rc = leases_acquire(shared->options.leases, lease_classes[class],
                        shared->options.most, &active->lease, wait_ns);
    if (rc <= 0) {
        active_destroy(active);
        return rc;
    }
    shared_forget_if_restarted(shared);
    rc = spawn_lease_task(shared, active);
    return rc < 0 ? rc : 1;
}

/*
 * Lease held URLs, and move them to their real classes. Returns the same values as
 * leases_acquire().
 */
static int lease_held(struct shared *shared, int64_t *wait_ns)
{
    struct active_lease active = {.host = NULL};
    int rc;

    active_link(shared, &active);
    rc = leases_acquire(shared->options.leases, LEASE_HELD, shared->options.most,
                        &active.lease, wait_ns);
    if (rc == 1) {
        shared_forget_if_restarted(shared);
        rc = active_move_all(&active);
        rc = rc < 0 ? rc : 1;
    }
    active_unlink(&active);
    return rc;
}

static int64_t min_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/*
 * Return how long to pause after leases_acquire() returned `rc`, or `rc` if this error
 * ends the crawl. If no work was available, the pause is wait_ns, but at most *poll_ns.
 * After that, *poll_ns is doubled, up to POLL_LONGEST_NS.
 */
static int64_t pause_after(int rc, int64_t wait_ns, int64_t *poll_ns)
{
    if (rc == 0) {
        int64_t pause_ns = min_ns(wait_ns, *poll_ns);
        *poll_ns = min_ns(2 * *poll_ns, POLL_LONGEST_NS);
        return pause_ns;
    }
    if (rc == -ENOBUFS)
        return FULL_NS;
    return redis_may_pass(rc) ? RETRY_NS : rc;
}

/* Wait for work after leases_acquire() has returned `rc`. Returns 0 if the caller must
   try again, 1 if the crawl is over, or a negative errno. */
static int wait_for_more(struct shared *shared, int rc, int64_t wait_ns, int64_t *poll_ns)
{
    int64_t pause_ns = pause_after(rc, wait_ns, poll_ns);

    if (rc == -ENODATA)
        return 1;
    if (pause_ns < 0)
        return (int)pause_ns;
    rc = shared_update_site(shared);
    return rc == 0 ? coil_sleep(pause_ns) : rc;
}

static int lease_hosts(struct shared *shared, enum frontier_class class)
{
    int64_t wait_ns = 0, poll_ns = POLL_NS;
    int rc = 0;

    while (rc == 0 && (rc = wait_for_room(shared, class)) == 0) {
        rc = lease_host(shared, class, &wait_ns);
        if (rc == 1) {
            poll_ns = POLL_NS;
            rc = shared_update_site(shared);
        } else {
            rc = wait_for_more(shared, rc, wait_ns, &poll_ns);
        }
    }
    return rc == 1 ? 0 : rc;
}

static int lease_sites(void *arg)
{
    return lease_hosts(arg, FRONTIER_SITE);
}

static int lease_others(void *arg)
{
    return lease_hosts(arg, FRONTIER_EXTERNAL);
}

static int lease_held_urls(void *arg)
{
    struct shared *shared = arg;
    int64_t wait_ns = 0, poll_ns = POLL_NS;
    int rc = 0;

    while (rc == 0) {
        rc = lease_held(shared, &wait_ns);
        if (rc == 1) {
            poll_ns = POLL_NS;
            rc = 0;
        } else {
            rc = wait_for_more(shared, rc, wait_ns, &poll_ns);
        }
    }
    return rc == 1 ? 0 : rc;
}

/*
 * True if the lease must be renewed, because half of its duration has passed. False if
 * its task has been unable to send for several lease durations: such a lease expires, so
 * that other processes get its URLs.
 */
static bool wants_renewal(const struct active_lease *active, int64_t now)
{
    int64_t span_ns = active->shared->options.leases->span_ns;

    return active->lease.token[0] != '\0' && !active->lease.is_lost &&
           active->until_ns - now < span_ns / 2 &&
           (active->sending_ns == 0 ||
            now - active->sending_ns < SENDING_SPANS_MOST * span_ns);
}

static void note_renewal(struct shared *shared, const struct lease_renewal *renewal,
                         int64_t until_ns)
{
    struct active_lease *active = shared->active.first;

    while (active != NULL && strcmp(active->lease.token, renewal->token) != 0)
        active = active->next;
    if (active == NULL)
        return; /* the lease has ended in the meantime */
    if (!renewal->is_lost)
        active_note_expiry(active, until_ns);
    active->lease.is_lost |= renewal->is_lost;
    coil_event_set(&active->changed);
}

/*
 * Renew up to RENEWED_AT_ONCE leases that must be renewed. Returns their number, or a
 * negative errno.
 */
static int renew_some(struct shared *shared)
{
    struct lease_renewal due[RENEWED_AT_ONCE];
    int64_t now = coil_now(), until_ns = shared_lease_expiry(shared);
    int count = 0, rc;

    for (struct active_lease *active = shared->active.first;
         active != NULL && count < RENEWED_AT_ONCE; active = active->next)
        if (wants_renewal(active, now))
            memcpy(due[count++].token, active->lease.token, sizeof active->lease.token);
    if (count == 0)
        return 0;
    rc = leases_renew(shared->options.leases, due, (size_t)count);
    for (int i = 0; rc == 0 && i < count; i++)
        note_renewal(shared, &due[i], until_ns);
    return rc < 0 ? rc : count;
}

static int renew_all(void *arg)
{
    struct shared *shared = arg;
    int64_t pause_ns = min_ns(UPKEEP_NS, shared->options.leases->span_ns / 4);
    int rc = 0;

    while (rc == 0 && (rc = coil_sleep(pause_ns)) == 0) {
        do
            rc = renew_some(shared);
        while (rc == RENEWED_AT_ONCE);
        if (rc > 0 || redis_may_pass(rc))
            rc = 0;
    }
    return rc;
}

/*
 * End the expired leases of all processes, at regular intervals. The script that acquires
 * a lease does this too, but it may not run for a long time while all workers are busy.
 */
static int reap(void *arg)
{
    struct shared *shared = arg;
    int rc = 0;

    while (rc == 0 && (rc = coil_sleep(UPKEEP_NS)) == 0) {
        rc = leases_reap(shared->options.leases);
        if (redis_may_pass(rc))
            rc = 0;
    }
    return rc;
}

static int add_starts(struct shared *shared)
{
    struct redis_words links = shared->links;
    int rc;

    shared->links = (struct redis_words){.count = 0};
    do
        rc = leases_add(shared->options.leases, &links);
    while (shared_must_repeat(&rc));
    redis_words_finish(&links);
    return rc;
}

/* Lease URLs until the crawl is over. */
static int lease_all(struct shared *shared)
{
    int rc;

    coil_group_enter(&shared->group);
    rc = coil_group_spawn(&shared->group, lease_sites, shared, NULL, NULL);
    if (rc == 0 && shared->options.has_external)
        rc = coil_group_spawn(&shared->group, lease_others, shared, NULL, NULL);
    if (rc == 0 && shared->options.crawl != NULL)
        rc = coil_group_spawn(&shared->group, lease_held_urls, shared, NULL, NULL);
    return coil_group_exit(&shared->group, rc);
}

/*
 * Release all leases of this process, including one of which it does not know because the
 * reply was not received.
 */
static void leave(struct shared *shared)
{
    coil_scope scope;

    if (coil_scope_enter_shielded(&scope, coil_in(LEAVE_NS)) < 0)
        return;
    coil_scope_exit(&scope, leases_leave(shared->options.leases));
}

int shared_run(void *arg)
{
    struct shared *shared = arg;
    coil_group group;
    int rc = add_starts(shared);

    if (rc < 0)
        return rc;
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, reap, shared, NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, renew_all, shared, NULL, NULL);
    if (rc == 0)
        rc = lease_all(shared);
    coil_group_cancel(&group, "the crawl is over");
    rc = coil_group_exit(&group, rc);
    if (rc < 0)
        leave(shared);
    frontier_close(shared->options.frontier);
    return rc;
}

/* ---- life cycle -------------------------------------------------------------------- */

void shared_init(struct shared *shared, const struct shared_options *options)
{
    *shared = (struct shared){.above = {on_add, on_complete, on_release, shared},
                              .options = *options,
                              .restarts = redis_restarts(options->leases->redis)};
    coil_event_init(&shared->active.has_room);
    coil_lock_init(&shared->active.completing);
}

void shared_finish(struct shared *shared)
{
    while (shared->works.count > 0)
        drop_work(shared, &shared->works.all[shared->works.count - 1]);
    free(shared->works.all);
    redis_words_finish(&shared->links);
    coil_event_finish(&shared->active.has_room);
    coil_lock_finish(&shared->active.completing);
    *shared = (struct shared){.works.count = 0};
}
