/*
 * worker.c - take targets from the frontier, fetch them, and process the answers.
 *
 * Start reading at run_jobs(), visit_target() and visit_page(). Rare cases have files of
 * their own: robots_visit.c, file_visit.c, requeue.c.
 */
#include "worker.h"

#include "../fetch/retry.h"
#include "file_visit.h"
#include "member.h"
#include "page_reader.h"
#include "process.h"
#include "replay.h"
#include "requeue.h"
#include "robots_visit.h"
#include "save_page.h"

#include <errno.h>

struct worker {
    struct crawler *crawler;
    enum frontier_class class;
    struct page_search pages;
};

/* ---- a page ------------------------------------------------------------------------ */

/*
 * Find a saved answer that a conditional request can validate, and set saved->headers. If
 * the ids of the page are needed, ignore an answer that was saved without them.
 */
static int find_saved_answer(const struct crawler *crawler,
                             const struct frontier_job *job, struct recheck_answer *saved)
{
    int rc = recheck_find(crawler->saving.recheck, job->target->url, saved);

    if (rc <= 0)
        return rc;
    if (job->target->wants_body && (saved->page.flags & STORE_BODY) == 0)
        return 0;
    return recheck_headers(saved, job->host->headers);
}

/* After 304 Not Modified, use the saved answer. */
static void use_saved_answer(struct visit *visit, const struct recheck_answer *saved,
                             struct answer *answer)
{
    int64_t received_bytes = answer->received_bytes;

    answer_finish(answer);
    replay_answer(&saved->page, answer);
    answer->received_bytes = received_bytes;
    visit->saved =
        (struct saved_page){&saved->page, recheck_urls(visit->crawler->saving.recheck)};
}

/* Request the page, and pass the body to the search as it arrives. Fails like
   process_answer(). */
static int request_page(struct visit *visit, const struct frontier_job *job,
                        struct recheck_answer *saved, struct answer *answer)
{
    struct crawler *crawler = visit->crawler;
    struct target *page = job->target;
    struct body_reader reader = page_reader(visit);
    int rc = request_find_headers(&crawler->requester, job->host);

    if (rc == 0 && crawler->saving.recheck != NULL)
        rc = find_saved_answer(crawler, job, saved);
    if (rc < 0)
        return rc;
    visit->request.is_rested = frontier_begin_request(job->host);
    visit->request.begin_ns = coil_now();
    visit->request.wants_body = page->wants_body;
    page->tries += page->tries < UINT8_MAX;
    rc = request_answer(&crawler->requester, page, saved->headers, &reader, answer);
    visit->request.duration_ns = coil_now() - visit->request.begin_ns - answer->paused_ns;
    crawler->verdicts.summary.bytes += answer->received_bytes;
    if (rc == 0 && saved->headers != NULL && answer->rc == 0 && answer->status == 304)
        use_saved_answer(visit, saved, answer);
    return rc;
}

/* Fetch a page and process the answer. Fails only with errors that must end the crawl:
   -ECANCELED, -ENOMEM, or the error of a report. */
static int visit_page(struct worker *worker, const struct frontier_job *job)
{
    struct visit visit = {
        .crawler = worker->crawler, .pages = &worker->pages, .page = job->target};
    struct recheck_answer saved = {.headers = NULL};
    struct answer answer = {.status = 0};
    int rc = request_page(&visit, job, &saved, &answer);

    if (rc == 0 && retry_is_lack(answer.rc))
        rc = requeue_after_lack(worker->crawler, job, answer.rc);
    if (rc == 0)
        rc = report_answer(&visit, &answer);
    if (rc == 0)
        rc = requeue_page(&visit, job, &answer); /* 1: the page is requeued */
    if (rc == 0)
        rc = process_answer(&visit, &answer);
    if (rc == 0 && saves_pages(worker->crawler))
        rc = save_answer(&visit, &answer);
    if (rc == 0)
        frontier_done(&worker->crawler->frontier, job);
    search_cancel(worker->pages.search);
    answer_finish(&answer);
    recheck_answer_finish(&saved);
    return rc < 0 ? rc : 0;
}

/* ---- jobs -------------------------------------------------------------------------- */

static int visit_file(struct worker *worker, const struct frontier_job *job)
{
    struct frontier *frontier = &worker->crawler->frontier;
    int64_t pause_ns;
    int rc = file_visit(&worker->pages, job->target, &pause_ns);

    if (retry_is_lack(rc)) {
        rc = requeue_after_lack(worker->crawler, job, rc);
        return rc < 0 ? rc : 0;
    }
    if (rc > 0)
        return frontier_retry(frontier, job, coil_now() + pause_ns);
    if (rc == 0)
        frontier_done(frontier, job);
    return rc;
}

/*
 * In a shared crawl, drop a page that this process may no longer fetch because its lease
 * was lost. If too many processes ended while fetching the page, record that it is given
 * up. Returns 1 if the page must not be fetched, 0 if it may, or a negative error.
 */
static int drop_leased(struct crawler *crawler, const struct frontier_job *job)
{
    const struct shared *shared = &crawler->member->shared;
    int rc = 0;

    if (shared_may_fetch(shared, job->target)) {
        if (!shared_has_given_up(shared, job->target))
            return 0;
        rc = save_given_up(crawler, job->target);
        target_set_state(job->target, TARGET_DONE);
    }
    if (rc < 0)
        return rc;
    frontier_done(&crawler->frontier, job);
    return 1;
}

static int visit_target(struct worker *worker, const struct frontier_job *job)
{
    struct crawler *crawler = worker->crawler;
    int rc = 0;

    if (job->target == NULL)
        return robots_visit(&worker->pages, job);
    if (crawler->member != NULL)
        rc = drop_leased(crawler, job);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    if (job->target->kind == TARGET_FILE)
        return visit_file(worker, job);
    rc = robots_settle(crawler, job); /* 1: the page is settled or requeued */
    if (rc != 0)
        return rc < 0 ? rc : 0;
    return visit_page(worker, job);
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
