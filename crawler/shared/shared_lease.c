/*
 * shared_lease.c - handle one lease: its targets, its results, and its release.
 */
#include "shared_inside.h"

#include "../base/array.h"

#include <coil/scope.h>
#include <coil/task.h>
#include <coil/timer.h>

#include <errno.h>
#include <stdlib.h>

/* ---- leased URLs to the frontier --------------------------------------------------- */

static void fill(struct target *target, const struct lease_url *url)
{
    target->kind = url->class == LEASE_EXTERNAL ? TARGET_EXTERNAL : TARGET_SITE;
    if (!target_was_accepted(target))
        target_set_state(target, TARGET_ACCEPTED);
    target->depth = (uint16_t)url->depth;
    target->hops = (uint8_t)url->hops;
    target->tries = (uint8_t)(url->tries + target->refusals);
    target->is_sitemap |= (url->flags & LEASE_SITEMAP) != 0;
    target->wants_body |= (url->flags & LEASE_IDS) != 0;
    target->is_start |= (url->flags & LEASE_START) != 0;
}

/*
 * Pass a leased URL to the frontier. If its target is already in the frontier because of
 * an earlier lease that was lost, only update its lease. (Invariant 1)
 */
static int add_leased_item(struct active_lease *active, struct lease_item *item)
{
    struct shared *shared = active->shared;
    struct target *target;
    struct shared_work *work;
    bool is_new;

    target = targets_get(shared->options.targets, item->url.url, 0, &is_new);
    if (target == NULL)
        return -ENOMEM;
    if (shared->options.crawl != NULL)
        shared->options.crawl->take(shared->options.crawl->arg, target);
    fill(target, &item->url);
    target->host = active->host;
    work = shared_find_work(shared, target);
    if (work == NULL)
        work = shared_add_work(shared, target);
    else
        shared_detach_work(work);
    if (work == NULL)
        return -ENOMEM;
    work->active = active;
    work->number = item->number;
    work->is_given_up = (item->url.flags & LEASE_GIVEN_UP) != 0;
    active->at_work++;
    item->is_known = true;
    return 0;
}

static int add_new_items(struct active_lease *active)
{
    int rc = 0;

    for (size_t i = 0; i < active->lease.count && rc == 0; i++)
        if (!active->lease.items[i].is_known)
            rc = add_leased_item(active, &active->lease.items[i]);
    return rc;
}

static int take_host(struct active_lease *active)
{
    struct host *host = frontier_host(active->shared->options.frontier,
                                      active->lease.items[0].url.url, active->class);

    if (host == NULL)
        return -ENOMEM;
    active->host = host;
    host->pace.is_troubled |= active->lease.is_troubled;
    host->robots.has_reported_sitemaps |= active->lease.has_reported_sitemaps;
    if (host->robots.has_lost_sitemaps)
        shared_refetch_robots(host);
    frontier_pause(host, coil_now() + active->lease.pause_ns);
    return 0;
}

/* Reset the state of a target, unless it is held. */
static void forget(const struct targets *targets, struct target *target)
{
    if (target->state == TARGET_HELD)
        return;
    target_set_state(target, TARGET_MET);
    targets_remember(targets, target);
}

/*
 * Reset the state of all targets: to TARGET_ACCEPTED if they are in the frontier, where
 * they remain queued, and to TARGET_MET otherwise.
 */
static void forget_targets(struct shared *shared)
{
    const struct targets *targets = shared->options.targets;

    for (size_t i = 0; i < targets->count; i++) {
        forget(targets, targets_at(targets, i));
        cold_tend(targets->all.cold);
    }
    for (size_t i = 0; i < shared->works.count; i++)
        target_set_state(shared->works.all[i].target, TARGET_ACCEPTED);
}

void shared_forget_if_restarted(struct shared *shared)
{
    const struct table *hosts = &shared->options.frontier->hosts;
    unsigned restarts = redis_restarts(shared->options.leases->redis);

    if (restarts == shared->restarts)
        return;
    shared->restarts = restarts;
    forget_targets(shared);
    for (size_t i = 0; i < hosts->capacity; i++)
        if (hosts->slots[i].value != NULL)
            shared_forget_sitemaps(shared, hosts->slots[i].value);
}

/* ---- results and released URLs to Redis -------------------------------------------- */

bool shared_must_repeat(int *rc)
{
    int slept;

    if (!redis_may_pass(*rc))
        return false;
    slept = coil_sleep(RETRY_NS);
    if (slept < 0)
        *rc = slept;
    return slept == 0;
}

int64_t shared_lease_expiry(const struct shared *shared)
{
    int64_t span_ns = shared->options.leases->span_ns;

    return coil_now() + span_ns - span_ns / 10;
}

void active_note_expiry(struct active_lease *active, int64_t until_ns)
{
    if (active->until_ns < until_ns)
        active->until_ns = until_ns;
}

static unsigned more_of(const struct active_lease *active)
{
    const struct shared_options *options = &active->shared->options;
    size_t count = active->lease.count, left;

    /*
     * There may be more results than items, because sitemaps are a result without an
     * item.
     */
    left = count > active->result_count ? count - active->result_count : 0;
    if (active->shared->at_work[active->class] >= options->ahead || left >= options->most)
        return 0;
    return options->most - (unsigned)left;
}

static void free_results(struct lease_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((void *)results[i].bytes);
    free(results);
}

/*
 * Complete the URLs of some results, and send all links. The caller must hold the lock:
 * see invariant 2 of shared.c. Returns the number of results that Redis ignored, or a
 * negative errno.
 */
static int complete(struct active_lease *active, struct lease_done *done)
{
    struct shared *shared = active->shared;
    struct redis_words links = shared->links;
    int64_t until_ns;
    int rc;

    shared->links = (struct redis_words){.count = 0};
    done->links = &links;
    do {
        until_ns = shared_lease_expiry(shared);
        rc = lease_complete(shared->options.leases, &active->lease, done);
    } while (shared_must_repeat(&rc));
    if (rc >= 0)
        active_note_expiry(active, until_ns);
    shared_forget_if_restarted(shared);
    redis_words_finish(&links);
    if (rc < 0)
        shared->failure = rc; /* send no more results, because links may be lost */
    return rc;
}

static int complete_alone(struct active_lease *active, struct lease_done *done)
{
    struct shared *shared = active->shared;
    int rc;

    shared->active.sending++;
    active->sending_ns = coil_now();
    rc = coil_lock_acquire(&shared->active.completing);
    if (rc == 0) {
        rc = shared->failure;
        if (rc == 0)
            rc = complete(active, done);
        coil_lock_release(&shared->active.completing);
    }
    active->sending_ns = 0;
    shared->active.sending--;
    coil_event_set(&shared->active.has_room);
    return rc;
}

static int send_results(struct active_lease *active)
{
    struct lease_done done = {.results = active->results,
                              .count = active->result_count,
                              .more = more_of(active),
                              .pause_ns = active->host->pace.next_ns - coil_now(),
                              .is_troubled = active->host->pace.is_troubled};
    int rc;

    active->results = NULL;
    active->result_count = active->result_capacity = 0;
    rc = complete_alone(active, &done);
    if (rc >= 0)
        frontier_pause(active->host, coil_now() + active->lease.pause_ns);
    if (rc != 0)
        active_forget_unsent_sitemaps(active, done.results, done.count);
    free_results((struct lease_result *)done.results, done.count);
    return rc < 0 ? rc : 0;
}

static int send_release(struct active_lease *active, const struct active_release *release)
{
    struct lease *lease = &active->lease;
    int rc = 0;

    do {
        int64_t now = coil_now();
        size_t i = 0;

        while (i < lease->count && lease->items[i].number != release->number)
            i++;
        if (i == lease->count)
            return 0; /* it is no longer in the lease */
        lease->items[i].url.tries = release->tries;
        rc = lease_release(active->shared->options.leases, lease, i, release->at_ns - now,
                           active->host->pace.next_ns - now,
                           active->host->pace.is_troubled);
    } while (shared_must_repeat(&rc));
    return rc;
}

static int send_releases(struct active_lease *active)
{
    int rc = 0;

    while (rc == 0 && active->release_count > 0) {
        struct active_release release = active->releases[--active->release_count];
        rc = send_release(active, &release);
    }
    return rc;
}

/* ---- a lease ----------------------------------------------------------------------- */

static bool is_due(const struct active_lease *active, int64_t now)
{
    size_t count = active_unsent_count(active);

    return active->at_work == 0 || count >= RESULTS_AT_ONCE ||
           (count > 0 && now - active->first_ns >= LINGER_NS);
}

static int wait_until(struct active_lease *active, int64_t until_ns)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, until_ns);

    if (rc < 0)
        return rc;
    rc = coil_scope_exit(&scope, coil_event_wait(&active->changed));
    return rc == -ETIMEDOUT ? 0 : rc;
}

/* Wait until results are due to be sent, all targets are done, or the lease is lost. */
static int wait_for_change(struct active_lease *active)
{
    int rc = 0;

    while (rc == 0 && !active->lease.is_lost && !is_due(active, coil_now())) {
        coil_event_clear(&active->changed);
        rc = wait_until(active, active_unsent_count(active) > 0
                                    ? active->first_ns + LINGER_NS
                                    : COIL_NEVER);
    }
    return rc;
}

/*
 * Send the results, and release items. Releasing must come last, because it ends the
 * lease if no other items are left.
 */
static int send_all(struct active_lease *active)
{
    int rc = active->result_count > 0 ? send_results(active) : 0;

    return rc == 0 ? send_releases(active) : rc;
}

/* Release the remaining items of the lease, even if the task is cancelled. */
static void give_back(struct active_lease *active)
{
    const struct host *host = active->host;
    int64_t pause_ns = host != NULL ? host->pace.next_ns - coil_now() : 0;
    coil_scope scope;
    int rc;

    if (active->lease.token[0] == '\0' || active->lease.is_lost)
        return;
    if (coil_scope_enter_shielded(&scope, coil_in(LEAVE_NS)) < 0)
        return;
    rc = lease_release_all(active->shared->options.leases, &active->lease, pause_ns,
                           host != NULL && host->pace.is_troubled);
    coil_scope_exit(&scope, rc);
}

void active_link(struct shared *shared, struct active_lease *active)
{
    active->shared = shared;
    active->until_ns = shared_lease_expiry(shared);
    active->next = shared->active.first;
    shared->active.first = active;
    coil_event_init(&active->changed);
}

void active_unlink(struct active_lease *active)
{
    struct active_lease **at = &active->shared->active.first;

    while (*at != active)
        at = &(*at)->next;
    *at = active->next;
    coil_event_finish(&active->changed);
}

void active_destroy(struct active_lease *active)
{
    struct shared *shared = active->shared;

    for (size_t i = 0; i < shared->works.count; i++)
        if (shared->works.all[i].active == active)
            shared_detach_work(&shared->works.all[i]);
    active_unlink(active);
    shared->active.count--;
    coil_event_set(&shared->active.has_room);
    active_forget_unsent_sitemaps(active, active->results, active->result_count);
    free_results(active->results, active->result_count);
    free(active->releases);
    lease_finish(&active->lease);
    free(active);
}

int active_run(void *arg)
{
    struct active_lease *active = arg;
    int rc = take_host(active);

    if (rc == 0)
        rc = add_new_items(active);
    while (rc == 0 && active->at_work + active_unsent_count(active) > 0 &&
           !active->lease.is_lost) {
        rc = wait_for_change(active);
        if (rc == 0)
            rc = send_all(active);
        if (rc == 0)
            rc = add_new_items(active);
    }
    give_back(active);
    active_destroy(active);
    return rc;
}

/* ---- held URLs and the extent of the site ------------------------------------------ */

static int end_starts(struct shared *shared)
{
    const struct shared_crawl *crawl = shared->options.crawl;

    if (shared->knows_site)
        return 0;
    shared->knows_site = true;
    return crawl->end_starts(crawl->arg);
}

int shared_update_site(struct shared *shared)
{
    const struct shared_crawl *crawl = shared->options.crawl;
    struct leases *leases = shared->options.leases;
    int64_t starts = leases->starts, origins = leases->origins;
    int rc = 0;

    if (crawl == NULL || shared->knows_site)
        return 0;
    if (origins != shared->origins)
        rc = leases_origins(leases, crawl->add_origin, crawl->arg);
    if (rc == 0)
        shared->origins = origins;
    if (rc == 0 && starts == 0)
        rc = end_starts(shared);
    return redis_may_pass(rc) ? 0 : rc;
}

/*
 * Enqueue the leased URLs in their real classes, and complete them in the class of held
 * URLs.
 */
static int place_some(struct active_lease *active)
{
    const struct shared_options *options = &active->shared->options;
    const struct shared_crawl *crawl = options->crawl;
    const struct lease *lease = &active->lease;
    struct lease_done done = {.count = lease->count, .more = options->most};
    struct lease_result *results = calloc(lease->count, sizeof *results);
    int rc = results != NULL ? 0 : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < lease->count; i++) {
        results[i].number = lease->items[i].number;
        rc = crawl->place(crawl->arg, &lease->items[i].url);
    }
    done.results = results;
    if (rc == 0)
        rc = complete_alone(active, &done);
    free(results);
    return rc < 0 ? rc : 0;
}

int active_move_all(struct active_lease *active)
{
    int rc = shared_update_site(active->shared);

    while (rc == 0 && active->shared->knows_site && active->lease.count > 0)
        rc = place_some(active);
    give_back(active);
    lease_finish(&active->lease);
    return rc;
}
