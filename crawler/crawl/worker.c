/*
 * worker.c - take a target from the frontier, fetch it, process the answer.
 *
 * Where to start reading: run_jobs(), visit_target(), fetch_page().
 */
#include "worker.h"

#include "../fetch/retry.h"
#include "../fetch/robots_txt.h"
#include "../judge/judge.h"
#include "file_visit.h"
#include "member.h"
#include "page_reader.h"
#include "process.h"
#include "replay.h"
#include "save_page.h"

#include <errno.h>
#include <time.h>

/* After FAILURES_ENOUGH * --max-tries failures of a host in a row, each of its pages gets
   only one try. */
#define FAILURES_ENOUGH 10

int worker_report_answer(const struct worker *worker, const struct target *page,
                         const struct answer *answer)
{
    struct crawler *crawler = worker->crawler;
    struct record_answer record = {.url = page->url,
                                   .status = answer->status,
                                   .at_ns = worker->asked_ns - crawler->result.begin_ns,
                                   .duration_ns = worker->duration_ns,
                                   .bytes = answer->received_bytes,
                                   .tries = page->tries};

    return records_answer(&crawler->verdicts.sinks, &record);
}

/* Return the number of tries that the server did not refuse. */
static unsigned tries_of(const struct target *page)
{
    return page->tries > page->refusals ? page->tries - page->refusals : 1;
}

static bool is_accepted(const struct crawler *crawler, const struct target *page,
                        const struct answer *answer)
{
    return answer->rc == 0 &&
           judge_answer(crawler->options, page->url, page->kind == TARGET_SITE, answer)
                   .verdict == VERDICT_OK;
}

/* Requeue the page for at_ns. Returns 1 if it is requeued. */
static int retry_at(struct crawler *crawler, const struct frontier_job *job,
                    int64_t at_ns)
{
    int rc = frontier_retry(&crawler->frontier, job, at_ns);

    return rc < 0 ? rc : 1;
}

/* Requeue a page that failed, while it has tries left. Returns 1 if it is requeued. */
static int put_back_failed(struct crawler *crawler, const struct frontier_job *job,
                           const struct retry *retry)
{
    struct host *host = job->host;
    unsigned max_tries = crawler->options->max_tries;

    host->failures = retry->again ? host->failures + (host->failures < UINT32_MAX) : 0;
    if (!retry->again || tries_of(job->target) >= max_tries ||
        host->failures >= FAILURES_ENOUGH * max_tries)
        return 0;
    return retry_at(crawler, job, coil_now() + retry->pause_ns);
}

/* The server asks the crawler to slow down. This does not use up a try of the page. */
static int put_back_refused(struct worker *worker, const struct frontier_job *job,
                            const struct answer *answer, const struct retry *retry)
{
    struct crawler *crawler = worker->crawler;
    struct target *page = job->target;
    struct throttle_refusal refusal = {.sent_ns = worker->asked_ns,
                                       .now_ns = coil_now(),
                                       .retry_after_ns = retry->host_ns,
                                       .is_too_many = answer->status == 429,
                                       .is_external = page->kind == TARGET_EXTERNAL,
                                       .is_rested = worker->is_rested,
                                       .page_refusals = page->refusals,
                                       .max_tries = crawler->options->max_tries};
    int rc;

    switch (frontier_refuse(job->host, page, &refusal)) {
    case THROTTLE_AGAIN:
        return retry_at(crawler, job, refusal.now_ns + throttle_pause_ns(&refusal));
    case THROTTLE_TEST:
        rc = frontier_test(&crawler->frontier, job);
        return rc < 0 ? rc : 1;
    case THROTTLE_FAILURE:
        return put_back_failed(crawler, job, retry);
    default:
        return 0;
    }
}

/* Returns 1 if the page is requeued, so that this answer does not count. */
static int put_back(struct worker *worker, const struct frontier_job *job,
                    const struct answer *answer)
{
    struct crawler *crawler = worker->crawler;
    struct retry retry = retry_after(answer, tries_of(job->target), time(NULL));

    if (is_accepted(crawler, job->target, answer))
        retry = (struct retry){.again = false};
    if (retry.is_refusal && retry.again)
        return put_back_refused(worker, job, answer, &retry);
    if (retry.is_refusal)
        job->host->is_troubled = true; /* its Retry-After is too long to wait for */
    else if (answer->rc == 0)
        frontier_accept(job->host, job->target, worker->is_rested);
    return put_back_failed(crawler, job, &retry);
}

/* The host does answer, so requeue the page until robots.txt is fetched. Returns 1. */
static int fetch_rules_first(struct crawler *crawler, const struct frontier_job *job)
{
    struct host *host = job->host;
    int rc;

    if (host->robots == ROBOTS_KNOWN)
        host->robots = ROBOTS_WANTED;
    rc = frontier_retry(&crawler->frontier, job, coil_now());
    return rc < 0 ? rc : 1;
}

/* ---- fetching ---------------------------------------------------------------------- */

/* Find a saved answer whose validators are sent with the request. It must have the ids if
   they are needed. */
static int find_saved_answer(struct worker *worker, const struct frontier_job *job,
                             struct recheck_kept *saved, struct request_reader *reader)
{
    int rc = recheck_find(worker->crawler->saving.recheck, job->target->url, saved);

    if (rc <= 0)
        return rc;
    if (job->target->wants_body && (saved->page.flags & STORE_BODY) == 0)
        return 0;
    rc = recheck_headers(saved, job->host->headers);
    reader->headers = saved->headers;
    return rc;
}

/* After 304 Not Modified, use the saved answer. */
static void use_saved_answer(struct worker *worker, const struct recheck_kept *saved,
                             struct answer *answer)
{
    int64_t received_bytes = answer->received_bytes;

    if (saved->headers == NULL || answer->rc < 0 || answer->status != 304)
        return;
    answer_finish(answer);
    replay_answer(&saved->page, answer);
    answer->received_bytes = received_bytes;
    worker->saved = &saved->page;
    worker->saved_urls = recheck_book(worker->crawler->saving.recheck);
}

static int process_and_save(struct worker *worker, struct target *page,
                            struct answer *answer)
{
    int rc;

    worker->problem = 0;
    worker->flaw = NULL;
    link_blob_begin(&worker->pages.links);
    rc = process_answer(worker, page, answer);
    return rc == 0 ? save_answer(worker, page, answer) : rc;
}

/* Fails only with errors that must end the crawl: -ECANCELED, -ENOMEM, or the failure of
   a report. */
static int fetch_page(struct worker *worker, const struct frontier_job *job)
{
    struct crawler *crawler = worker->crawler;
    struct recheck_kept saved = {.headers = NULL};
    struct answer answer;
    struct request_reader reader = page_reader(worker);
    int rc = request_find_headers(&crawler->requester, job->host);

    if (rc == 0 && crawler->saving.recheck != NULL)
        rc = find_saved_answer(worker, job, &saved, &reader);
    if (rc < 0) {
        recheck_kept_finish(&saved);
        return rc;
    }
    worker->is_rested = frontier_ask(job->host);
    worker->asked_ns = coil_now();
    job->target->tries += job->target->tries < UINT8_MAX;
    worker->page = job->target;
    worker->wants_body = job->target->wants_body;
    rc = request_answer(&crawler->requester, job->target, &reader, &answer);
    worker->duration_ns = coil_now() - worker->asked_ns - answer.paused_ns;
    crawler->verdicts.summary.bytes += answer.received_bytes;
    if (rc == 0)
        use_saved_answer(worker, &saved, &answer);
    if (rc == 0)
        rc = worker_report_answer(worker, job->target, &answer);
    if (rc == 0)
        rc = job->host->deserted > 0 && answer.rc == 0 ? fetch_rules_first(crawler, job)
                                                       : put_back(worker, job, &answer);
    if (rc == 0) {
        rc = process_and_save(worker, job->target, &answer);
        if (rc == 0)
            frontier_done(&crawler->frontier, job);
    }
    search_cancel(worker->pages.search);
    answer_finish(&answer);
    recheck_kept_finish(&saved);
    worker->saved = NULL;
    return rc < 0 ? rc : 0;
}

/* ---- robots.txt -------------------------------------------------------------------- */

/* Report the sitemaps only once, although robots.txt may be fetched again. */
static int report_sitemaps(struct worker *worker, struct host *host)
{
    const struct target *rules;
    int rc;

    if (worker->crawler->options->no_sitemaps || host->rules == NULL ||
        host->has_told_sitemaps)
        return 0;
    host->has_told_sitemaps = true;
    rc = page_search_robots(&worker->pages, host, &rules);
    return rc == 0 && rules != NULL ? save_sitemaps(worker, host, rules) : rc;
}

static int visit_rules(struct worker *worker, const struct frontier_job *job)
{
    struct crawler *crawler = worker->crawler;
    int rc = robots_txt_get(&crawler->requester, job->host);

    frontier_ask(job->host); /* again: the rules may have set a longer delay */
    if (rc == 0)
        rc = report_sitemaps(worker, job->host);
    if (rc == 0)
        frontier_done(&crawler->frontier, job);
    return rc;
}

static int forbid_and_save(struct crawler *crawler, const struct frontier_job *job,
                           unsigned line)
{
    int rc = forbid_page(crawler, job->target, line);

    if (rc == 0)
        rc = save_forbidden(crawler, job->target, line);
    if (rc == 0)
        frontier_done(&crawler->frontier, job);
    return rc;
}

static int fail_and_save(struct crawler *crawler, const struct frontier_job *job)
{
    const struct answer *failure = job->host->rules_failure;
    int rc = fail_page(crawler, job->target, failure);

    if (rc == 0)
        rc = save_failed_rules(crawler, job->target, failure);
    if (rc == 0)
        frontier_done(&crawler->frontier, job);
    return rc;
}

/* ---- jobs -------------------------------------------------------------------------- */

static int visit_file(struct worker *worker, const struct frontier_job *job)
{
    struct frontier *frontier = &worker->crawler->frontier;
    int64_t pause_ns;
    int rc = file_visit(&worker->pages, job->target, &pause_ns);

    if (rc > 0) {
        job->host->is_troubled =
            true; /* too few descriptors: open its files one by one */
        return frontier_retry(frontier, job, coil_now() + pause_ns);
    }
    if (rc == 0)
        frontier_done(frontier, job);
    return rc;
}

/* Report an error: other processes ended while they fetched the page. */
static int give_up_page(struct crawler *crawler, const struct frontier_job *job)
{
    int rc = save_given_up(crawler, job->target);

    target_set_state(job->target, TARGET_DONE);
    if (rc == 0)
        frontier_done(&crawler->frontier, job);
    return rc;
}

static int visit_target(struct worker *worker, const struct frontier_job *job)
{
    struct crawler *crawler = worker->crawler;
    unsigned line;
    int forbids;

    if (job->target == NULL)
        return visit_rules(worker, job);
    if (crawler->member != NULL) {
        if (!shared_may_ask(&crawler->member->shared, job->target)) {
            frontier_done(&crawler->frontier, job); /* another process has leased it */
            return 0;
        }
        if (shared_has_given_up(&crawler->member->shared, job->target))
            return give_up_page(crawler, job);
    }
    if (job->target->kind == TARGET_FILE)
        return visit_file(worker, job);
    if (job->host->robots == ROBOTS_KNOWN && coil_now() > job->host->rules_until_ns) {
        job->host->robots = ROBOTS_WANTED;
        return frontier_retry(&crawler->frontier, job, coil_now());
    }
    if (job->host->rules_failure != NULL)
        return fail_and_save(crawler, job);
    forbids = robots_txt_forbids(job->host, job->target->url, &line);
    if (forbids != 0)
        return forbids < 0 ? forbids : forbid_and_save(crawler, job, line);
    return fetch_page(worker, job);
}

static int run_jobs(struct worker *worker)
{
    struct frontier *frontier = &worker->crawler->frontier;
    struct frontier_job job;
    int rc;

    while ((rc = frontier_take(frontier, worker->class, &job)) == 0) {
        rc = visit_target(worker, &job);
        cold_tend(worker->crawler->targets.all.cold);
        if (rc == 0)
            rc = crawler_save(worker->crawler);
        if (rc < 0)
            break;
    }
    return rc == -ESHUTDOWN ? 0 : rc;
}

static int run_worker(struct crawler *crawler, enum frontier_class class)
{
    struct worker worker = {.crawler = crawler, .class = class};
    int rc = page_search_init(&worker.pages, crawler);

    if (rc == 0)
        rc = run_jobs(&worker);
    page_search_finish(&worker.pages);
    return rc;
}

int worker_run_site(void *crawler)
{
    return run_worker(crawler, FRONTIER_SITE);
}

int worker_run_external(void *crawler)
{
    return run_worker(crawler, FRONTIER_EXTERNAL);
}
