/*
 * test_frontier.c - crawler/frontier/frontier.h: which targets workers get, when, and in
 * which order. Time is virtual, in seconds.
 */
#include "../../../../crawler/frontier/frontier.h"
#include "../../../harness/harness.h"

#include <coil.h>

#include <errno.h>

static struct frontier frontier;
static struct targets targets;
static int64_t begin;

static void open_frontier(const struct frontier_options *options)
{
    frontier_init(&frontier, options);
    begin = coil_now();
}

static void close_frontier(void)
{
    frontier_close(&frontier);
    frontier_finish(&frontier);
    targets_finish(&targets);
}

/* Return options that limit the number of concurrent jobs per class and per host. */
static struct frontier_options at_a_time(unsigned all, unsigned per_host)
{
    return (struct frontier_options){.limits = {all, all},
                                     .per_host = {per_host, per_host}};
}

static struct target *add_at_depth(const char *url, enum frontier_class class,
                                   unsigned depth)
{
    bool is_new;
    struct target *target = targets_get(&targets, url, 0, &is_new);

    target->depth = (uint16_t)depth;
    target->host = frontier_host(&frontier, url, class);
    frontier_add(&frontier, target);
    return target;
}

static struct target *add(const char *url)
{
    return add_at_depth(url, FRONTIER_SITE, 0);
}

/* Return "a/1" for the target "http://a/1". */
static const char *name_of(const struct frontier_job *job)
{
    return job->target != NULL ? strstr(job->target->url, "://") + 3 : "robots.txt";
}

static struct frontier_job take(void)
{
    struct frontier_job job = {NULL, NULL};

    CHECK_INT(frontier_take(&frontier, FRONTIER_SITE, &job), 0);
    test_trace("%s ", name_of(&job));
    return job;
}

static void take_and_finish(void)
{
    struct frontier_job job = take();

    frontier_done(&frontier, &job);
}

static void check_over(void)
{
    struct frontier_job job;

    CHECK_INT(frontier_take(&frontier, FRONTIER_SITE, &job), -ESHUTDOWN);
}

/* A worker that takes one second per job. */
static int work_in(enum frontier_class class)
{
    struct frontier_job job;
    int rc;

    while ((rc = frontier_take(&frontier, class, &job)) == 0) {
        frontier_begin_request(job.host);
        test_trace("%d:%s ", (int)((coil_now() - begin) / COIL_SEC(1)), name_of(&job));
        if (job.target == NULL)
            job.host->robots.state = ROBOTS_KNOWN;
        rc = coil_sleep(COIL_SEC(1));
        if (rc < 0)
            return rc;
        frontier_done(&frontier, &job);
    }
    return rc;
}

static int work(void *arg)
{
    (void)arg;
    return work_in(FRONTIER_SITE);
}

static int work_outside(void *arg)
{
    (void)arg;
    return work_in(FRONTIER_EXTERNAL);
}

static void run_workers(int count)
{
    coil_task *workers[8];

    for (int i = 0; i < count; i++)
        workers[i] = test_spawn(work, NULL);
    for (int i = 0; i < count; i++)
        CHECK_INT(test_join(workers[i]), -ESHUTDOWN);
}

TASK_TEST(frontier_gives_out_each_target_once_and_in_order)
{
    struct frontier_options options = at_a_time(9, 9);

    open_frontier(&options);
    add("http://a/1");
    add("http://a/2");
    add("http://a/1");
    CHECK_INT(frontier_queued_count(&frontier), 2);
    take_and_finish();
    add("http://a/1");
    take_and_finish();
    CHECK_TRACE("a/1 a/2 ");
    check_over();
    check_over();
    close_frontier();
}

TASK_TEST(frontier_hosts_take_turns)
{
    struct frontier_options options = at_a_time(9, 9);

    open_frontier(&options);
    for (int i = 1; i <= 3; i++) {
        char url[16];
        snprintf(url, sizeof url, "http://a/%d", i);
        add(url);
    }
    add("http://b/1");
    add("http://b:81/1");
    for (int i = 0; i < 5; i++)
        take_and_finish();
    CHECK_TRACE("a/1 b/1 b:81/1 a/2 a/3 ");
    check_over();
    close_frontier();
}

TASK_TEST(frontier_asks_one_host_no_more_often_at_a_time_than_allowed)
{
    struct frontier_options options = at_a_time(9, 2);

    open_frontier(&options);
    add("http://a/1");
    add("http://a/2");
    add("http://a/3");
    add("http://b/1");
    run_workers(5);
    CHECK_TRACE("0:a/1 0:b/1 0:a/2 1:a/3 ");
    close_frontier();
}

TASK_TEST(frontier_gives_out_no_more_at_a_time_than_allowed)
{
    struct frontier_options options = at_a_time(2, 2);

    open_frontier(&options);
    add("http://a/1");
    add("http://b/1");
    add("http://c/1");
    run_workers(5);
    CHECK_TRACE("0:a/1 0:b/1 1:c/1 ");
    close_frontier();
}

TASK_TEST(frontier_classes_do_not_wait_for_each_other)
{
    struct frontier_options options = at_a_time(1, 1);
    coil_task *outside;

    open_frontier(&options);
    add("http://a/1");
    add_at_depth("http://x/1", FRONTIER_EXTERNAL, 0);
    add_at_depth("http://y/1", FRONTIER_EXTERNAL, 0);
    add("http://a/2");
    outside = test_spawn(work_outside, NULL);
    run_workers(2);
    CHECK_INT(test_join(outside), -ESHUTDOWN);
    CHECK_TRACE("0:x/1 0:a/1 1:y/1 1:a/2 ");
    close_frontier();
}

TASK_TEST(frontier_delay_is_kept_for_each_host)
{
    struct frontier_options options = at_a_time(9, 9);

    options.delay_ns = COIL_SEC(3);
    open_frontier(&options);
    add("http://a/1");
    add("http://a/2");
    add("http://a/3");
    add("http://b/1");
    run_workers(3);
    CHECK_TRACE("0:a/1 0:b/1 3:a/2 6:a/3 ");
    close_frontier();
}

TASK_TEST(frontier_pause_is_of_one_host_and_may_be_prolonged)
{
    struct frontier_options options = at_a_time(9, 9);
    struct target *first;

    open_frontier(&options);
    first = add("http://a/1");
    add("http://a/2");
    add("http://b/1");
    frontier_pause(first->host, begin + COIL_SEC(5));
    frontier_pause(first->host, begin + COIL_SEC(2));
    run_workers(2);
    CHECK_TRACE("0:b/1 5:a/1 5:a/2 ");
    close_frontier();
}

TASK_TEST(frontier_pause_outlasts_a_delay)
{
    struct frontier_options options = at_a_time(9, 9);
    struct target *first;

    options.delay_ns = COIL_SEC(1);
    open_frontier(&options);
    first = add("http://a/1");
    frontier_pause(first->host, begin + COIL_SEC(5));
    frontier_begin_request(first->host);
    run_workers(1);
    CHECK_TRACE("5:a/1 ");
    close_frontier();
}

TASK_TEST(frontier_retry_comes_at_its_time_and_holds_nobody)
{
    struct frontier_options options = at_a_time(9, 1);
    struct frontier_job job;

    open_frontier(&options);
    add("http://a/1");
    add("http://a/2");
    job = take();
    CHECK_INT(frontier_retry(&frontier, &job, begin + COIL_SEC(4)), 0);
    CHECK_INT(frontier_queued_count(&frontier), 2);
    CHECK_INT(frontier_job_count(&frontier), 0);
    run_workers(3);
    CHECK_TRACE("a/1 0:a/2 4:a/1 ");
    close_frontier();
}

TASK_TEST(frontier_retries_of_a_hundred_thousand_come_in_the_order_of_their_times)
{
    enum { COUNT = 100000 };
    struct frontier_options options = at_a_time(9, 9);
    struct frontier_job job;
    uint32_t last = 0;

    open_frontier(&options);
    for (int i = 0; i < COUNT; i++) {
        char url[32];
        snprintf(url, sizeof url, "http://a/%d", i);
        add(url);
    }
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(frontier_take(&frontier, FRONTIER_SITE, &job), 0);
        CHECK_INT(frontier_retry(&frontier, &job, begin + COIL_SEC(1) + i / 10), 0);
    }
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(frontier_take(&frontier, FRONTIER_SITE, &job), 0);
        if (i > 0 && job.target->index != last + 1)
            CHECK_INT(job.target->index, last + 1);
        last = job.target->index;
        frontier_done(&frontier, &job);
    }
    check_over();
    close_frontier();
}

TASK_TEST(frontier_troubled_host_is_asked_by_one_at_a_time)
{
    struct frontier_options options = at_a_time(9, 9);
    struct target *first;

    open_frontier(&options);
    first = add("http://a/1");
    add("http://a/2");
    add("http://b/1");
    add("http://b/2");
    first->host->pace.is_troubled = true;
    run_workers(4);
    CHECK_TRACE("0:a/1 0:b/1 0:b/2 1:a/2 ");
    close_frontier();
}

TASK_TEST(frontier_asks_a_host_of_the_site_for_its_robots_first)
{
    struct frontier_options options = at_a_time(9, 9);
    coil_task *outside;

    options.obeys_robots = true;
    open_frontier(&options);
    add("http://a/1");
    add("http://a/2");
    add("http://b/1");
    add_at_depth("http://x/1", FRONTIER_EXTERNAL, 0);
    outside = test_spawn(work_outside, NULL);
    run_workers(4);
    CHECK_INT(test_join(outside), -ESHUTDOWN);
    CHECK_TRACE("0:x/1 0:robots.txt 0:robots.txt 1:a/1 1:a/2 1:b/1 ");
    close_frontier();
}

TASK_TEST(frontier_by_depth_gives_out_one_depth_after_the_other)
{
    struct frontier_options options = at_a_time(9, 1);

    options.by_depth = true;
    open_frontier(&options);
    add_at_depth("http://a/0", FRONTIER_SITE, 0);
    add_at_depth("http://b/2", FRONTIER_SITE, 2);
    add_at_depth("http://c/1", FRONTIER_SITE, 1);
    add_at_depth("http://d/4", FRONTIER_SITE, 4);
    add_at_depth("http://a/1", FRONTIER_SITE, 1);
    run_workers(4);
    CHECK_TRACE("0:a/0 1:c/1 1:a/1 2:b/2 3:d/4 ");
    close_frontier();
}

TASK_TEST(frontier_by_depth_waits_for_retries_of_a_depth)
{
    struct frontier_options options = at_a_time(9, 9);
    struct frontier_job job;

    options.by_depth = true;
    open_frontier(&options);
    add_at_depth("http://a/0", FRONTIER_SITE, 0);
    add_at_depth("http://a/1", FRONTIER_SITE, 1);
    job = take();
    CHECK_INT(frontier_retry(&frontier, &job, begin + COIL_SEC(3)), 0);
    run_workers(2);
    CHECK_TRACE("a/0 3:a/0 4:a/1 ");
    close_frontier();
}

TASK_TEST(frontier_by_depth_gives_out_earlier_what_has_come_nearer_and_once)
{
    struct frontier_options options = at_a_time(9, 9);
    struct target *nearer;

    options.by_depth = true;
    open_frontier(&options);
    add_at_depth("http://a/0", FRONTIER_SITE, 0);
    nearer = add_at_depth("http://a/3", FRONTIER_SITE, 3);
    add_at_depth("http://b/1", FRONTIER_SITE, 1);
    nearer->depth = 1;
    frontier_add(&frontier, nearer);
    nearer->depth = 0;
    frontier_add(&frontier, nearer);
    run_workers(3);
    CHECK_TRACE("0:a/0 0:a/3 1:b/1 ");
    close_frontier();
}

TASK_TEST(frontier_add_again_gives_out_once_more)
{
    struct frontier_options options = at_a_time(9, 9);
    struct target *target;

    open_frontier(&options);
    target = add("http://a/1");
    take_and_finish();
    frontier_add_again(&frontier, target);
    take_and_finish();
    CHECK_TRACE("a/1 a/1 ");
    check_over();
    close_frontier();
}

TASK_TEST(frontier_that_only_notes_gives_out_what_was_not_done_meanwhile)
{
    struct frontier_options options = at_a_time(9, 9);
    struct target *done, *again;

    options.by_depth = true;
    open_frontier(&options);
    frontier_note_only(&frontier);
    done = add("http://a/1");
    add_at_depth("http://a/2", FRONTIER_SITE, 2);
    again = add("http://a/3");
    add_at_depth("http://a/4", FRONTIER_SITE, 1);
    add("http://a/1");
    CHECK_INT(frontier_queued_count(&frontier), 0);
    frontier_noted_is_done(&frontier, done);
    frontier_noted_is_done(&frontier, again);
    frontier_add_again(&frontier, again);
    frontier_take_noted(&frontier, &targets);
    add("http://a/1");
    run_workers(1);
    CHECK_TRACE("0:a/3 1:a/4 2:a/2 ");
    CHECK_INT(frontier_finished_count(&frontier), 5);
    close_frontier();
}

TASK_TEST(frontier_worker_cancelled_with_a_job_before_it_leaves_it_to_another)
{
    struct frontier_options options = at_a_time(9, 9);
    coil_task *workers[3];
    struct frontier_job job;

    open_frontier(&options);
    add("http://a/0");
    job = take(); /* an unfinished job keeps the crawl open */
    for (int i = 0; i < 3; i++)
        workers[i] = test_spawn(work, NULL);
    CHECK_INT(coil_sleep(COIL_SEC(1)), 0);
    add("http://a/1"); /* wakes a worker, which is cancelled before it runs */
    coil_task_cancel(workers[2], "test");
    coil_task_cancel(workers[1], "test");
    CHECK_INT(test_join(workers[2]), -ECANCELED);
    CHECK_INT(test_join(workers[1]), -ECANCELED);
    CHECK_INT(coil_sleep(COIL_SEC(1)), 0);
    CHECK_TRACE("a/0 1:a/1 ");
    frontier_done(&frontier, &job);
    CHECK_INT(test_join(workers[0]), -ESHUTDOWN);
    close_frontier();
}

static void check_counts(size_t left, size_t at_work, size_t through)
{
    CHECK_INT(frontier_queued_count(&frontier), left);
    CHECK_INT(frontier_job_count(&frontier), at_work);
    CHECK_INT(frontier_finished_count(&frontier), through);
}

/*
 * Each target is counted exactly once, so the numbers in the progress line never
 * decrease.
 */
TASK_TEST(frontier_counts_each_target_in_one_place_whatever_its_class)
{
    struct frontier_options options = at_a_time(2, 2);
    struct frontier_job job;

    options.obeys_robots = true;
    open_frontier(&options);
    add("http://a/1");
    add_at_depth("http://b/1", FRONTIER_EXTERNAL, 0);
    check_counts(2, 0, 0);
    job = take();
    CHECK_TRACE("robots.txt ");
    job.host->robots.state = ROBOTS_KNOWN;
    frontier_done(&frontier, &job);
    check_counts(2, 0, 0);
    job = take();
    check_counts(1, 1, 0);
    CHECK_INT(frontier_retry(&frontier, &job, coil_now()), 0);
    check_counts(2, 0, 0);
    CHECK_INT(frontier_take(&frontier, FRONTIER_EXTERNAL, &job), 0);
    check_counts(1, 1, 0);
    frontier_done(&frontier, &job);
    check_counts(1, 0, 1);
    take_and_finish();
    check_counts(0, 0, 2);
    CHECK_TRACE("a/1 a/1 ");
    close_frontier();
}

TASK_TEST(frontier_close_sends_the_workers_away_and_keeps_what_is_left)
{
    struct frontier_options options = at_a_time(9, 9);
    coil_task *worker;
    struct target *paused;

    open_frontier(&options);
    paused = add("http://a/1");
    frontier_pause(paused->host, begin + COIL_SEC(100));
    worker = test_spawn(work, NULL);
    CHECK_INT(coil_sleep(COIL_SEC(1)), 0);
    frontier_close(&frontier);
    CHECK_INT(test_join(worker), -ESHUTDOWN);
    CHECK_INT((coil_now() - begin) / COIL_SEC(1), 1);
    CHECK_INT(frontier_queued_count(&frontier), 1);
    add("http://a/2");
    CHECK_INT(frontier_queued_count(&frontier), 1);
    check_over();
    close_frontier();
}

/* ---- lack of descriptors, and workers ---------------------------------------------- */

static struct frontier_job take_class(enum frontier_class class)
{
    struct frontier_job job = {NULL, NULL};

    CHECK_INT(frontier_take(&frontier, class, &job), 0);
    return job;
}

static void try_again_after_lack(const struct frontier_job *job)
{
    CHECK(frontier_lack(&frontier, job));
    CHECK_INT(frontier_retry(&frontier, job, coil_now() + FRONTIER_LACK_NS), 0);
}

TASK_TEST(frontier_lack_lowers_the_limit_and_finished_targets_raise_it)
{
    struct frontier_options options = at_a_time(3, 9);
    struct frontier_job jobs[3];
    char url[24];

    open_frontier(&options);
    for (int i = 0; i < 110; i++) {
        snprintf(url, sizeof url, "http://a/%d", i);
        add(url);
    }
    for (int i = 0; i < 3; i++)
        jobs[i] = take_class(FRONTIER_SITE);
    try_again_after_lack(&jobs[2]);
    CHECK_INT(frontier.workers.limits[FRONTIER_SITE], 2);
    try_again_after_lack(&jobs[1]);
    CHECK_INT(frontier.workers.limits[FRONTIER_SITE], 1);
    CHECK(!frontier_has_room(&frontier, FRONTIER_SITE));
    frontier_done(&frontier, &jobs[0]);
    for (int i = 1; i < 110; i++) {
        CHECK_INT(frontier.workers.limits[FRONTIER_SITE], i < 100 ? 1 : 2);
        jobs[0] = take_class(FRONTIER_SITE);
        frontier_done(&frontier, &jobs[0]);
    }
    check_over();
    close_frontier();
}

TASK_TEST(frontier_lack_of_the_only_job_can_be_final)
{
    struct frontier_options options = at_a_time(3, 9);
    struct frontier_job job;

    open_frontier(&options);
    add("http://a/1");
    add("http://a/2");
    job = take_class(FRONTIER_SITE);
    for (int i = 1; i < FRONTIER_LACKS; i++)
        CHECK(frontier_lack(&frontier, &job));
    frontier_done(&frontier, &job);
    job = take_class(FRONTIER_SITE);
    for (int i = 1; i < FRONTIER_LACKS; i++)
        CHECK(frontier_lack(&frontier, &job));
    CHECK(!frontier_lack(&frontier, &job));
    frontier_done(&frontier, &job);
    close_frontier();
}

TASK_TEST(frontier_lack_of_one_class_limits_the_other)
{
    struct frontier_options options = at_a_time(3, 9);
    struct frontier_job outside, inside[2];

    open_frontier(&options);
    add("http://a/1");
    add("http://a/2");
    add_at_depth("http://b/1", FRONTIER_EXTERNAL, 0);
    outside = take_class(FRONTIER_EXTERNAL);
    inside[0] = take_class(FRONTIER_SITE);
    inside[1] = take_class(FRONTIER_SITE);
    try_again_after_lack(&outside);
    CHECK_INT(frontier.workers.limits[FRONTIER_EXTERNAL], 3);
    CHECK_INT(frontier.workers.limits[FRONTIER_SITE], 1);
    frontier_done(&frontier, &inside[0]);
    frontier_done(&frontier, &inside[1]);
    outside = take_class(FRONTIER_EXTERNAL);
    frontier_done(&frontier, &outside);
    close_frontier();
}

static void on_add_worker(void *arg, enum frontier_class class)
{
    (void)arg;
    test_trace("worker:%d ", (int)class);
}

TASK_TEST(frontier_starts_workers_only_for_jobs_within_the_limit)
{
    struct frontier_options options = at_a_time(1, 9);
    struct frontier_job job;

    open_frontier(&options);
    frontier_set_staff(&frontier, &(struct frontier_staff){on_add_worker, NULL});
    add("http://a/1");
    CHECK_TRACE("worker:0 ");
    job = take_class(FRONTIER_SITE);
    add("http://b/1");
    CHECK_TRACE("");
    frontier_done(&frontier, &job);
    CHECK_TRACE("worker:0 ");
    take_and_finish();
    CHECK_TRACE("b/1 ");
    close_frontier();
}

/* ---- in a crawl that many share ---------------------------------------------------- */

static void trace_job(const char *what, const struct frontier_job *job)
{
    test_trace("%s:%s ", what, name_of(job));
}

static void on_add(void *arg, struct target *target)
{
    (void)arg;
    trace_job("add", &(struct frontier_job){NULL, target});
}

static void on_complete(void *arg, const struct frontier_job *job)
{
    (void)arg;
    trace_job("through", job);
}

static int on_release(void *arg, const struct frontier_job *job, int64_t at_ns)
{
    (void)arg;
    trace_job("back", job);
    test_trace("in %d s ", (int)((at_ns - coil_now()) / COIL_SEC(1)));
    return 0;
}

static const struct frontier_above above = {on_add, on_complete, on_release, NULL};

static struct frontier_options below(bool by_depth)
{
    struct frontier_options options = at_a_time(9, 2);

    options.above = &above;
    options.by_depth = by_depth;
    return options;
}

/* Lease an existing target, for this process or for another one. */
static void lease(const char *url)
{
    bool is_new;
    struct target *target = targets_get(&targets, url, 0, &is_new);

    target->host = frontier_host(&frontier, url, FRONTIER_SITE);
    frontier_lease(&frontier, target);
}

TASK_TEST(frontier_below_another_hands_up_what_is_new_and_gives_none_of_it_out)
{
    struct frontier_options options = below(false);
    struct target *target;

    open_frontier(&options);
    target = add("http://a/1");
    add("http://a/1");
    target->depth = 0;
    frontier_add(&frontier, target);
    frontier_add_again(&frontier, target);
    CHECK_TRACE("add:a/1 add:a/1 ");
    CHECK_INT(frontier_queued_count(&frontier), 0);
    close_frontier();
}

TASK_TEST(frontier_below_another_hands_up_again_what_comes_nearer_by_depth)
{
    struct frontier_options options = below(true);
    struct target *target;

    open_frontier(&options);
    target = add_at_depth("http://a/1", FRONTIER_SITE, 3);
    target->depth = 2;
    frontier_add(&frontier, target);
    CHECK_TRACE("add:a/1 add:a/1 ");
    close_frontier();
}

static int close_later(void *arg)
{
    int rc = coil_sleep(COIL_SEC(10));

    (void)arg;
    frontier_close(&frontier);
    return rc;
}

TASK_TEST(frontier_below_another_gives_out_what_is_leased_until_it_is_closed)
{
    struct frontier_options options = below(true);
    coil_task *closing;

    open_frontier(&options);
    closing = test_spawn(close_later, NULL);
    lease("http://a/1");
    lease("http://a/2");
    lease("http://a/3");
    run_workers(3);
    CHECK_TRACE("0:a/1 0:a/2 through:a/1 1:a/3 through:a/2 through:a/3 ");
    CHECK_INT((coil_now() - begin) / COIL_SEC(1), 10);
    CHECK_INT(frontier_finished_count(&frontier), 3);
    CHECK_INT(test_join(closing), 0);
    close_frontier();
}

TASK_TEST(frontier_below_another_gives_back_what_is_to_be_tried_later)
{
    struct frontier_options options = below(false);
    struct frontier_job job;

    open_frontier(&options);
    lease("http://a/1");
    lease("http://a/2");
    job = take();
    CHECK_INT(frontier_retry(&frontier, &job, coil_now() + COIL_SEC(5)), 0);
    CHECK_INT(frontier_queued_count(&frontier), 1);
    job = take();
    CHECK_INT(frontier_retry(&frontier, &job, coil_now()), 0);
    CHECK_INT(frontier_queued_count(&frontier), 1);
    take_and_finish();
    CHECK_TRACE("a/1 back:a/1 in 5 s a/2 a/2 through:a/2 ");
    CHECK_INT(frontier_job_count(&frontier), 0);
    close_frontier();
}

TASK_TEST(frontier_below_another_keeps_robots_to_itself)
{
    struct frontier_options options = below(false);
    struct frontier_job job;

    options.obeys_robots = true;
    open_frontier(&options);
    lease("http://a/1");
    job = take();
    job.host->robots.state = ROBOTS_KNOWN;
    frontier_done(&frontier, &job);
    CHECK_TRACE("robots.txt ");
    take_and_finish();
    CHECK_TRACE("a/1 through:a/1 ");
    close_frontier();
}
