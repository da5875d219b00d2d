/* requeue.h - fetch a page or file again later if this failed. */
#ifndef CRAWLER_REQUEUE_H
#define CRAWLER_REQUEUE_H

#include "process.h"

/*
 * Requeue the page if the server refused the request, or if the failure may be temporary
 * and the page has tries left. Call this after report_answer(). Returns 1 if the page was
 * requeued and its answer must be ignored, 0 if the answer is final, or -ENOMEM.
 */
int requeue_page(const struct visit *visit, const struct frontier_job *job,
                 const struct answer *answer);

/*
 * Allow fewer concurrent requests, because the job has failed with `rc`, for which
 * retry_is_lack() is true. If it was the only job, close idle connections. Returns 0 if
 * the job can be tried again, or -ENOMEM. If a single job has failed too often, sets
 * crawler->result.complaint and returns `rc`.
 */
int requeue_allow_fewer(struct crawler *crawler, const struct frontier_job *job, int rc);

/*
 * Call requeue_allow_fewer(), and requeue the job's page or file. The failure does not
 * count as a try. Returns 1, `rc`, or -ENOMEM.
 */
int requeue_after_lack(struct crawler *crawler, const struct frontier_job *job, int rc);

#endif
