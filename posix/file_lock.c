/*
 * file_lock.c - locks on files: flock(2), lockf(3), fcntl(2).
 *
 * The kernel does not report the release of a file lock. Therefore each call tries to
 * lock the file with its non-blocking command (LOCK_NB, F_TLOCK, F_SETLK), and tries
 * again at growing intervals.
 *
 * fcntl(2) has a third argument whose type depends on the command. Here the argument is
 * passed on as a pointer for every command.
 */
#include "waiting.h"

#include <stdarg.h>

INTERPOSE int flock(int fd, int operation)
{
    int64_t nap = 0;
    int rc;

    if (!IN_TASK() || operation & (LOCK_NB | LOCK_UN))
        return NEXT(flock)(fd, operation);
    while ((rc = NEXT(flock)(fd, operation | LOCK_NB)) < 0 && errno == EWOULDBLOCK)
        if (posix__nap(&nap, COIL_NEVER) < 0)
            break;
    return rc;
}

/*
 * True if another process holds the lock. POSIX allows lockf(3) and fcntl(2) to fail with
 * either EAGAIN or EACCES in this case.
 */
static bool is_taken(void)
{
    return errno == EAGAIN || errno == EACCES;
}

INTERPOSE int lockf(int fd, int command, off_t bytes)
{
    int64_t nap = 0;
    int rc;

    if (!IN_TASK() || command != F_LOCK)
        return NEXT(lockf)(fd, command, bytes);
    while ((rc = NEXT(lockf)(fd, F_TLOCK, bytes)) < 0 && is_taken())
        if (posix__nap(&nap, COIL_NEVER) < 0)
            break;
    return rc;
}

INTERPOSE int lockf64(int fd, int command, off64_t bytes)
{
    int64_t nap = 0;
    int rc;

    if (!IN_TASK() || command != F_LOCK)
        return NEXT(lockf64)(fd, command, bytes);
    while ((rc = NEXT(lockf64)(fd, F_TLOCK, bytes)) < 0 && is_taken())
        if (posix__nap(&nap, COIL_NEVER) < 0)
            break;
    return rc;
}

static bool is_waiting_command(int command)
{
    return command == F_SETLKW || command == F_OFD_SETLKW;
}

static int lock_in_task(int fd, int command, void *lock)
{
    int attempt = command == F_SETLKW ? F_SETLK : F_OFD_SETLK;
    int64_t nap = 0;
    int rc;

    while ((rc = NEXT(fcntl)(fd, attempt, lock)) < 0 && is_taken())
        if (posix__nap(&nap, COIL_NEVER) < 0)
            break;
    return rc;
}

INTERPOSE int fcntl(int fd, int command, ...)
{
    va_list args;
    void *arg;

    va_start(args, command);
    arg = va_arg(args, void *);
    va_end(args);
    if (!is_waiting_command(command) || !IN_TASK())
        return NEXT(fcntl)(fd, command, arg);
    return lock_in_task(fd, command, arg);
}

INTERPOSE int fcntl64(int fd, int command, ...)
{
    va_list args;
    void *arg;

    va_start(args, command);
    arg = va_arg(args, void *);
    va_end(args);
    if (!is_waiting_command(command) || !IN_TASK())
        return NEXT(fcntl64)(fd, command, arg);
    return lock_in_task(fd, command, arg);
}
