/*
 * once.c - pthread_once(3) and C11's call_once(), between tasks.
 *
 * The C library's pthread_once() runs the routine in the first task that calls it. The
 * routine may suspend that task; other threads wait in the C library, as without coil. A
 * second task of the same thread must not wait in the C library: that would block the
 * thread, and the routine could never finish. So a task that finds the routine running
 * parks at the control's address, and is woken when the routine has returned. (If the
 * routine ends by an exception or pthread_exit(3), nobody is woken; the parked tasks find
 * out when they look again, see parking.c.)
 *
 * glibc keeps the state in the control itself: DONE, BEGUN, and in the bits above the
 * fork generation. A generation that is not the process' own means that the routine was
 * running in the parent at fork(2), and runs no more. If another thread begins the
 * routine between our look at the state and the C library's, this thread blocks until it
 * is done.
 */
#include "parking.h"

#include <threads.h>

#define BEGUN 1
#define DONE 2
#define GENERATION ~3

static THREAD_LOCAL pthread_once_t *probe;
static THREAD_LOCAL int generation;

static void read_generation(void)
{
    generation = *probe & GENERATION;
}

/* glibc does not export its fork generation: begin a control, and read it from there. */
static int current_generation(void)
{
    pthread_once_t control = PTHREAD_ONCE_INIT;

    probe = &control;
    NEXT(pthread_once)(&control, read_generation);
    return generation;
}

static int run_once(pthread_once_t *control, void (*routine)(void))
{
    int rc = NEXT(pthread_once)(control, routine);

    if (posix__may_be_parked(control))
        posix__unpark_all(control);
    return rc;
}

/* EBUSY while the routine is running. */
static int check_once(void *control)
{
    int state = __atomic_load_n((pthread_once_t *)control, __ATOMIC_ACQUIRE);

    if (state & DONE || !(state & BEGUN))
        return 0;
    return (state & GENERATION) == current_generation() ? EBUSY : 0;
}

static int once_in_task(pthread_once_t *control, void (*routine)(void))
{
    posix__retry_shielded(check_once, control, NULL);
    return run_once(control, routine);
}

INTERPOSE int pthread_once(pthread_once_t *control, void (*routine)(void))
{
    if (!IN_TASK() || !posix__may_wait())
        return run_once(control, routine);
    return once_in_task(control, routine);
}

/* glibc's once_flag is its pthread_once_t. */
INTERPOSE void call_once(once_flag *flag, void (*routine)(void))
{
    pthread_once_t *control = (pthread_once_t *)flag;

    _Static_assert(sizeof *flag == sizeof *control, "once_flag is no pthread_once_t");
    if (!IN_TASK() || !posix__may_wait())
        run_once(control, routine);
    else
        once_in_task(control, routine);
}
