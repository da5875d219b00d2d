/*
 * signals.h - handle SIGINT, SIGTERM and SIGHUP.
 *
 * The first signal wakes a task that cancels the crawl, after which the reports are
 * written completely. The second signal ends the program immediately, after writing only
 * the complete lines of the reports. The second signal must work even while the loop is
 * blocked, for example by a slow reader of stdout, so coil's own signal handlers are not
 * used.
 */
#ifndef CRAWLER_SIGNALS_H
#define CRAWLER_SIGNALS_H

#include "../report/reports.h"

#include <coil/task.h>

/*
 * Install the handlers. At the second signal, they write the complete lines of `reports`,
 * which may be NULL. A signal that is ignored, for example because of nohup(1), stays
 * ignored. Returns 0, or a negative errno after printing a message.
 */
int signals_catch(struct reports *reports);

/* Stop the handlers from accessing the reports. Call this when the reports are closed. */
void signals_forget_reports(void);

bool signals_were_caught(void);

/* Wait for the first signal, then cancel the coil_task `arg`. This is a task function. */
COIL_SUSPENDS int signals_cancel_task(void *arg);

#endif
