/*
 * executor.h (internal) - the library's own blocking calls, described by names that users
 * know.
 */
#ifndef COIL_IO_EXECUTOR_H
#define COIL_IO_EXECUTOR_H

#include "../task/wait.h"

#include <coil/executor.h>

struct coil__job;

/*
 * The wait of coil_blocking(), on the task's stack. Remains valid after its job was
 * abandoned.
 */
struct coil__job_waiting {
    struct coil__wait wait;
    struct coil__job *job; /* NULL: abandoned, or given up because the loop closes */
    const char *what;      /* for a class without a name; and a descriptor or -1 */
    int fd;
};

/* The members of a class of such waits. */
#define COIL__JOB_CLASS                                                                  \
    .cancel = coil__blocking_cancel, .job = COIL__WAIT_AT(struct coil__job_waiting, job)

/*
 * Like coil_blocking(), but the task waits in a wait of `class`, which has
 * COIL__JOB_CLASS. `what` and `fd` are for its paths. Returns a negative errno if the job
 * did not run, so fn must return 0 and store its result in `arg`.
 */
int coil__blocking(coil_lane lane, int (*fn)(void *arg), void *arg,
                   const struct coil__wait_class *class, const char *what, int fd);
bool coil__blocking_cancel(struct coil__wait *wait);

#endif
