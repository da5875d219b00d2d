/* run.h (internal) - the parts of coil_run() that coil_run_threads() also uses. */
#ifndef COIL_RUN_RUN_H
#define COIL_RUN_RUN_H

#include <coil/error.h>
#include <coil/run.h>

/*
 * Report that the main task `name` has failed with rc, unless opts->error is set: in that
 * case the caller gets the error. `error` may be NULL.
 */
void coil__run_report(const coil_run_opts *opts, const char *name, int rc,
                      coil_error *error);

/*
 * Like coil_run(), but named coil_run_threads() in messages. Sets *reported to true if a
 * failure needs no further report; otherwise coil_run_threads() reports it.
 */
int coil__run_quietly(coil_task_fn fn, void *arg, const coil_run_opts *opts,
                      bool *reported);

#endif
