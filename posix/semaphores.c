/*
 * semaphores.c - sem_wait(3) and its relatives.
 *
 * A wait calls sem_trywait(), and calls it again when the semaphore is posted
 * (parking.c). If the task is cancelled, sem_wait() fails with ECANCELED, because unlike
 * pthread_mutex_lock() it may fail.
 */
#include "parking.h"

#define TURN COIL_USEC(100) /* enough for the poster's thread to wake a task */

static int try_semaphore(void *sem)
{
    if (sem_trywait(sem) == 0)
        return 0;
    if (errno != EAGAIN)
        return errno;
    posix__expect_posts();
    return EBUSY;
}

/* The beginning of glibc's struct new_sem, with 64-bit atomics. */
struct glibc_semaphore {
    uint64_t value_and_waiters;
    int shared;
};

static bool is_shared(const sem_t *sem)
{
    return ((const struct glibc_semaphore *)sem)->shared != 0;
}

/*
 * If another task is waiting for the semaphore, which was already posted, sleep until the
 * poster's thread (parking.c) has woken that task. Otherwise a task that repeatedly posts
 * the semaphore and waits for it could keep it forever. Returns 0, or -1 if the task is
 * cancelled.
 */
static int let_others_go_first(sem_t *sem)
{
    int value = 0;

    if (!posix__may_be_parked(sem) && !posix__may_be_woken(sem))
        return 0;
    return sem_getvalue(sem, &value) == 0 && value > 0 ? posix__sleep(TURN) : 0;
}

/* Wait for the semaphore. Returns 0, or -1 and errno, like sem_wait(). */
static int wait_in_task(sem_t *sem, const struct posix__until *until)
{
    int saved = errno, rc;

    if (let_others_go_first(sem) < 0)
        return -1;
    rc = until == NULL ? posix__retry_counted(try_semaphore, sem, is_shared(sem))
                       : posix__retry(try_semaphore, sem, until);

    errno = rc == 0 ? saved : rc;
    return rc == 0 ? 0 : -1;
}

INTERPOSE int sem_wait(sem_t *sem)
{
    if (!IN_TASK())
        return NEXT(sem_wait)(sem);
    return wait_in_task(sem, NULL);
}

INTERPOSE int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict time)
{
    if (!IN_TASK() || !posix__is_time(time))
        return NEXT(sem_timedwait)(sem, time);
    return wait_in_task(sem, &(struct posix__until){CLOCK_REALTIME, time});
}

INTERPOSE int sem_clockwait(sem_t *restrict sem, clockid_t clock,
                            const struct timespec *restrict time)
{
    if (!IN_TASK() || !posix__is_clock_of_locks(clock) || !posix__is_time(time))
        return NEXT(sem_clockwait)(sem, clock, time);
    return wait_in_task(sem, &(struct posix__until){clock, time});
}

INTERPOSE int sem_post(sem_t *sem)
{
    int rc = NEXT(sem_post)(sem);

    if (posix__may_be_parked(sem))
        posix__unpark_poster(sem);
    return rc;
}
