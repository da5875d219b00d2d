/* robots_visit.c - see robots_visit.h */
#include "robots_visit.h"

#include "../fetch/retry.h"
#include "../fetch/robots_txt.h"
#include "process.h"
#include "requeue.h"
#include "save_page.h"

/* Report the sitemaps of a host, but not again if its robots.txt is fetched again. */
static int report_sitemaps(struct page_search *pages, struct host *host)
{
    const struct target *rules;
    int rc;

    if (pages->crawler->options->no_sitemaps || host->robots.rules == NULL ||
        host->robots.has_reported_sitemaps)
        return 0;
    host->robots.has_reported_sitemaps = true;
    rc = page_search_robots(pages, host, &rules);
    return rc == 0 && rules != NULL ? save_sitemaps(pages, host, rules) : rc;
}

int robots_visit(struct page_search *pages, const struct frontier_job *job)
{
    struct crawler *crawler = pages->crawler;
    int rc = robots_txt_get(&crawler->requester, job->host);

    if (retry_is_lack(rc))
        rc = requeue_allow_fewer(crawler, job, rc);
    frontier_begin_request(
        job->host); /* again, because robots.txt may have set a longer delay */
    if (rc == 0)
        rc = report_sitemaps(pages, job->host);
    if (rc == 0)
        frontier_done(&crawler->frontier, job);
    return rc;
}

static int settle_forbidden(struct crawler *crawler, struct target *page, unsigned line)
{
    int rc = forbid_page(crawler, page, line);

    return rc == 0 ? save_forbidden(crawler, page, line) : rc;
}

static int settle_failed(struct crawler *crawler, struct target *page,
                         const struct answer *failure)
{
    int rc = fail_page(crawler, page, failure);

    return rc == 0 ? save_failed_rules(crawler, page, failure) : rc;
}

static int end_job(struct crawler *crawler, const struct frontier_job *job, int rc)
{
    if (rc < 0)
        return rc;
    frontier_done(&crawler->frontier, job);
    return 1;
}

int robots_settle(struct crawler *crawler, const struct frontier_job *job)
{
    struct host *host = job->host;
    unsigned line;
    int rc;

    if (host->robots.state == ROBOTS_KNOWN && coil_now() > host->robots.until_ns) {
        host->robots.state = ROBOTS_WANTED;
        rc = frontier_retry(&crawler->frontier, job, coil_now());
        return rc < 0 ? rc : 1;
    }
    if (host->robots.failure != NULL)
        return end_job(crawler, job,
                       settle_failed(crawler, job->target, host->robots.failure));
    rc = robots_txt_forbids(host, job->target->url, &line);
    return rc > 0 ? end_job(crawler, job, settle_forbidden(crawler, job->target, line))
                  : rc;
}
