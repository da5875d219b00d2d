/*
 * shared.c - what is above the frontier of a process that takes part in a shared crawl.
 *
 *    Redis --> lease_hosts() --> hold() --> frontier --> workers
 *      ^                          |  ^                      |
 *      '--- complete, release ----'  '--- results, links ---'
 *
 * There is a task for each class, which leases hosts as long as there is room, and one for each lease, which
 * sends what its URLs have brought, some at a time, and takes more of the host. One more renews all leases, also of
 * those who wait until they may send.
 *
 * Invariants
 *   1. A target is in the frontier once, and in `works` as long: whose lease it has, or NULL if that was lost.
 *   2. Links are handed up by no page in particular, so completes go one after the other, each with all
 *      links that there are: those of a page are sent with its result, or before it.
 *   3. A target that is not brought back before its lease is over is asked for by others.
 */
#include "shared.h"

#include "../base/array.h"

#include <coil/scope.h>
#include <coil/task.h>
#include <coil/timer.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static const enum lease_class lease_classes[FRONTIER_CLASSES] = {
    [FRONTIER_SITE] = LEASE_SITE, [FRONTIER_EXTERNAL] = LEASE_EXTERNAL};

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

/* ---- targets that the frontier has ------------------------------------------------- */

static struct shared_work *find_work(const struct shared *shared,
                                     const struct target *target)
{
    for (size_t i = 0; i < shared->work_count; i++)
        if (shared->works[i].target == target)
            return &shared->works[i];
    return NULL;
}

static void leave_held(struct shared_work *work)
{
    if (work->held == NULL)
        return;
    work->held->at_work--;
    coil_event_set(&work->held->changed);
    work->held = NULL;
}

static void drop_work(struct shared *shared, struct shared_work *work)
{
    leave_held(work);
    text_finish(&work->bytes);
    shared->at_work[work->target->host->class]--;
    *work = shared->works[--shared->work_count];
    coil_event_set(&shared->has_room);
}

static struct shared_work *add_work(struct shared *shared, struct target *target)
{
    struct shared_work *work;

    if (shared->work_count == shared->work_capacity &&
        array_grow(&shared->works, &shared->work_capacity, sizeof *work) < 0)
        return NULL;
    work = &shared->works[shared->work_count++];
    *work = (struct shared_work){.target = target};
    shared->at_work[target->host->class]++;
    frontier_lease(shared->options.frontier, target);
    return work;
}

bool shared_may_ask(const struct shared *shared, const struct target *target)
{
    const struct shared_work *work = find_work(shared, target);

    return work != NULL && work->held != NULL && coil_now() < work->held->until_ns;
}

bool shared_has_given_up(const struct shared *shared, const struct target *target)
{
    const struct shared_work *work = find_work(shared, target);

    return work != NULL && work->is_given_up;
}

int shared_bring(struct shared *shared, const struct target *target, const void *bytes,
                 size_t n)
{
    struct shared_work *work = find_work(shared, target);

    if (work == NULL)
        return 0;
    work->bytes.n = 0;
    text_add(&work->bytes, bytes, n);
    return work->bytes.failed ? -ENOMEM : 0;
}

static size_t unsent_count(const struct held *held)
{
    return held->result_count + held->back_count;
}

/* The time of the first that is to be sent. */
static void note_time(struct held *held)
{
    if (unsent_count(held) == 0)
        held->first_ns = coil_now();
}

/* The bytes are copied. What memory is missing for is as if the lease were lost: others ask for it. Returns false then. */
static bool add_result(struct held *held, int64_t number, const void *bytes, size_t n)
{
    char *copy;

    if (held->result_count == held->result_capacity &&
        array_grow(&held->results, &held->result_capacity, sizeof *held->results) < 0)
        return false;
    copy = malloc(n);
    if (copy == NULL)
        return false;
    memcpy(copy, bytes, n);
    note_time(held);
    held->results[held->result_count++] = (struct lease_result){number, copy, n};
    return true;
}

/* ---- sitemaps that a robots.txt names ---------------------------------------------- */

static struct held *held_of_host(const struct shared *shared, const struct host *host)
{
    for (size_t i = 0; i < shared->work_count; i++) {
        struct held *held = shared->works[i].held;

        if (held != NULL && held->host == host && !held->lease.is_lost)
            return held;
    }
    return NULL;
}

static void ask_for_robots_again(struct host *host)
{
    host->has_lost_sitemaps = false;
    if (!host->has_told_sitemaps && host->robots == ROBOTS_KNOWN)
        host->robots = ROBOTS_WANTED;
}

/* They have not come to Redis, or are lost there: the robots.txt is asked for again, and tells them. If others may
   have the host by now, that waits for the next lease. */
static void forget_sitemaps(const struct shared *shared, struct host *host)
{
    host->has_lost_sitemaps |= host->has_told_sitemaps;
    host->has_told_sitemaps = false;
    if (host->has_lost_sitemaps && held_of_host(shared, host) != NULL)
        ask_for_robots_again(host);
}

/* These were not sent, or some of them not taken. */
static void forget_unsent_sitemaps(const struct held *held,
                                   const struct lease_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].number == LEASE_SITEMAPS)
            forget_sitemaps(held->shared, held->host);
}

void shared_bring_sitemaps(struct shared *shared, struct host *host, const void *bytes,
                           size_t n)
{
    struct held *held = held_of_host(shared, host);

    if (held != NULL && add_result(held, LEASE_SITEMAPS, bytes, n))
        coil_event_set(&held->changed);
    else
        forget_sitemaps(shared, host);
}

/* ---- what the frontier hands up ---------------------------------------------------- */

static enum lease_class class_of(const struct target *target)
{
    return target->state == TARGET_HELD ? LEASE_HELD : lease_classes[target->host->class];
}

static void hand_up(void *arg, struct target *target)
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
    hand_up(shared, target);
}

void shared_add_origin(struct shared *shared, const char *url)
{
    leases_origin(&shared->links, url);
}

static void on_complete(void *arg, const struct frontier_job *job)
{
    struct shared *shared = arg;
    struct shared_work *work = find_work(shared, job->target);

    if (work == NULL)
        return;
    if (work->held != NULL && work->bytes.n > 0)
        add_result(work->held, work->number, work->bytes.at, work->bytes.n);
    drop_work(shared, work);
}

/* Another process does not know of the refusals, which use up no try. */
static uint8_t tries_of(const struct target *target)
{
    return target->tries > target->refusals ? target->tries - target->refusals : 0;
}

static int on_release(void *arg, const struct frontier_job *job, int64_t at_ns)
{
    struct shared *shared = arg;
    struct shared_work *work = find_work(shared, job->target);
    struct held *held = work != NULL ? work->held : NULL;

    if (held != NULL) {
        if (held->back_count == held->back_capacity &&
            array_grow(&held->backs, &held->back_capacity, sizeof *held->backs) < 0)
            return -ENOMEM;
        note_time(held);
        held->backs[held->back_count++] =
            (struct held_back){work->number, at_ns, tries_of(job->target)};
    }
    if (work != NULL)
        drop_work(shared, work);
    return 0;
}

/* ---- what comes down --------------------------------------------------------------- */

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

/* It may be in the frontier still, by a lease that was lost. (invariant 1) */
static int give(struct held *held, struct lease_item *item)
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
    work = find_work(shared, target);
    if (work == NULL)
        work = add_work(shared, target);
    else
        leave_held(work);
    if (work == NULL)
        return -ENOMEM;
    work->held = held;
    work->number = item->number;
    work->is_given_up = (item->url.flags & LEASE_GIVEN_UP) != 0;
    held->at_work++;
    item->is_known = true;
    return 0;
}

static int give_new(struct held *held)
{
    int rc = 0;

    for (size_t i = 0; i < held->lease.count && rc == 0; i++)
        if (!held->lease.items[i].is_known)
            rc = give(held, &held->lease.items[i]);
    return rc;
}

static int take_host(struct held *held)
{
    struct host *host = frontier_host(held->shared->options.frontier,
                                      held->lease.items[0].url.url, held->class);

    if (host == NULL)
        return -ENOMEM;
    held->host = host;
    host->is_troubled |= held->lease.is_troubled;
    host->has_told_sitemaps |= held->lease.has_told_sitemaps;
    if (host->has_lost_sitemaps)
        ask_for_robots_again(host);
    frontier_pause(host, coil_now() + held->lease.pause_ns);
    return 0;
}

/* It is met as if for the first time. */
static void forget(const struct targets *targets, struct target *target)
{
    if (target->state == TARGET_HELD)
        return;
    target_set_state(target, TARGET_MET);
    targets_remember(targets, target);
}

/* What the frontier has stands in its queues. */
static void forget_targets(struct shared *shared)
{
    const struct targets *targets = shared->options.targets;

    for (size_t i = 0; i < targets->count; i++) {
        forget(targets, targets_at(targets, i));
        cold_tend(targets->all.cold);
    }
    for (size_t i = 0; i < shared->work_count; i++)
        target_set_state(shared->works[i].target, TARGET_ACCEPTED);
}

/* Redis may have lost its last second: what was sent then is not known any more, and the pages it was found
   on are asked for again. */
static void forget_if_reborn(struct shared *shared)
{
    const struct table *hosts = &shared->options.frontier->hosts;
    unsigned lives = redis_lives(shared->options.leases->redis);

    if (lives == shared->lives)
        return;
    shared->lives = lives;
    forget_targets(shared);
    for (size_t i = 0; i < hosts->capacity; i++)
        if (hosts->slots[i].value != NULL)
            forget_sitemaps(shared, hosts->slots[i].value);
}

/* ---- what goes back ---------------------------------------------------------------- */

/* For a loop around what may be repeated: true, after a while, if it is to be. */
static bool is_to_repeat(int *rc)
{
    int slept;

    if (!redis_may_pass(*rc))
        return false;
    slept = coil_sleep(AGAIN_NS);
    if (slept < 0)
        *rc = slept;
    return slept == 0;
}

/* Of a lease that Redis is going to be told of. */
static int64_t expiry(const struct shared *shared)
{
    int64_t span_ns = shared->options.leases->span_ns;

    return coil_now() + span_ns - span_ns / 10;
}

/* Another reply may have come before. */
static void note_expiry(struct held *held, int64_t until_ns)
{
    if (held->until_ns < until_ns)
        held->until_ns = until_ns;
}

static unsigned more_of(const struct held *held)
{
    const struct shared_options *options = &held->shared->options;
    size_t count = held->lease.count, left;

    /* the sitemaps of a robots.txt are a result of no item */
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

/* Invariant 2: the lock is the caller's. Returns how many results were not taken. */
static int complete(struct held *held, struct lease_done *done)
{
    struct shared *shared = held->shared;
    struct redis_words links = shared->links;
    int64_t until_ns;
    int rc;

    shared->links = (struct redis_words){.count = 0};
    done->links = &links;
    do {
        until_ns = expiry(shared);
        rc = lease_complete(shared->options.leases, &held->lease, done);
    } while (is_to_repeat(&rc));
    if (rc >= 0)
        note_expiry(held, until_ns);
    forget_if_reborn(shared);
    redis_words_finish(&links);
    if (rc < 0)
        shared->failure = rc; /* nobody's links may be left out */
    return rc;
}

static int complete_alone(struct held *held, struct lease_done *done)
{
    struct shared *shared = held->shared;
    int rc;

    shared->sending++;
    held->sending_ns = coil_now();
    rc = coil_lock_acquire(&shared->completing);
    if (rc == 0) {
        rc = shared->failure;
        if (rc == 0)
            rc = complete(held, done);
        coil_lock_release(&shared->completing);
    }
    held->sending_ns = 0;
    shared->sending--;
    coil_event_set(&shared->has_room);
    return rc;
}

static int send_results(struct held *held)
{
    struct lease_done done = {.results = held->results,
                              .count = held->result_count,
                              .more = more_of(held),
                              .pause_ns = held->host->next_ns - coil_now(),
                              .is_troubled = held->host->is_troubled};
    int rc;

    held->results = NULL;
    held->result_count = held->result_capacity = 0;
    rc = complete_alone(held, &done);
    if (rc >= 0)
        frontier_pause(held->host, coil_now() + held->lease.pause_ns);
    if (rc != 0)
        forget_unsent_sitemaps(held, done.results, done.count);
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
            return 0; /* it is lost */
        lease->items[i].url.tries = back->tries;
        rc = lease_release(held->shared->options.leases, lease, i, back->at_ns - now,
                           held->host->next_ns - now, held->host->is_troubled);
    } while (is_to_repeat(&rc));
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
    size_t count = unsent_count(held);

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

/* Until there is something to be sent, or nothing is left. */
static int wait_for_change(struct held *held)
{
    int rc = 0;

    while (rc == 0 && !held->lease.is_lost && !is_due(held, coil_now())) {
        coil_event_clear(&held->changed);
        rc = wait_until(held,
                        unsent_count(held) > 0 ? held->first_ns + LINGER_NS : COIL_NEVER);
    }
    return rc;
}

/* Results first: with the last of its URLs that goes back the lease is over. */
static int send_all(struct held *held)
{
    int rc = held->result_count > 0 ? send_results(held) : 0;

    return rc == 0 ? send_backs(held) : rc;
}

/* What is left of it, if anything, is given back, even by a task that is cancelled. */
static void give_back(struct held *held)
{
    const struct host *host = held->host;
    int64_t pause_ns = host != NULL ? host->next_ns - coil_now() : 0;
    coil_scope scope;
    int rc;

    if (held->lease.token[0] == '\0' || held->lease.is_lost)
        return;
    if (coil_scope_enter_shielded(&scope, coil_in(GOODBYE_NS)) < 0)
        return;
    rc = lease_release_all(held->shared->options.leases, &held->lease, pause_ns,
                           host != NULL && host->is_troubled);
    coil_scope_exit(&scope, rc);
}

static void link_held(struct shared *shared, struct held *held)
{
    held->shared = shared;
    held->until_ns = expiry(shared);
    held->next = shared->first_held;
    shared->first_held = held;
    coil_event_init(&held->changed);
}

static void unlink_held(struct held *held)
{
    struct held **at = &held->shared->first_held;

    while (*at != held)
        at = &(*at)->next;
    *at = held->next;
    coil_event_finish(&held->changed);
}

static void destroy_held(struct held *held)
{
    struct shared *shared = held->shared;

    for (size_t i = 0; i < shared->work_count; i++)
        if (shared->works[i].held == held)
            leave_held(&shared->works[i]);
    unlink_held(held);
    shared->held_count--;
    coil_event_set(&shared->has_room);
    forget_unsent_sitemaps(held, held->results, held->result_count);
    free_results(held->results, held->result_count);
    free(held->backs);
    lease_finish(&held->lease);
    free(held);
}

static int hold(void *arg)
{
    struct held *held = arg;
    int rc = take_host(held);

    if (rc == 0)
        rc = give_new(held);
    while (rc == 0 && held->at_work + unsent_count(held) > 0 && !held->lease.is_lost) {
        rc = wait_for_change(held);
        if (rc == 0)
            rc = send_all(held);
        if (rc == 0)
            rc = give_new(held);
    }
    give_back(held);
    destroy_held(held);
    return rc;
}

/* ---- what belongs to the site ------------------------------------------------------ */

static int end_starts(struct shared *shared)
{
    const struct shared_crawl *crawl = shared->options.crawl;

    if (shared->knows_site)
        return 0;
    shared->knows_site = true;
    return crawl->end_starts(crawl->arg);
}

/* Redis may have told of something new. */
static int learn(struct shared *shared)
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

/* What was held is handed up, and is through with that. */
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

static int place_all(struct held *held)
{
    int rc = learn(held->shared);

    while (rc == 0 && held->shared->knows_site && held->lease.count > 0)
        rc = place_some(held);
    give_back(held);
    lease_finish(&held->lease);
    return rc;
}

/* ---- leasing ----------------------------------------------------------------------- */

/* Where hosts want to be left alone, their URLs wait here, and workers with them: then there is room for others. */
static bool has_room(const struct shared *shared, enum frontier_class class)
{
    if (shared->sending >= SENDING_MOST)
        return false;
    return shared->at_work[class] < shared->options.ahead ||
           (shared->held_count < LEASES_MOST &&
            frontier_has_idle(shared->options.frontier, class));
}

static int wait_for_room(struct shared *shared, enum frontier_class class)
{
    coil_scope scope;
    int rc = 0;

    while (rc == 0 && !has_room(shared, class)) {
        coil_event_clear(&shared->has_room);
        rc = coil_scope_enter(&scope, coil_in(LOOK_NS));
        if (rc == 0)
            rc = coil_scope_exit(&scope, coil_event_wait(&shared->has_room));
        if (rc == -ETIMEDOUT)
            rc = 0;
    }
    return rc;
}

/* Eager, so that it begins in any case: it frees what is held. */
static int spawn_hold(struct shared *shared, struct held *held)
{
    coil_spawn_opts opts = {.name = "lease", .eager = true};
    int rc = coil_group_spawn(&shared->group, hold, held, &opts, NULL);

    if (rc < 0)
        destroy_held(held);
    return rc;
}

/* As leases_acquire(). */
static int lease_host(struct shared *shared, enum frontier_class class, int64_t *wait_ns)
{
    struct held *held = calloc(1, sizeof *held);
    int rc;

    if (held == NULL)
        return -ENOMEM;
    shared->held_count++;
    held->class = class;
    link_held(shared, held);
    rc = leases_acquire(shared->options.leases, lease_classes[class],
                        shared->options.most, &held->lease, wait_ns);
    if (rc <= 0) {
        destroy_held(held);
        return rc;
    }
    forget_if_reborn(shared);
    rc = spawn_hold(shared, held);
    return rc < 0 ? rc : 1;
}

/* The same of those that are held. */
static int lease_held(struct shared *shared, int64_t *wait_ns)
{
    struct held held = {.host = NULL};
    int rc;

    link_held(shared, &held);
    rc = leases_acquire(shared->options.leases, LEASE_HELD, shared->options.most,
                        &held.lease, wait_ns);
    if (rc == 1) {
        forget_if_reborn(shared);
        rc = place_all(&held);
        rc = rc < 0 ? rc : 1;
    }
    unlink_held(&held);
    return rc;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How long nothing is to be had; below 0 if that ends it. *look_ns: when to look next, again and again. */
static int64_t pause_after(int rc, int64_t wait_ns, int64_t *look_ns)
{
    if (rc == 0) {
        int64_t pause_ns = least(wait_ns, *look_ns);
        *look_ns = least(2 * *look_ns, LOOK_LONGEST_NS);
        return pause_ns;
    }
    if (rc == -ENOBUFS)
        return FULL_NS;
    return redis_may_pass(rc) ? AGAIN_NS : rc;
}

/* 1 if the crawl is over; else 0, once it is time to ask again. */
static int wait_for_more(struct shared *shared, int rc, int64_t wait_ns, int64_t *look_ns)
{
    int64_t pause_ns = pause_after(rc, wait_ns, look_ns);

    if (rc == -ENODATA)
        return 1;
    if (pause_ns < 0)
        return (int)pause_ns;
    rc = learn(shared);
    return rc == 0 ? coil_sleep(pause_ns) : rc;
}

static int lease_hosts(struct shared *shared, enum frontier_class class)
{
    int64_t wait_ns = 0, look_ns = LOOK_NS;
    int rc = 0;

    while (rc == 0 && (rc = wait_for_room(shared, class)) == 0) {
        rc = lease_host(shared, class, &wait_ns);
        if (rc == 1) {
            look_ns = LOOK_NS;
            rc = learn(shared);
        } else {
            rc = wait_for_more(shared, rc, wait_ns, &look_ns);
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

static int lease_what_is_held(void *arg)
{
    struct shared *shared = arg;
    int64_t wait_ns = 0, look_ns = LOOK_NS;
    int rc = 0;

    while (rc == 0) {
        rc = lease_held(shared, &wait_ns);
        if (rc == 1) {
            look_ns = LOOK_NS;
            rc = 0;
        } else {
            rc = wait_for_more(shared, rc, wait_ns, &look_ns);
        }
    }
    return rc == 1 ? 0 : rc;
}

/* When half of it is over. What its task cannot send for minutes is left to others. */
static bool wants_renewal(const struct held *held, int64_t now)
{
    int64_t span_ns = held->shared->options.leases->span_ns;

    return held->lease.token[0] != '\0' && !held->lease.is_lost &&
           held->until_ns - now < span_ns / 2 &&
           (held->sending_ns == 0 ||
            now - held->sending_ns < SENDING_SPANS_MOST * span_ns);
}

static void note_renewal(struct shared *shared, const struct lease_renewal *renewal,
                         int64_t until_ns)
{
    struct held *held = shared->first_held;

    while (held != NULL && strcmp(held->lease.token, renewal->token) != 0)
        held = held->next;
    if (held == NULL)
        return; /* it is over meanwhile */
    if (!renewal->is_lost)
        note_expiry(held, until_ns);
    held->lease.is_lost |= renewal->is_lost;
    coil_event_set(&held->changed);
}

/* Returns how many they were, or a negative errno. */
static int renew_some(struct shared *shared)
{
    struct lease_renewal due[RENEWED_AT_ONCE];
    int64_t now = coil_now(), until_ns = expiry(shared);
    int count = 0, rc;

    for (struct held *held = shared->first_held; held != NULL && count < RENEWED_AT_ONCE;
         held = held->next)
        if (wants_renewal(held, now))
            memcpy(due[count++].token, held->lease.token, sizeof held->lease.token);
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
    int64_t pause_ns = least(TEND_NS, shared->options.leases->span_ns / 4);
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

/* Of other processes too: whoever waits for work does it as well, but all may be busy. */
static int reap(void *arg)
{
    struct shared *shared = arg;
    int rc = 0;

    while (rc == 0 && (rc = coil_sleep(TEND_NS)) == 0) {
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
    while (is_to_repeat(&rc));
    redis_words_finish(&links);
    return rc;
}

/* Until the crawl is over. */
static int lease_all(struct shared *shared)
{
    int rc;

    coil_group_enter(&shared->group);
    rc = coil_group_spawn(&shared->group, lease_sites, shared, NULL, NULL);
    if (rc == 0 && shared->options.has_external)
        rc = coil_group_spawn(&shared->group, lease_others, shared, NULL, NULL);
    if (rc == 0 && shared->options.crawl != NULL)
        rc = coil_group_spawn(&shared->group, lease_what_is_held, shared, NULL, NULL);
    return coil_group_exit(&shared->group, rc);
}

/* What was leased by a reply that nobody waits for any more goes back, too. */
static void leave(struct shared *shared)
{
    coil_scope scope;

    if (coil_scope_enter_shielded(&scope, coil_in(GOODBYE_NS)) < 0)
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

/* ---- its life ---------------------------------------------------------------------- */

void shared_init(struct shared *shared, const struct shared_options *options)
{
    *shared = (struct shared){.above = {hand_up, on_complete, on_release, shared},
                              .options = *options,
                              .lives = redis_lives(options->leases->redis)};
    coil_event_init(&shared->has_room);
    coil_lock_init(&shared->completing);
}

void shared_finish(struct shared *shared)
{
    while (shared->work_count > 0)
        drop_work(shared, &shared->works[shared->work_count - 1]);
    free(shared->works);
    redis_words_finish(&shared->links);
    coil_event_finish(&shared->has_room);
    coil_lock_finish(&shared->completing);
    *shared = (struct shared){.work_count = 0};
}
