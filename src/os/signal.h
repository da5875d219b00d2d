/*
 * signal.h (internal) - delivers signals to loops, and changes the process's
 * dispositions.
 */
#ifndef COIL_OS_SIGNAL_H
#define COIL_OS_SIGNAL_H

#include "../base/base.h"

#include <signal.h>

#define COIL__SIGNALS 65 /* the greatest signal number plus one */

/* A loop's inbox: the signal handler writes to pipe[1], and the loop watches pipe[0].
   Only signal_table.c uses the other members. */
struct coil__inbox {
    int pipe[2];
    struct coil__inbox *_Atomic next;
    _Atomic uint64_t wanted;   /* signals to deliver to this loop: bit signo - 1 */
    _Atomic uint64_t overflow; /* signals that arrived while the pipe was full */
};

/* Create the pipe and add the inbox to the handler's list. Fails with -EMFILE. */
int coil__inbox_open(struct coil__inbox *inbox);

/*
 * Stop delivering signals to the inbox, and close its pipe. When this function returns,
 * no signal handler uses the inbox.
 */
void coil__inbox_close(struct coil__inbox *inbox);

/*
 * Start or stop delivering the signal to the inbox. The handler is installed for the
 * first inbox that wants a signal; when no inbox wants it any more, the previous
 * disposition is restored. Repeating either call has no effect. coil__inbox_want() fails
 * with -EINVAL if the signal is invalid.
 */
int coil__inbox_want(struct coil__inbox *inbox, int signo);
void coil__inbox_forget(struct coil__inbox *inbox, int signo);

/* Take the next signal that has arrived. Returns false if the inbox is empty. */
bool coil__inbox_take(struct coil__inbox *inbox, siginfo_t *info);

/* True if a loop may handle this signal. */
bool coil__signal_valid(int signo);

#endif
