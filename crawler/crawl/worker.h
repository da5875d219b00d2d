/*
 * worker.h - the tasks that fetch pages.
 */
#ifndef CRAWLER_WORKER_H
#define CRAWLER_WORKER_H

#include "crawl.h"

/*
 * worker_run_site() fetches targets of the site, and worker_run_external() those of other
 * hosts, until the frontier is empty. These are task functions whose argument is the
 * crawler. They return 0, -ECANCELED, -ENOMEM, or the error of a sink or of a file.
 */
COIL_SUSPENDS int worker_run_site(void *crawler);
COIL_SUSPENDS int worker_run_external(void *crawler);

#endif
