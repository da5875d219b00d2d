/*
 * waiting.h - how an interposed function waits.
 *
 * An interposed function calls the C library's function with a flag that makes this one
 * call non-blocking. If the call fails with EAGAIN, the task is suspended until the
 * descriptor is ready:
 *
 *     struct posix__waiting w = {.fd = fd, .events = POLLIN};
 *
 *     do
 *         n = NEXT(recv)(fd, buf, size, flags | MSG_DONTWAIT);
 *     while (n < 0 && posix__again(&w));
 *     return n;
 *
 * A function that returns -1 sets errno: ECANCELED if the task was cancelled, or EBADF if
 * the descriptor was closed during the wait.
 */
#ifndef POSIX_WAITING_H
#define POSIX_WAITING_H

#include "interpose.h"

#include <coil/executor.h>
#include <coil/scope.h>

#include <errno.h>
#include <stdint.h>

/* The waits of one call for one descriptor. */
struct posix__waiting {
    int fd;
    short events; /* the events to wait for */
    bool begun;
    unsigned ready_failures; /* consecutive attempts that failed on a ready descriptor */
    int64_t nap;             /* length of the latest nap after such failures */
    int64_t deadline;        /* set together with `begun`, from the socket's time-out */
};

/*
 * Call this after an attempt has failed with `errno`. The function waits if necessary,
 * and returns true if the caller should try again. If the function returns false, the
 * interposed call fails with `errno`. In that case, EAGAIN means that the descriptor is
 * non-blocking, or that its time-out has passed.
 */
bool posix__again(struct posix__waiting *w);

/* True if poll(2) reports one of `events` for the descriptor now. Preserves errno. */
bool posix__polls(int fd, short events);

/*
 * Wait for the descriptor, regardless of errno. Returns 1 if the descriptor is ready, 0
 * after the time-out, or -1.
 */
int posix__await(struct posix__waiting *w);

/*
 * False if the descriptor has O_NONBLOCK. True for an invalid descriptor. Preserves
 * errno.
 */
bool posix__blocks(int fd);

/* Return the deadline of a call on the socket, according to SO_RCVTIMEO or SO_SNDTIMEO,
 * or COIL_NEVER if there is no time-out. Preserves errno. */
int64_t posix__socket_deadline(int fd, int option);

/*
 * Return false if the call must block instead of suspending the task: in a child of
 * vfork(2), where the loop belongs to the parent, and in a signal handler on an alternate
 * stack. (A handler on the task's stack cannot be recognised.) The check may cost two
 * system calls, so make it only before a wait.
 */
bool posix__may_wait(void);

/* True if this thread may have created a child that runs on its stack: see waiting.c. */
extern THREAD_LOCAL bool posix__may_be_child;

/*
 * Enter and leave a region in which certain tasks are not cancelled: tasks spawned with
 * hold_cancel, and cancelled tasks that have tried to wait 1,000 times (coil reports such
 * a task). Pass the result of posix__hold_cancel() to posix__release_cancel().
 */
bool posix__hold_cancel(coil_scope *scope);
void posix__release_cancel(coil_scope *scope, bool held);

/*
 * Like posix__hold_cancel(), for a sleep or for the wait of an event loop (epoll).
 * Programs often repeat such a call until something has happened. In a cancelled task
 * such a call therefore fails a limited number of times, and then waits.
 */
bool posix__hold_pause(coil_scope *scope);

/* Like coil_blocking() and coil_blocking_abandonable(), inside posix__hold_cancel(). */
int posix__blocking(coil_lane lane, int (*fn)(void *arg), void *arg);
int posix__blocking_abandonable(coil_lane lane, int (*fn)(void *arg), void *arg,
                                void (*discard)(void *arg));

/* Like coil_blocking(), but shielded, for calls that cannot fail. A later call reports
 * the cancellation. Preserves errno. A negative result means that fn was not called. */
int posix__blocking_shielded(coil_lane lane, int (*fn)(void *arg), void *arg);

/* Like poll(2): suspend the task, or block the thread if the task must not suspend. */
int posix__poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns);

/*
 * Like posix__poll(), but a pending signal also ends the wait if it is blocked and the
 * mask unblocks it. After that the caller calls the C library's function with the mask,
 * which delivers the signal. Returns 0 or -1.
 */
int posix__poll_by_mask(struct pollfd *fds, nfds_t n, int64_t timeout_ns,
                        const sigset_t *mask);

/* Sleep by suspending the task, or by blocking the thread if the task must not suspend.
 * Returns 0 or -1. */
int posix__sleep(int64_t span_ns);

/* Like posix__sleep(), for a sleep that the program requested: see
   posix__hold_pause(). */
int posix__pause(int64_t span_ns);

/*
 * Sleep between two attempts if the kernel has no event to wait for. `*length_ns` is
 * initially 0 and doubles with each nap, up to a limit. The nap does not extend past the
 * deadline. Returns 0 or -1.
 */
int posix__nap(int64_t *length_ns, int64_t deadline);

/* Like posix__nap(), but shielded, for calls that cannot fail. A later call reports the
 * cancellation. */
void posix__nap_shielded(int64_t *length_ns, int64_t deadline);

/*
 * Store in *lane the lane for calls that may wait inside the C library for any length of
 * time. No other lane must be used for such calls. Returns false if the program uses all
 * lanes.
 */
bool posix__waiting_lane(coil_lane *lane);

/* Return the time until the deadline, or COIL_NEVER. Returns 0 after the deadline. */
int64_t posix__left(int64_t deadline);

/* Return the deadline that is `span` from now, or COIL_NEVER if `span` is NULL. */
int64_t posix__deadline(const struct timespec *span);

/*
 * Convert a time to nanoseconds, and back. The first function returns COIL_NEVER if the
 * time does not fit, and 0 if it is negative.
 */
int64_t posix__nanoseconds(const struct timespec *t);
struct timespec posix__timespec(int64_t ns);

/* Return the time of a clock in nanoseconds. */
int64_t posix__clock(clockid_t clock);

/*
 * Return true if the C library would accept `t` as an absolute time (is_time) or as a
 * duration (is_span). A duration may be NULL, which means no limit.
 */
bool posix__is_time(const struct timespec *t);
bool posix__is_span(const struct timespec *t);

/* A time on a clock, which may be set during the wait. */
struct posix__until {
    clockid_t clock;
    const struct timespec *time; /* NULL means never */
};

/* True for the clocks that pthread_mutex_clocklock(3) and its relatives accept. */
bool posix__is_clock_of_locks(clockid_t clock);

/*
 * Return the time left until `until`, or COIL_NEVER. Returns 0 if that time has passed.
 */
int64_t posix__left_until(const struct posix__until *until);

/* Let the other tasks run. Call this only if posix__may_wait() is true. */
void posix__yield(void);

/*
 * Yield in every 64th call on this thread, so that calls that never have to wait do not
 * prevent other tasks from running.
 */
void posix__fairly(void);

#endif
