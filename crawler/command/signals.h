/*
 * signals.h - handle SIGINT, SIGTERM and SIGHUP.
 *
 * The first signal wakes a task that cancels the crawl. The reports are still written in
 * full. At the second signal, only the complete lines of the reports are written, and the
 * program ends immediately. coil's own signal handlers are not used, because the second
 * signal must work while the loop is blocked, for example by a slow reader of stdout.
 */
#ifndef CRAWLER_SIGNALS_H
#define CRAWLER_SIGNALS_H

#include "../report/reports.h"

#include <coil/task.h>

/* Install the handlers. At the second signal, they write the complete lines of `reports`,
   which may be NULL. Signals that are ignored, for example because of nohup(1), stay
   ignored. Returns 0, or prints a message and returns a negative errno. */
int signals_catch(struct reports *reports);

/* Make the handlers no longer access the reports. Call this when the reports are
 * closed. */
void signals_forget_reports(void);

bool signals_were_caught(void);

/* Wait for the first signal, then cancel the coil_task `arg`. This is a task function. */
COIL_SUSPENDS int signals_cancel_task(void *arg);

#endif
