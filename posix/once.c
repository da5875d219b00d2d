/*
 * once.c - pthread_once(3), C11's call_once() and std::call_once(), between tasks.
 *
 * The routine runs in the first task that makes the call, and may suspend that task. If
 * another task finds the routine running, it must not wait in the C library: that would
 * block the thread, so that the routine could never finish. Instead, the other task parks
 * at the address of the pthread_once_t (the control) until the routine has ended. If the
 * routine ends with an exception or pthread_exit(3), one of the parked tasks runs the
 * routine that it passed itself.
 *
 * glibc stores the state in the control itself: DONE, BEGUN, and, in the higher bits, the
 * fork generation. If the generation is not that of the process, the routine was running
 * in the parent at fork(2), and is not running in this process. This file changes the
 * state in the same way as glibc, so tasks can share a control with threads that wait in
 * glibc.
 *
 * libstdc++'s std::call_once() passes the function and its arguments in two thread-local
 * variables, which its routine reads. Other tasks of the thread may change these
 * variables while a task is parked. Therefore a parked task saves their values, and
 * restores them before the routine is called.
 */
#include "parking.h"

#include <dlfcn.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
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

/*
 * Return glibc's fork generation. glibc does not export it, but stores it in a control
 * whose routine is running.
 */
static int current_generation(void)
{
    pthread_once_t control = PTHREAD_ONCE_INIT;

    probe = &control;
    NEXT(pthread_once)(&control, read_generation);
    return generation;
}

/* ---- std::call_once() -------------------------------------------------------------- */

/* This thread's variables of libstdc++: __once_callable and __once_call, from <mutex>. */
struct callable {
    void **places[2]; /* NULL if no libstdc++ is loaded, or it is linked statically */
    void *values[2];
};

static void save_callable(struct callable *kept)
{
    static const char *const names[] = {"_ZSt15__once_callable", "_ZSt11__once_call"};

    for (size_t i = 0; i < 2; i++) {
        kept->places[i] = dlsym(RTLD_DEFAULT, names[i]);
        if (kept->places[i] != NULL)
            kept->values[i] = *kept->places[i];
    }
}

static void restore_callable(const struct callable *kept)
{
    for (size_t i = 0; i < 2; i++)
        if (kept->places[i] != NULL)
            *kept->places[i] = kept->values[i];
}

/* ---- in tasks ---------------------------------------------------------------------- */

/*
 * Mark the routine as running. Returns 0 if the caller must run it, EALREADY if the
 * routine has run, or EBUSY while it is running.
 */
static int begin_once(void *object)
{
    pthread_once_t *control = object;
    int state = __atomic_load_n(control, __ATOMIC_ACQUIRE);

    while (!(state & DONE)) {
        int begun = current_generation() | BEGUN;

        if (state == begun)
            return EBUSY;
        if (__atomic_compare_exchange_n(control, &state, begun, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE))
            return 0;
    }
    return EALREADY;
}

static void end_once(pthread_once_t *control, int state)
{
    __atomic_store_n(control, state, __ATOMIC_RELEASE);
    syscall(SYS_futex, control, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    if (posix__may_be_parked(control))
        posix__unpark_all(control);
}

/*
 * Called when the routine has ended. If *running is not NULL, the routine has ended with
 * an exception or pthread_exit(3), and counts as not run.
 */
static void abandon_once(pthread_once_t **running)
{
    if (*running != NULL)
        end_once(*running, 0);
}

static void run_routine(pthread_once_t *control, void (*routine)(void))
{
    __attribute__((cleanup(abandon_once))) pthread_once_t *running = control;

    routine();
    running = NULL;
    end_once(control, DONE);
}

static void once_in_task(pthread_once_t *control, void (*routine)(void))
{
    int rc = begin_once(control);

    if (rc == EBUSY) {
        struct callable kept;

        save_callable(&kept);
        rc = posix__retry_shielded(begin_once, control, NULL, false);
        restore_callable(&kept);
    }
    if (rc == 0)
        run_routine(control, routine);
}

/* ---- elsewhere --------------------------------------------------------------------- */

static void wake_tasks(pthread_once_t **control)
{
    if (posix__may_be_parked(*control))
        posix__unpark_all(*control);
}

static int once_in_thread(pthread_once_t *control, void (*routine)(void))
{
    __attribute__((cleanup(wake_tasks))) pthread_once_t *running = control;

    return NEXT(pthread_once)(running, routine);
}

INTERPOSE int pthread_once(pthread_once_t *control, void (*routine)(void))
{
    if (!IN_TASK() || !posix__may_wait())
        return once_in_thread(control, routine);
    once_in_task(control, routine);
    return 0;
}

/* glibc's once_flag is its pthread_once_t. */
INTERPOSE void call_once(once_flag *flag, void (*routine)(void))
{
    pthread_once_t *control = (pthread_once_t *)flag;

    _Static_assert(sizeof *flag == sizeof *control, "once_flag is not a pthread_once_t");
    if (!IN_TASK() || !posix__may_wait())
        once_in_thread(control, routine);
    else
        once_in_task(control, routine);
}
