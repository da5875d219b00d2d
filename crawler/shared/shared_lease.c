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
static int add_leased_item(struct held *held, struct lease_item *item)
{
    struct shared *shared = held->shared;
    struct target *target;
    struct shared_work *work;
    bool is_new;

    target = targets_get(shared->options.targets, item->url.url, 0, &is_new);
    if (target == NULL)
        return -ENOMEM;
    if (shared->options.crawl != NULL)
        shared->options.crawl->take(shared->options.crawl->arg, target);
    fill(target, &item->url);
    target->host = held->host;
    work = held_find_work(shared, target);
    if (work == NULL)
        work = held_add_work(shared, target);
    else
        held_leave(work);
    if (work == NULL)
        return -ENOMEM;
    work->held = held;
    work->number = item->number;
    work->is_given_up = (item->url.flags & LEASE_GIVEN_UP) != 0;
    held->at_work++;
    item->is_known = true;
    return 0;
}

static int add_new_items(struct held *held)
{
    int rc = 0;

    for (size_t i = 0; i < held->lease.count && rc == 0; i++)
        if (!held->lease.items[i].is_known)
            rc = add_leased_item(held, &held->lease.items[i]);
    return rc;
}

static int take_host(struct held *held)
{
    struct host *host = frontier_host(held->shared->options.frontier,
                                      held->lease.items[0].url.url, held->class);

    if (host == NULL)
        return -ENOMEM;
    held->host = host;
    host->pace.is_troubled |= held->lease.is_troubled;
    host->robots.has_reported_sitemaps |= held->lease.has_reported_sitemaps;
    if (host->robots.has_lost_sitemaps)
        held_ask_for_robots_again(host);
    frontier_pause(host, coil_now() + held->lease.pause_ns);
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

void held_forget_if_restarted(struct shared *shared)
{
    const struct table *hosts = &shared->options.frontier->hosts;
    unsigned restarts = redis_restarts(shared->options.leases->redis);

    if (restarts == shared->restarts)
        return;
    shared->restarts = restarts;
    forget_targets(shared);
    for (size_t i = 0; i < hosts->capacity; i++)
        if (hosts->slots[i].value != NULL)
            held_forget_sitemaps(shared, hosts->slots[i].value);
}

/* ---- results and released URLs to Redis -------------------------------------------- */

bool held_is_to_repeat(int *rc)
{
    int slept;

    if (!redis_may_pass(*rc))
        return false;
    slept = coil_sleep(AGAIN_NS);
    if (slept < 0)
        *rc = slept;
    return slept == 0;
}

int64_t held_expiry(const struct shared *shared)
{
    int64_t span_ns = shared->options.leases->span_ns;

    return coil_now() + span_ns - span_ns / 10;
}

void held_note_expiry(struct held *held, int64_t until_ns)
{
    if (held->until_ns < until_ns)
        held->until_ns = until_ns;
}

static unsigned more_of(const struct held *held)
{
    const struct shared_options *options = &held->shared->options;
    size_t count = held->lease.count, left;

    /*
     * There may be more results than items, because sitemaps are a result without an
     * item.
     */
    left = count > held->result_count ? count - held->result_count : 0;
    if (held->shared->at_work[held->class] >= options->ahead || left >= options->most)
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
static int complete(struct held *held, struct lease_done *done)
{
    struct shared *shared = held->shared;
    struct redis_words links = shared->links;
    int64_t until_ns;
    int rc;

    shared->links = (struct redis_words){.count = 0};
    done->links = &links;
    do {
        until_ns = held_expiry(shared);
        rc = lease_complete(shared->options.leases, &held->lease, done);
    } while (held_is_to_repeat(&rc));
    if (rc >= 0)
        held_note_expiry(held, until_ns);
    held_forget_if_restarted(shared);
    redis_words_finish(&links);
    if (rc < 0)
        shared->failure = rc; /* send no more results, because links may be lost */
    return rc;
}

static int complete_alone(struct held *held, struct lease_done *done)
{
    struct shared *shared = held->shared;
    int rc;

    shared->held.sending++;
    held->sending_ns = coil_now();
    rc = coil_lock_acquire(&shared->held.completing);
    if (rc == 0) {
        rc = shared->failure;
        if (rc == 0)
            rc = complete(held, done);
        coil_lock_release(&shared->held.completing);
    }
    held->sending_ns = 0;
    shared->held.sending--;
    coil_event_set(&shared->held.has_room);
    return rc;
}

static int send_results(struct held *held)
{
    struct lease_done done = {.results = held->results,
                              .count = held->result_count,
                              .more = more_of(held),
                              .pause_ns = held->host->pace.next_ns - coil_now(),
                              .is_troubled = held->host->pace.is_troubled};
    int rc;

    held->results = NULL;
    held->result_count = held->result_capacity = 0;
    rc = complete_alone(held, &done);
    if (rc >= 0)
        frontier_pause(held->host, coil_now() + held->lease.pause_ns);
    if (rc != 0)
        held_forget_unsent_sitemaps(held, done.results, done.count);
    free_results((struct lease_result *)done.results, done.count);
    return rc < 0 ? rc : 0;
}

static int send_back(struct held *held, const struct held_back *back)
{
    struct lease *lease = &held->lease;
    int rc = 0;

    do {
        int64_t now = coil_now();
        size_t i = 0;

        while (i < lease->count && lease->items[i].number != back->number)
            i++;
        if (i == lease->count)
            return 0; /* it is no longer in the lease */
        lease->items[i].url.tries = back->tries;
        rc = lease_release(held->shared->options.leases, lease, i, back->at_ns - now,
                           held->host->pace.next_ns - now, held->host->pace.is_troubled);
    } while (held_is_to_repeat(&rc));
    return rc;
}

static int send_backs(struct held *held)
{
    int rc = 0;

    while (rc == 0 && held->back_count > 0) {
        struct held_back back = held->backs[--held->back_count];
        rc = send_back(held, &back);
    }
    return rc;
}

/* ---- a lease ----------------------------------------------------------------------- */

static bool is_due(const struct held *held, int64_t now)
{
    size_t count = held_unsent_count(held);

    return held->at_work == 0 || count >= RESULTS_AT_ONCE ||
           (count > 0 && now - held->first_ns >= LINGER_NS);
}

static int wait_until(struct held *held, int64_t until_ns)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, until_ns);

    if (rc < 0)
        return rc;
    rc = coil_scope_exit(&scope, coil_event_wait(&held->changed));
    return rc == -ETIMEDOUT ? 0 : rc;
}

/* Wait until results are due to be sent, all targets are done, or the lease is lost. */
static int wait_for_change(struct held *held)
{
    int rc = 0;

    while (rc == 0 && !held->lease.is_lost && !is_due(held, coil_now())) {
        coil_event_clear(&held->changed);
        rc = wait_until(held, held_unsent_count(held) > 0 ? held->first_ns + LINGER_NS
                                                          : COIL_NEVER);
    }
    return rc;
}

/*
 * Send the results, and release items. Releasing must come last, because it ends the
 * lease if no other items are left.
 */
static int send_all(struct held *held)
{
    int rc = held->result_count > 0 ? send_results(held) : 0;

    return rc == 0 ? send_backs(held) : rc;
}

/* Release the remaining items of the lease, even if the task is cancelled. */
static void give_back(struct held *held)
{
    const struct host *host = held->host;
    int64_t pause_ns = host != NULL ? host->pace.next_ns - coil_now() : 0;
    coil_scope scope;
    int rc;

    if (held->lease.token[0] == '\0' || held->lease.is_lost)
        return;
    if (coil_scope_enter_shielded(&scope, coil_in(GOODBYE_NS)) < 0)
        return;
    rc = lease_release_all(held->shared->options.leases, &held->lease, pause_ns,
                           host != NULL && host->pace.is_troubled);
    coil_scope_exit(&scope, rc);
}

void held_link(struct shared *shared, struct held *held)
{
    held->shared = shared;
    held->until_ns = held_expiry(shared);
    held->next = shared->held.first;
    shared->held.first = held;
    coil_event_init(&held->changed);
}

void held_unlink(struct held *held)
{
    struct held **at = &held->shared->held.first;

    while (*at != held)
        at = &(*at)->next;
    *at = held->next;
    coil_event_finish(&held->changed);
}

void held_destroy(struct held *held)
{
    struct shared *shared = held->shared;

    for (size_t i = 0; i < shared->works.count; i++)
        if (shared->works.all[i].held == held)
            held_leave(&shared->works.all[i]);
    held_unlink(held);
    shared->held.count--;
    coil_event_set(&shared->held.has_room);
    held_forget_unsent_sitemaps(held, held->results, held->result_count);
    free_results(held->results, held->result_count);
    free(held->backs);
    lease_finish(&held->lease);
    free(held);
}

int held_hold(void *arg)
{
    struct held *held = arg;
    int rc = take_host(held);

    if (rc == 0)
        rc = add_new_items(held);
    while (rc == 0 && held->at_work + held_unsent_count(held) > 0 &&
           !held->lease.is_lost) {
        rc = wait_for_change(held);
        if (rc == 0)
            rc = send_all(held);
        if (rc == 0)
            rc = add_new_items(held);
    }
    give_back(held);
    held_destroy(held);
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

int held_update_site(struct shared *shared)
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
static int place_some(struct held *held)
{
    const struct shared_options *options = &held->shared->options;
    const struct shared_crawl *crawl = options->crawl;
    const struct lease *lease = &held->lease;
    struct lease_done done = {.count = lease->count, .more = options->most};
    struct lease_result *results = calloc(lease->count, sizeof *results);
    int rc = results != NULL ? 0 : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < lease->count; i++) {
        results[i].number = lease->items[i].number;
        rc = crawl->place(crawl->arg, &lease->items[i].url);
    }
    done.results = results;
    if (rc == 0)
        rc = complete_alone(held, &done);
    free(results);
    return rc < 0 ? rc : 0;
}

int held_move_all(struct held *held)
{
    int rc = held_update_site(held->shared);

    while (rc == 0 && held->shared->knows_site && held->lease.count > 0)
        rc = place_some(held);
    give_back(held);
    lease_finish(&held->lease);
    return rc;
}
