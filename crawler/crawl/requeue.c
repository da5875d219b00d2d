/*
 * requeue.c - see requeue.h
 *
 * fetch/retry.c decides which answers are temporary failures, and frontier/throttle.c
 * decides what to do after a refusal.
 */
#include "requeue.h"

#include "../fetch/retry.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/*
 * After FAILURES_ENOUGH * --max-tries failures of a host in a row, its pages are no
 * longer tried again.
 */
#define FAILURES_ENOUGH 10

/* Return how often the page was tried, not counting requests that were refused. */
static unsigned tries_of(const struct target *page)
{
    return page->tries > page->refusals ? page->tries - page->refusals : 1;
}

/* Requeue the page, not to be fetched before at_ns. Returns 1 or -ENOMEM. */
static int retry_at(struct crawler *crawler, const struct frontier_job *job,
                    int64_t at_ns)
{
    int rc = frontier_retry(&crawler->frontier, job, at_ns);

    return rc < 0 ? rc : 1;
}

/*
 * Requeue the page and return 1, if the failure may be temporary and the page has tries
 * left. Otherwise return 0 or -ENOMEM.
 */
static int requeue_failed(struct crawler *crawler, const struct frontier_job *job,
                          const struct retry *retry)
{
    struct host *host = job->host;
    unsigned max_tries = crawler->options->max_tries;

    host->pace.failures =
        retry->again ? host->pace.failures + (host->pace.failures < UINT32_MAX) : 0;
    if (!retry->again || tries_of(job->target) >= max_tries ||
        host->pace.failures >= FAILURES_ENOUGH * max_tries)
        return 0;
    return retry_at(crawler, job, coil_now() + retry->pause_ns);
}

/*
 * Handle a refusal, that is, an answer with which the server asks the crawler to slow
 * down. Refusals usually do not count as tries. Returns 1 if the page was requeued, 0 if
 * not, or -ENOMEM.
 */
static int requeue_refused(const struct visit *visit, const struct frontier_job *job,
                           const struct answer *answer, const struct retry *retry)
{
    struct crawler *crawler = visit->crawler;
    struct target *page = job->target;
    struct throttle_refusal refusal = {.sent_ns = visit->request.begin_ns,
                                       .now_ns = coil_now(),
                                       .retry_after_ns = retry->host_ns,
                                       .is_too_many = answer->status == 429,
                                       .is_external = page->kind == TARGET_EXTERNAL,
                                       .is_rested = visit->request.is_rested,
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
        return requeue_failed(crawler, job, retry);
    default:
        return 0;
    }
}

/*
 * Requeue the page, to be fetched after the robots.txt of its host. Called if the host
 * answers, but was unreachable when its robots.txt was requested. Returns 1 or -ENOMEM.
 */
static int fetch_rules_first(struct crawler *crawler, const struct frontier_job *job)
{
    if (job->host->robots.state == ROBOTS_KNOWN)
        job->host->robots.state = ROBOTS_WANTED;
    return retry_at(crawler, job, coil_now());
}

int requeue_page(const struct visit *visit, const struct frontier_job *job,
                 const struct answer *answer)
{
    struct host *host = job->host;
    struct retry retry;

    if (host->robots.unreachable_count > 0 && answer->rc == 0)
        return fetch_rules_first(visit->crawler, job);
    if (visit->judgement.verdict == VERDICT_OK) { /* the usual case: no retry */
        frontier_accept(host, job->target, visit->request.is_rested);
        host->pace.failures = 0;
        return 0;
    }
    retry = retry_after(answer, tries_of(job->target), time(NULL));
    if (retry.is_refusal && retry.again)
        return requeue_refused(visit, job, answer, &retry);
    if (retry.is_refusal)
        host->pace.is_troubled = true; /* Retry-After is too long to wait for */
    else if (answer->rc == 0)
        frontier_accept(host, job->target, visit->request.is_rested);
    return requeue_failed(visit->crawler, job, &retry);
}

/* ---- lack of descriptors ----------------------------------------------------------- */

int requeue_allow_fewer(struct crawler *crawler, const struct frontier_job *job, int rc)
{
    bool is_only_job = frontier_job_count(&crawler->frontier) == 1;

    if (frontier_lack(&crawler->frontier, job))
        return is_only_job ? requester_close_idle(&crawler->requester) : 0;
    if (crawler->result.complaint == NULL &&
        asprintf(&crawler->result.complaint,
                 "the crawl failed: not even one page can be fetched: %s",
                 strerror(-rc)) < 0)
        crawler->result.complaint = NULL;
    return rc;
}

int requeue_after_lack(struct crawler *crawler, const struct frontier_job *job, int rc)
{
    int failed = requeue_allow_fewer(crawler, job, rc);

    if (failed < 0)
        return failed;
    job->target->tries -= job->target->tries > 0;
    return retry_at(crawler, job, coil_in(FRONTIER_LACK_NS));
}
