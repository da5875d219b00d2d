/*
 * signals.h - SIGINT, SIGTERM and SIGHUP.
 *
 * The first of these signals wakes a task that cancels the crawl, and the reports are
 * written in full. The second signal ends the program at once, after the complete lines
 * of the reports are written. coil's own signal handlers are not used: a second
 * signal must work while the loop is blocked, for example by a slow reader of stdout.
 */
#ifndef CRAWLER_SIGNALS_H
#define CRAWLER_SIGNALS_H

#include "../report/reports.h"

#include <coil/task.h>

/* Install the handlers. `reports` are written at the second signal; NULL is accepted. A
   signal that nohup(1) ignores stays ignored. Returns 0, or a negative errno
   after a message. */
int signals_catch(struct reports *reports);

/* The reports are closed: the second signal writes none. */
void signals_forget_reports(void);

bool signals_were_caught(void);

/* A task's function: after the first signal, cancel the coil_task `arg`. */
COIL_SUSPENDS int signals_cancel_task(void *arg);

#endif
