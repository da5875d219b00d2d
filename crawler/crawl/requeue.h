/* requeue.h - fetch a page again later if its request failed. */
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

#endif
