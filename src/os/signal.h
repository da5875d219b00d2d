/*
 * signal.h (internal) - who wants which signal; what the process's dispositions are.
 */
#ifndef COIL_OS_SIGNAL_H
#define COIL_OS_SIGNAL_H

#include "../base/base.h"

#include <signal.h>

#define COIL__SIGNALS 65 /* one more than the last */

/*
 * A loop's inbox, into which the handler writes. The pipe is the loop's; the rest is
 * signal_table.c's.
 */
struct coil__inbox {
    int pipe[2];
    struct coil__inbox *_Atomic next;
    _Atomic uint64_t wanted;   /* bit signo - 1 */
    _Atomic uint64_t overflow; /* came when the pipe was full */
};

/* Its descriptors are made and it is known to the handler. -EMFILE. */
int coil__inbox_open(struct coil__inbox *inbox);

/* It wants nothing any more: dispositions are restored, no handler is in it. */
void coil__inbox_close(struct coil__inbox *inbox);

/* The loop wants the signal from now on, or no longer. A second time: nothing. -EINVAL.
 */
int coil__inbox_want(struct coil__inbox *inbox, int signo);
void coil__inbox_forget(struct coil__inbox *inbox, int signo);

/* Take the next that has come; false if there is none. */
bool coil__inbox_take(struct coil__inbox *inbox, siginfo_t *info);

/* May it be wanted at all? */
bool coil__signal_valid(int signo);

#endif
