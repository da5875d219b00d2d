/*
 * test_shared.c - crawler/shared/shared.h: the frontiers of several processes share a
 * crawl in Redis. In these tests, each process is simulated by tasks of one process.
 */
#include "../../../../crawler/shared/shared.h"
#include "../../../harness/harness.h"
#include "redis/redis_process.h"

#include <coil.h>

#include <errno.h>

enum { PAGES = 200, HOSTS = 7, WORKERS = 3 };

static const struct leases_setup setup = {.options = "options", .split = 1};

/* A simulated process: the parts of a crawler that a shared frontier needs. */
struct process {
    struct redis *redis;
    struct leases leases;
    struct targets targets;
    struct frontier frontier;
    struct shared shared;
    coil_task *serving, *running, *workers[WORKERS];
    bool retries;     /* each page is requested twice */
    int asked;        /* number of page requests */
    int robots_asked; /* number of robots.txt requests */
};

static struct redis_process server;

/* ---- pages ------------------------------------------------------------------------- */

static void url_of(int page, char url[64])
{
    snprintf(url, 64, "http://host%d/%d", page % HOSTS, page);
}

static int page_of(const char *url)
{
    return atoi(strrchr(url, '/') + 1);
}

static void find(struct process *process, int page)
{
    struct target *target;
    char url[64];
    bool is_new;

    if (page >= PAGES)
        return;
    url_of(page, url);
    target = targets_get(&process->targets, url, 0, &is_new);
    target->host = frontier_host(&process->frontier, url, FRONTIER_SITE);
    frontier_add(&process->frontier, target);
}

/* Fetch a page. Page n links to the pages 0, 2n + 1 and 2n + 2. */
static int ask(struct process *process, struct target *target)
{
    int page = page_of(target->url);
    int rc = coil_sleep(COIL_MSEC(1));

    if (rc < 0)
        return rc;
    process->asked++;
    find(process, 0);
    find(process, 2 * page + 1);
    find(process, 2 * page + 2);
    return shared_bring(&process->shared, target, target->url, strlen(target->url));
}

static void ask_robots(struct process *process, struct host *host)
{
    process->robots_asked++;
    host->robots.state = ROBOTS_KNOWN;
    host->robots.has_reported_sitemaps = true;
    shared_bring_sitemaps(&process->shared, host, "sitemaps", 8);
}

static int visit(struct process *process, const struct frontier_job *job)
{
    int rc = 0;

    if (job->target == NULL) {
        ask_robots(process, job->host);
        frontier_done(&process->frontier, job);
        return 0;
    }
    if (process->retries && job->target->tries == 0) {
        job->target->tries = 1;
        return frontier_retry(&process->frontier, job, coil_in(COIL_MSEC(5)));
    }
    if (shared_may_fetch(&process->shared, job->target))
        rc = ask(process, job->target);
    frontier_done(&process->frontier, job);
    return rc;
}

static int work(void *arg)
{
    struct process *process = arg;
    struct frontier_job job;
    int rc;

    while ((rc = frontier_take(&process->frontier, FRONTIER_SITE, &job)) == 0 &&
           (rc = visit(process, &job)) == 0)
        ;
    return rc;
}

/* ---- processes --------------------------------------------------------------------- */

static void open_process(struct process *process, int64_t span_ns)
{
    struct shared_options options = {.leases = &process->leases,
                                     .frontier = &process->frontier,
                                     .targets = &process->targets,
                                     .most = 8,
                                     .ahead = 16};

    *process = (struct process){.retries = false};
    redis_process_open(&server, COIL_SEC(15), &process->redis);
    process->serving = test_spawn(redis_serve, process->redis);
    CHECK(leases_begin(&process->leases, process->redis, "test", &setup, span_ns) >= 0);
    targets_init(&process->targets, NULL);
    shared_init(&process->shared, &options);
    frontier_init(&process->frontier,
                  &(struct frontier_options){.limits = {3, 3},
                                             .per_host = {2, 2},
                                             .above = &process->shared.above});
}

static void begin(struct process *process)
{
    process->running = test_spawn(shared_run, &process->shared);
    for (int i = 0; i < WORKERS; i++)
        process->workers[i] = test_spawn(work, process);
}

static void join_workers(struct process *process, int expected)
{
    for (int i = 0; i < WORKERS; i++)
        CHECK_INT(test_join(process->workers[i]), expected);
}

/* Wait until the process ends on its own. */
static void join(struct process *process, int expected)
{
    CHECK_INT(test_join(process->running), expected);
    join_workers(process, -ESHUTDOWN);
}

static void interrupt(struct process *process)
{
    for (int i = 0; i < WORKERS; i++)
        coil_task_cancel(process->workers[i], "test");
    join_workers(process, -ECANCELED);
    coil_task_cancel(process->running, "test");
    CHECK_INT(test_join(process->running), -ECANCELED);
}

static void disconnect(struct process *process)
{
    coil_task_cancel(process->serving, "test");
    CHECK_INT(test_join(process->serving), -ECANCELED);
    process->serving = NULL;
}

static void close_process(struct process *process)
{
    if (process->serving != NULL)
        disconnect(process);
    shared_finish(&process->shared);
    frontier_finish(&process->frontier);
    targets_finish(&process->targets);
    redis_destroy(process->redis);
}

static void add_start(struct process *process)
{
    struct redis_words links = {.count = 0};

    leases_link(&process->leases, &links, &(struct lease_url){.url = "http://host0/0"});
    CHECK_INT(leases_add(&process->leases, &links), 0);
    redis_words_finish(&links);
}

/* ---- what came of it --------------------------------------------------------------- */

struct collected {
    bool pages[PAGES];
    int count;
    int64_t last;
};

static int collect(void *arg, int64_t number, const void *bytes, size_t n)
{
    struct collected *collected = arg;
    char url[64];

    snprintf(url, sizeof url, "%.*s", (int)n, (const char *)bytes);
    CHECK(number > collected->last);
    CHECK(!collected->pages[page_of(url)]);
    collected->pages[page_of(url)] = true;
    collected->last = number;
    collected->count++;
    return 0;
}

static void check_collected(struct process *process)
{
    struct collected collected = {.count = 0};
    struct lease_progress progress;
    int rc;

    while ((rc = leases_collect(&process->leases, collected.last, 50, collect, &collected,
                                &progress)) > 0)
        ;
    CHECK_INT(rc, -ENODATA);
    CHECK_INT(collected.count, PAGES);
}

/* ---- tests ------------------------------------------------------------------------- */

static void crawl_by(int count, bool retries)
{
    struct process processes[3];

    redis_process_start(&server);
    for (int i = 0; i < count; i++) {
        open_process(&processes[i], COIL_SEC(600));
        processes[i].retries = retries;
    }
    add_start(&processes[0]);
    for (int i = 0; i < count; i++)
        begin(&processes[i]);
    for (int i = 0; i < count; i++)
        join(&processes[i], 0);
    check_collected(&processes[0]);
    for (int i = 0; i < count; i++)
        close_process(&processes[i]);
    redis_process_stop(&server);
}

IO_TEST(shared_crawl_of_one_process_brings_each_page_once)
{
    if (test_has_turn(0))
        crawl_by(1, false);
}

IO_TEST(shared_crawl_of_three_processes_brings_each_page_once)
{
    if (test_has_turn(1))
        crawl_by(3, false);
}

IO_TEST(shared_crawl_gives_out_again_what_is_tried_again)
{
    if (test_has_turn(2))
        crawl_by(2, true);
}

IO_TEST(shared_crawl_goes_on_at_once_after_a_process_that_ends)
{
    struct process ends, stays;

    if (!test_has_turn(1))
        return;
    redis_process_start(&server);
    open_process(&ends, COIL_SEC(600));
    open_process(&stays, COIL_SEC(600));
    add_start(&ends);
    begin(&ends);
    CHECK_INT(coil_sleep(COIL_MSEC(30)), 0);
    interrupt(&ends);
    begin(&stays);
    join(&stays, 0);
    check_collected(&stays);
    close_process(&ends);
    close_process(&stays);
    redis_process_stop(&server);
}

IO_TEST(shared_crawl_asks_again_for_sitemaps_that_did_not_reach_redis)
{
    struct process process;
    struct host *host;

    if (!test_has_turn(1))
        return;
    redis_process_start(&server);
    open_process(&process, COIL_SEC(600));
    host = frontier_host(&process.frontier, "http://host0/", FRONTIER_SITE);
    host->robots.state = ROBOTS_KNOWN;
    host->robots.has_reported_sitemaps = true;
    /*
     * Without a lease of the host, its sitemaps cannot be stored. So robots.txt must be
     * fetched again when this process leases the host.
     */
    shared_bring_sitemaps(&process.shared, host, "sitemaps", 8);
    CHECK_INT(host->robots.state, ROBOTS_KNOWN);
    CHECK(!host->robots.has_reported_sitemaps);
    add_start(&process);
    begin(&process);
    join(&process, 0);
    CHECK_INT(process.robots_asked, 1);
    close_process(&process);
    redis_process_stop(&server);
}

/*
 * A lease is renewed while its results cannot be sent, here because the lock for sending
 * is held.
 */
IO_TEST(shared_crawl_renews_leases_whose_results_wait_to_be_sent)
{
    struct process waits, other;
    struct lease lease;
    int64_t wait_ns;

    if (!test_has_turn(0))
        return;
    redis_process_start(&server);
    open_process(&waits, COIL_SEC(6));
    open_process(&other, COIL_SEC(600));
    add_start(&waits);
    CHECK_INT(coil_lock_acquire(&waits.shared.active.completing), 0);
    begin(&waits);
    CHECK_INT(coil_sleep(COIL_SEC(7)), 0);
    CHECK_INT(leases_reap(&other.leases), 0);
    CHECK_INT(leases_acquire(&other.leases, LEASE_SITE, 8, &lease, &wait_ns), 0);
    CHECK_INT(waits.asked, 1);
    coil_lock_release(&waits.shared.active.completing);
    join(&waits, 0);
    check_collected(&waits);
    close_process(&waits);
    close_process(&other);
    redis_process_stop(&server);
}

/*
 * A process that loses its connection cannot release its leases. The leases expire, and
 * another process fetches their pages.
 */
IO_TEST(shared_crawl_goes_on_after_a_while_without_a_process_that_is_killed)
{
    struct process killed, stays;

    if (!test_has_turn(0))
        return;
    redis_process_start(&server);
    open_process(&killed, COIL_SEC(1));
    open_process(&stays, COIL_SEC(600));
    add_start(&killed);
    begin(&killed);
    CHECK_INT(coil_sleep(COIL_MSEC(30)), 0);
    disconnect(&killed);
    join(&killed, -ESHUTDOWN);
    begin(&stays);
    join(&stays, 0);
    check_collected(&stays);
    close_process(&killed);
    close_process(&stays);
    redis_process_stop(&server);
}
