/*
 * messages.c - System V message queues and semaphores.
 *
 * No descriptor becomes ready when a queue or a semaphore changes. Therefore each call is
 * made with IPC_NOWAIT, and repeated at growing intervals.
 */
#include "waiting.h"

#include <string.h>
#include <sys/msg.h>
#include <sys/sem.h>

INTERPOSE ssize_t msgrcv(int queue, void *message, size_t bytes, long type, int flags)
{
    int64_t nap = 0;
    ssize_t n;

    if (!IN_TASK() || flags & (IPC_NOWAIT | MSG_COPY)) /* MSG_COPY requires IPC_NOWAIT */
        return NEXT(msgrcv)(queue, message, bytes, type, flags);
    posix__fairly();
    while ((n = NEXT(msgrcv)(queue, message, bytes, type, flags | IPC_NOWAIT)) < 0 &&
           errno == ENOMSG)
        if (posix__nap(&nap, COIL_NEVER) < 0)
            break;
    return n;
}

INTERPOSE int msgsnd(int queue, const void *message, size_t bytes, int flags)
{
    int64_t nap = 0;
    int rc;

    if (!IN_TASK() || flags & IPC_NOWAIT)
        return NEXT(msgsnd)(queue, message, bytes, flags);
    posix__fairly();
    while ((rc = NEXT(msgsnd)(queue, message, bytes, flags | IPC_NOWAIT)) < 0 &&
           errno == EAGAIN)
        if (posix__nap(&nap, COIL_NEVER) < 0)
            break;
    return rc;
}

/* ---- semaphores -------------------------------------------------------------------- */

#define MOST_AT_ONCE 500 /* Linux's SEMOPM: the kernel refuses more operations */

/*
 * True if the call can be tried with IPC_NOWAIT, which is impossible if one of the
 * operations already has this flag: an attempt sets the flag in all operations, so EAGAIN
 * would not show which operation had to wait.
 */
static bool may_wait_for_all(const struct sembuf *operations, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (operations[i].sem_flg & IPC_NOWAIT)
            return false;
    return n > 0 && n <= MOST_AT_ONCE;
}

static int semop_in_task(int set, const struct sembuf *operations, size_t n,
                         int64_t deadline)
{
    struct sembuf attempt[MOST_AT_ONCE];
    int64_t nap = 0;
    int rc;

    memcpy(attempt, operations, n * sizeof *attempt);
    for (size_t i = 0; i < n; i++)
        attempt[i].sem_flg |= IPC_NOWAIT;
    while ((rc = NEXT(semop)(set, attempt, n)) < 0 && errno == EAGAIN)
        if (posix__left(deadline) == 0 || posix__nap(&nap, deadline) < 0)
            break;
    return rc;
}

INTERPOSE int semop(int set, struct sembuf *operations, size_t n)
{
    if (!IN_TASK() || !may_wait_for_all(operations, n))
        return NEXT(semop)(set, operations, n);
    posix__fairly();
    return semop_in_task(set, operations, n, COIL_NEVER);
}

INTERPOSE int semtimedop(int set, struct sembuf *operations, size_t n,
                         const struct timespec *timeout)
{
    if (!IN_TASK() || !may_wait_for_all(operations, n) || !posix__is_span(timeout))
        return NEXT(semtimedop)(set, operations, n, timeout);
    posix__fairly();
    return semop_in_task(set, operations, n, posix__deadline(timeout));
}
