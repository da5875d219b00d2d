/*
 * crawl.c - run the workers, which take targets from the frontier and add new ones.
 *
 *    starts --> frontier --> worker: fetch -- redirect --> new target ---.
 *                  ^                      \-- page ------> new targets ---|
 *                  '------------------------------------------------------'
 *
 * The crawl ends when the frontier is empty and no worker has a target.
 *
 * Invariants
 *   1. A target is added to the frontier only once, unless it is retried or
 *      target->refetch is set. targets_get() and enqueue.c never suspend, so they need
 *      no lock.
 *   2. Every target that a worker takes gets a verdict, unless the target is requeued or
 *      the crawl is interrupted.
 *   3. All links of a page are reported before its verdict.
 *
 * enqueue.c decides which targets are fetched, and judge/verdicts.c records their
 * verdicts. Start reading at crawler_run(), then read worker.c.
 *
 * Modelled on "A Web Crawler With asyncio Coroutines" by A. Jesse Jiryu Davis and Guido
 * van Rossum, in "500 Lines or Less".
 */
#include "crawl.h"

#include "../judge/summary.h"
#include "member.h"
#include "replay.h"
#include "starts.h"
#include "worker.h"

#include <coil/group.h>
#include <coil/scope.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int crawler_save(struct crawler *crawler)
{
    return crawler->saving.state != NULL ? state_save_if_due(crawler->saving.state) : 0;
}

/* The worker tasks, which are started on demand. */
struct staff {
    struct crawler *crawler;
    coil_group group;
    unsigned counts[FRONTIER_CLASSES];
    /* a worker was started, but has not looked for a job yet */
    bool is_starting[FRONTIER_CLASSES];
};

static int work_on_site(void *arg)
{
    struct staff *staff = arg;

    staff->is_starting[FRONTIER_SITE] = false;
    return worker_run_site(staff->crawler);
}

static int work_on_external(void *arg)
{
    struct staff *staff = arg;

    staff->is_starting[FRONTIER_EXTERNAL] = false;
    return worker_run_external(staff->crawler);
}

static int start_worker(struct staff *staff, enum frontier_class class)
{
    static const coil_task_fn bodies[] = {
        [FRONTIER_SITE] = work_on_site, [FRONTIER_EXTERNAL] = work_on_external};
    coil_spawn_opts opts = {.name = "worker"};
    int rc = coil_group_spawn(&staff->group, bodies[class], staff, &opts, NULL);

    staff->is_starting[class] = rc == 0;
    staff->counts[class] += rc == 0;
    return rc;
}

/*
 * Start another worker. While a worker is starting, another one is not needed yet: a
 * worker that takes a job calls this function again if there are more. If the worker
 * cannot be started, the others do its work.
 */
static void add_worker(void *arg, enum frontier_class class)
{
    struct staff *staff = arg;

    if (!staff->is_starting[class] && staff->counts[class] > 0 &&
        staff->counts[class] < staff->crawler->requester.max_tasks)
        (void)start_worker(staff, class);
}

/* Enqueue the start URLs, files and folders. If there is a saved crawl, replay it. */
static int begin_crawl(struct crawler *crawler)
{
    int rc;

    if (crawler->saving.earlier != NULL)
        frontier_note_only(&crawler->frontier);
    if (crawler->member != NULL)
        crawler->enqueuer.undecided.starts_open =
            1; /* cleared when Redis reports that all start URLs were fetched */
    rc = starts_enqueue(crawler);
    if (rc == 0 && crawler->saving.earlier != NULL)
        rc = replay(crawler);
    if (rc == 0 && crawler->saving.earlier != NULL && !crawler->saving.is_only_reported)
        frontier_take_noted(&crawler->frontier, &crawler->targets);
    return rc;
}

/* Fetch targets until the frontier is empty. */
static int run_workers(struct crawler *crawler)
{
    struct staff staff = {.crawler = crawler};
    int rc;

    coil_group_enter(&staff.group);
    frontier_set_staff(&crawler->frontier, &(struct frontier_staff){add_worker, &staff});
    rc = start_worker(&staff, FRONTIER_SITE);
    if (rc == 0 && crawler->options->external != EXTERNAL_SKIP)
        rc = start_worker(&staff, FRONTIER_EXTERNAL);
    if (rc == 0 && crawler->member != NULL)
        rc = coil_group_spawn(&staff.group, member_lease, crawler->member, NULL, NULL);
    rc = coil_group_exit(&staff.group, rc);
    frontier_set_staff(&crawler->frontier, &(struct frontier_staff){NULL, NULL});
    return rc;
}

/* Crawl until the frontier is empty or --max-duration has passed. */
static int crawl_in_time(struct crawler *crawler)
{
    int64_t limit = crawler->options->max_duration_ns;
    coil_scope scope;
    int rc = coil_scope_enter(&scope, limit > 0 ? coil_in(limit) : COIL_NEVER);

    if (rc < 0)
        return rc;
    rc = begin_crawl(crawler);
    if (rc == 0 && !crawler->saving.is_only_reported)
        rc = run_workers(crawler);
    rc = coil_scope_exit(&scope, rc);
    crawler->result.out_of_time = rc == -ETIMEDOUT && coil_scope_expired(&scope);
    return crawler->result.out_of_time ? 0 : rc;
}

/* ---- opening and closing ----------------------------------------------------------- */

/* Return this process's share of a host's limit of concurrent requests. */
static unsigned share_of(unsigned limit, unsigned split)
{
    return limit / split > 0 ? limit / split : 1;
}

static unsigned split_of(const struct crawler *crawler)
{
    return crawler->member != NULL ? crawler->options->split_host : 1;
}

static void open_frontier(struct crawler *crawler)
{
    const struct options *options = crawler->options;
    unsigned tasks = crawler->requester.max_tasks;
    unsigned per_host = options->per_host > 0 ? options->per_host : tasks;
    unsigned split = crawler->requester.split;

    frontier_init(
        &crawler->frontier,
        &(struct frontier_options){
            .limits = {tasks, tasks},
            .per_host = {share_of(per_host, split),
                         share_of(options->external_per_host, split)},
            .delay_ns = options->delay_ns * split,
            .obeys_robots = !options->no_robots,
            .by_depth = options->max_depth < UINT16_MAX,
            .cold = crawler->targets.all.cold,
            .above = crawler->member != NULL ? &crawler->member->shared.above : NULL});
}

int crawler_open(struct crawler *crawler)
{
    crawler->requester.split = split_of(crawler);
    crawler->requester.max_tasks = request_count_tasks(crawler->options);
    crawler->texts.is_off = crawler->saving.state != NULL || crawler->member != NULL ||
                            crawler->saving.earlier != NULL;
    open_frontier(crawler);
    return requester_open(&crawler->requester);
}

void crawler_close(struct crawler *crawler)
{
    frontier_close(&crawler->frontier);
    requester_close(&crawler->requester);
}

/* ---- the end ----------------------------------------------------------------------- */

/* Give a verdict to the targets that have none because the crawl ended early. */
static int settle_rest(struct crawler *crawler)
{
    struct judgement judgement = {VERDICT_UNCHECKED, REASON_INTERRUPTED};
    int rc;

    if (crawler->result.out_of_time)
        judgement = (struct judgement){VERDICT_SKIPPED, REASON_TIME};
    crawler->enqueuer.undecided.starts_open = 0;
    rc = verdicts_end(&crawler->verdicts, judgement);
    summary_count(&crawler->verdicts);
    return rc;
}

/* Copy the error message of the crawl's file, because an errno would not name the
   file. */
static void complain_of_state(struct crawler *crawler)
{
    const char *message;

    if (state_failure(crawler->saving.state, &message) < 0 &&
        crawler->result.complaint == NULL)
        crawler->result.complaint = strdup(message);
}

/*
 * Write the remaining results to the crawl's file, and record there whether the crawl is
 * finished. May be called after a cancellation, and while another task is in
 * crawler_save().
 */
static int finish_state(struct crawler *crawler, int rc)
{
    bool is_over = rc == 0 && !crawler->result.out_of_time;
    int written;

    if (crawler->saving.state == NULL)
        return rc;
    written = state_finish(crawler->saving.state, is_over);
    crawler->result.is_finished = is_over && written == 0;
    complain_of_state(crawler);
    return written < 0 && rc == 0 ? written : rc;
}

int crawler_run(void *arg)
{
    struct crawler *crawler = arg;
    int rc = crawler_open(crawler), ended;

    crawler->result.begin_ns = coil_now();
    if (rc == 0)
        rc = crawl_in_time(crawler);
    rc = finish_state(crawler, rc);
    frontier_close(&crawler->frontier);
    ended = settle_rest(crawler);
    crawler_close(crawler);
    crawler->verdicts.summary.duration_ns = coil_now() - crawler->result.begin_ns;
    return rc < 0 ? rc : ended;
}

int crawler_fetch(struct crawler *crawler)
{
    int rc, ended;

    crawler->takes_no_links = true;
    rc = run_workers(crawler);
    frontier_close(&crawler->frontier);
    ended = settle_rest(crawler);
    return rc < 0 ? rc : ended;
}

struct crawler_progress crawler_progress(const struct crawler *crawler)
{
    size_t bad = 0;
    size_t done = frontier_finished_count(&crawler->frontier);
    size_t left = frontier_queued_count(&crawler->frontier) +
                  frontier_job_count(&crawler->frontier);

    for (int i = 0; i < VERDICT_COUNT; i++)
        if (verdict_traits((enum verdict)i)->tone == TONE_BAD)
            bad += crawler->verdicts.summary.verdicts[i];
    return (struct crawler_progress){.known = done + left, .done = done, .bad = bad};
}

/* ---- creation ---------------------------------------------------------------------- */

void crawler_take_saved(struct crawler *crawler, const struct saved_crawl *saved)
{
    if (saved->store == NULL)
        return;
    crawler->saving.earlier = saved->command == COMMAND_CRAWL ? NULL : saved->store;
    crawler->saving.state = saved->state;
    crawler->saving.recheck = saved->recheck;
    crawler->saving.is_only_reported =
        saved->command == COMMAND_REPORT || saved->command == COMMAND_DIFF;
    if (crawler->saving.is_only_reported)
        crawler->enqueuer.is_offline = false;
    if (saved->state != NULL)
        state_take_targets(saved->state, &crawler->targets);
    targets_set_id_seed(&crawler->targets, store_setup(saved->store)->seed);
    crawler->enqueuer.begin_s = store_setup(saved->store)->time_s;
}

int crawler_init(struct crawler *crawler, const struct options *options,
                 struct cold *cold, const struct record_sink *sinks, size_t sink_count)
{
    *crawler =
        (struct crawler){.options = options,
                         .requester.options = options,
                         .verdicts = {.options = options,
                                      .targets = &crawler->targets,
                                      .sinks = {sinks, sink_count},
                                      .references.fail_on = options->fail_on},
                         .enqueuer = {.options = options,
                                      .targets = &crawler->targets,
                                      .frontier = &crawler->frontier,
                                      .verdicts = &crawler->verdicts,
                                      .site.lenient = options->lenient,
                                      .undecided.end = &crawler->enqueuer.undecided.first,
                                      .begin_s = time(NULL),
                                      .is_offline = options->offline},
                         .texts.enqueuer = &crawler->enqueuer};
    targets_init(&crawler->targets, cold);
    return starts_add(crawler);
}

void crawler_finish(struct crawler *crawler)
{
    frontier_finish(&crawler->frontier);
    enqueuer_finish(&crawler->enqueuer);
    local_finish(&crawler->local);
    verdicts_finish(&crawler->verdicts);
    text_checks_finish(&crawler->texts);
    targets_finish(&crawler->targets);
    free(crawler->result.complaint);
    *crawler = (struct crawler){.options = NULL};
}
