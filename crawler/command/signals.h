/*
 * signals.h - handle SIGINT, SIGTERM and SIGHUP.
 *
 * The first signal wakes a task that cancels the crawl, and the reports are still written
 * in full. The second signal writes only the complete lines of the reports, and ends the
 * program immediately. coil's own signal handlers are not used, because the second signal
 * must work while the loop is blocked, for example by a slow reader of stdout.
 */
#ifndef CRAWLER_SIGNALS_H
#define CRAWLER_SIGNALS_H

#include "../report/reports.h"

#include <coil/task.h>

/* Install the handlers. The second signal writes the complete lines of `reports`, which
   may be NULL. A signal that is ignored because of nohup(1) stays ignored. Returns 0, or
   a negative errno after a message. */
int signals_catch(struct reports *reports);

/* Call this when the reports are closed, so that the second signal does not access
 * them. */
void signals_forget_reports(void);

bool signals_were_caught(void);

/* A task function that waits for the first signal, then cancels the coil_task `arg`. */
COIL_SUSPENDS int signals_cancel_task(void *arg);

#endif
