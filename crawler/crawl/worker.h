/*
 * worker.h - a task that fetches pages.
 */
#ifndef CRAWLER_WORKER_H
#define CRAWLER_WORKER_H

#include "crawl.h"

/* Fetch targets of one class until the frontier is empty. Both are task functions, and
   their argument is the crawler. They return 0, -ECANCELED, -ENOMEM, or the error of a
   sink or a file. */
COIL_SUSPENDS int worker_run_site(void *crawler);
COIL_SUSPENDS int worker_run_external(void *crawler);

#endif
