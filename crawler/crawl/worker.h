/*
 * worker.h - a task that fetches pages.
 */
#ifndef CRAWLER_WORKER_H
#define CRAWLER_WORKER_H

#include "crawl.h"

/* Task functions, with the crawler as argument: fetch targets of a class until the
   frontier is empty. Return 0, -ECANCELED, -ENOMEM, or the failure of a sink or a
   file. */
COIL_SUSPENDS int worker_run_site(void *crawler);
COIL_SUSPENDS int worker_run_external(void *crawler);

#endif
