/* run.h (internal) - functions that coil_run() and coil_run_threads() share. */
#ifndef COIL_RUN_RUN_H
#define COIL_RUN_RUN_H

#include <coil/error.h>
#include <coil/run.h>

/* Report that the main task `name` has failed with rc, unless the caller takes the error.
   `error` may be NULL. */
void coil__run_report(const coil_run_opts *opts, const char *name, int rc,
                      coil_error *error);

/*
 * Like coil_run(), but for coil_run_threads(). coil_run_threads() itself reports a
 * failure, unless this function has set `*reported` to true.
 */
int coil__run_quietly(coil_task_fn fn, void *arg, const coil_run_opts *opts,
                      bool *reported);

#endif
