/*
 * executor.h (internal) - coil_blocking() for the library's own calls, which appear in
 * reports under names that users know.
 */
#ifndef COIL_IO_EXECUTOR_H
#define COIL_IO_EXECUTOR_H

#include "../task/wait.h"

#include <coil/executor.h>

struct coil__job;

/*
 * The wait in coil_blocking(). Stored on the task's stack, not in the job, so it stays
 * valid when the job is abandoned.
 */
struct coil__job_waiting {
    struct coil__wait wait;
    struct coil__job *job; /* NULL if abandoned, or dropped because the loop is closing */
    /* name for reports if the class has none; `fd` is a descriptor or -1 */
    const char *what;
    int fd;
};

/* Initializers for the class of such a wait. */
#define COIL__JOB_CLASS                                                                  \
    .cancel = coil__blocking_cancel, .job = COIL__WAIT_AT(struct coil__job_waiting, job)

/*
 * Like coil_blocking(), but reports describe the wait by `class`, which must contain
 * COIL__JOB_CLASS, and by `what` and `fd`. A negative result means that the job did not
 * run, so fn must return 0 and store its own result in `arg`.
 */
int coil__blocking(coil_lane lane, int (*fn)(void *arg), void *arg,
                   const struct coil__wait_class *class, const char *what, int fd);
bool coil__blocking_cancel(struct coil__wait *wait);

#endif
