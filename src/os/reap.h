/*
 * reap.h - how a child has ended; so that no zombie remains.
 */
#ifndef COIL_OS_REAP_H
#define COIL_OS_REAP_H

#include <coil/base.h>

/*
 * If the child has ended, take its status, as waitpid(2) gives it. -EAGAIN: it runs.
 * -ECHILD: somebody else has taken it.
 */
int coil__reap(int pidfd, int *status);

/* The same, waiting for its end, with the thread. */
int coil__reap_now(int pidfd, int *status);

/*
 * Nobody is left to wait for the child: a thread does, and closes the pidfd, which is
 * the callee's. If the child is about to end, since it was killed, it is first waited
 * for here, a moment.
 */
void coil__reap_later(int pidfd, bool is_ending);

#endif
