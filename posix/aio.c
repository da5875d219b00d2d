/*
 * aio.c - aio_suspend(3), and lio_listio(3) with LIO_WAIT.
 *
 * glibc performs asynchronous I/O on threads. When an operation ends, glibc wakes only
 * threads that are waiting in its own functions. A task therefore calls aio_suspend()
 * with a time-out of 0 at growing intervals. In a task, lio_listio() starts the
 * operations with LIO_NOWAIT, and checks at growing intervals whether they have ended.
 */
#include "waiting.h"

#include <aio.h>

/* The sizes of struct aiocb and struct aiocb64 are the same on 64-bit systems. */
_Static_assert(sizeof(struct aiocb) == sizeof(struct aiocb64), "two kinds of aiocb");

static int suspend_in_task(const struct aiocb *const *list, int n, int64_t deadline)
{
    static const struct timespec none;
    int saved = errno, rc;
    int64_t nap = 0;

    posix__fairly();
    while ((rc = NEXT(aio_suspend)(list, n, &none)) < 0 && errno == EAGAIN)
        if (posix__left(deadline) == 0 || posix__nap(&nap, deadline) < 0)
            break;
    if (rc == 0)
        errno = saved;
    return rc;
}

INTERPOSE int aio_suspend(const struct aiocb *const list[], int n,
                          const struct timespec *restrict timeout)
{
    if (!IN_TASK() || !posix__is_span(timeout))
        return NEXT(aio_suspend)(list, n, timeout);
    return suspend_in_task(list, n, posix__deadline(timeout));
}

INTERPOSE int aio_suspend64(const struct aiocb64 *const list[], int n,
                            const struct timespec *restrict timeout)
{
    if (!IN_TASK() || !posix__is_span(timeout))
        return NEXT(aio_suspend64)(list, n, timeout);
    return suspend_in_task((const struct aiocb *const *)list, n,
                           posix__deadline(timeout));
}

/* ---- lio_listio() ------------------------------------------------------------------ */

#define MOST_PRIORITY 20 /* glibc's AIO_PRIO_DELTA_MAX */

/* True if glibc starts the operation. An operation with an unknown opcode is started, and
 * then fails. */
static bool is_operation(const struct aiocb *cb)
{
    return cb != NULL && cb->aio_lio_opcode != LIO_NOP && cb->aio_reqprio >= 0 &&
           cb->aio_reqprio <= MOST_PRIORITY;
}

/* Wait until the operation has ended. Returns 0, or -1 if the task was cancelled. */
static int finish_operation(const struct aiocb *cb)
{
    int64_t nap = 0;

    while (aio_error(cb) == EINPROGRESS)
        if (posix__nap(&nap, COIL_NEVER) < 0)
            return -1;
    return 0;
}

/*
 * Wait for the operations in the list, and return the result of lio_listio(). `rc` is -1
 * if an operation could not be started. If `rc` is -1 or an operation has failed, the
 * result is -1 with EIO, or with the current errno if no operation was started.
 */
static int finish_list(struct aiocb *const *list, int n, int rc)
{
    bool any = false, all_right = rc == 0;
    int saved = errno;

    posix__fairly();
    for (int i = 0; i < n; i++) {
        if (!is_operation(list[i]))
            continue;
        any = true;
        if (finish_operation(list[i]) < 0)
            return -1;
        all_right = all_right && aio_error(list[i]) == 0;
    }
    errno = any && !all_right ? EIO : saved;
    return all_right ? 0 : -1;
}

INTERPOSE int lio_listio(int mode, struct aiocb *const list[], int n,
                         struct sigevent *restrict event)
{
    if (mode != LIO_WAIT || !IN_TASK() || !posix__may_wait())
        return NEXT(lio_listio)(mode, list, n, event);
    return finish_list(list, n, NEXT(lio_listio)(LIO_NOWAIT, list, n, NULL));
}

INTERPOSE int lio_listio64(int mode, struct aiocb64 *const list[], int n,
                           struct sigevent *restrict event)
{
    if (mode != LIO_WAIT || !IN_TASK() || !posix__may_wait())
        return NEXT(lio_listio64)(mode, list, n, event);
    return finish_list((struct aiocb *const *)list, n,
                       NEXT(lio_listio64)(LIO_NOWAIT, list, n, NULL));
}
