/*
 * static_guard.c - lets the initialiser of a C++ function-local static variable wait.
 *
 * The compiler calls these functions before and after such an initialiser (Itanium C++
 * ABI, 3.3.3):
 *
 *     if (the guard's first byte is 0 && __cxa_guard_acquire(&guard)) {
 *         try { initialise } catch (...) { __cxa_guard_abort(&guard); throw; }
 *         __cxa_guard_release(&guard);
 *     }
 *
 * The C++ runtime also defines these functions. The runtime's functions block the thread
 * if the guard is taken, which is a deadlock if a suspended task of that thread has taken
 * it. The functions in this file suspend only the task. Programs call coil's functions,
 * because libcoil is linked before the runtime.
 *
 * A guard has two words. `state` has the format of libstdc++, in case another module uses
 * libstdc++'s functions for the same guard. `owner` is used only by coil: it identifies
 * the task that runs the initialiser, or the thread if no task does. If the owner is the
 * running task (or thread) itself, the initialiser needs the very variable that it
 * initialises, which is a deadlock; otherwise the task must wait.
 *
 *     task that waits             task or thread that has initialised
 *     lists itself as a waiter    changes the state
 *     tries once more             wakes the waiters, if any is listed
 *     awaits its promise
 */
#include "../kernel/thread.h"
#include "../task/task.h"

#include <coil/promise.h>
#include <coil/scope.h>

#include <pthread.h>

enum { INITIALISED = 1, TAKEN = 0x100, BLOCKS_THREADS = 0x10000 };

struct guard {
    _Atomic uint32_t state;
    _Atomic uint32_t owner;
};

COIL_API int __cxa_guard_acquire(struct guard *guard);
COIL_API void __cxa_guard_release(struct guard *guard);
COIL_API void __cxa_guard_abort(struct guard *guard);

/* ---- the owner of a guard ---------------------------------------------------------- */

/*
 * Return a number for a task or a thread. Each task's control block and each thread's
 * descriptor begins at a cache line, so two of them within 256 GiB of memory never have
 * the same number.
 */
static uint32_t object_number(const void *object)
{
    uintptr_t line = (uintptr_t)object / 64;

    return (uint32_t)(line ^ line >> 32);
}

static uint32_t own_identity(void)
{
    const coil_task *task = coil__scheduler.current;

    return object_number(task != NULL ? (const void *)task
                                      : (const void *)pthread_self());
}

/*
 * Abort if a task of this thread is running the initialiser, because the thread would
 * block forever.
 */
static void check_thread_may_block(const struct guard *guard)
{
    if (coil__scheduler.hooked == NULL)
        return;
    COIL__LIST_EACH (link, &coil__scheduler.tasks) {
        const coil_task *task = COIL__CONTAINER(link, coil_task, link);

        if (object_number(task) == atomic_load(&guard->owner))
            coil__misuse("a static variable is needed where the thread cannot wait, and "
                         "task '%s' of this thread is initialising it",
                         coil_task_name(task));
    }
}

/*
 * Return 1 if the caller must run the initialiser, 0 if the variable is initialised, or
 * -EBUSY.
 */
static int try_to_acquire(struct guard *guard)
{
    uint32_t state = 0;

    if (atomic_compare_exchange_strong(&guard->state, &state, TAKEN)) {
        atomic_store(&guard->owner, own_identity());
        return 1;
    }
    return state & INITIALISED ? 0 : -EBUSY;
}

/* ---- tasks that wait --------------------------------------------------------------- */

/*
 * A task that waits for a guard. Allocated on the heap, because the task's stack may no
 * longer exist when the guard is released.
 */
struct guard_waiter {
    struct coil__list link;
    const struct guard *guard;
    coil_promise *promise;
};

static struct {
    pthread_mutex_t lock;
    struct coil__list list;
    _Atomic unsigned count;
} waiters = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Called in a child of fork(2): drop the waiters, which belong to the parent. */
static void forget_waiters(void)
{
    pthread_mutex_init(&waiters.lock, NULL);
    coil__list_init(&waiters.list);
    atomic_store(&waiters.count, 0);
}

static void set_up_waiters(void)
{
    coil__list_init(&waiters.list);
    pthread_atfork(NULL, NULL, forget_waiters);
}

/* Add a waiter for the running task. Returns NULL if memory ran out. */
static struct guard_waiter *add_waiter(const struct guard *guard)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct guard_waiter *waiter = coil__alloc(sizeof *waiter);

    pthread_once(&once, set_up_waiters);
    if (waiter == NULL || coil_promise_create(&waiter->promise) < 0) {
        coil__free(waiter);
        return NULL;
    }
    waiter->guard = guard;
    pthread_mutex_lock(&waiters.lock);
    coil__list_push(&waiters.list, &waiter->link);
    atomic_fetch_add(&waiters.count, 1);
    pthread_mutex_unlock(&waiters.lock);
    return waiter;
}

static void unlist_waiter(struct guard_waiter *waiter)
{
    if (coil__list_empty(&waiter->link))
        return;
    coil__list_remove(&waiter->link);
    atomic_fetch_sub(&waiters.count, 1);
}

static void remove_waiter(struct guard_waiter *waiter)
{
    pthread_mutex_lock(&waiters.lock);
    unlist_waiter(waiter);
    pthread_mutex_unlock(&waiters.lock);
    coil_promise_release(waiter->promise);
    coil__free(waiter);
}

static void wake_waiters(const struct guard *guard)
{
    if (atomic_load(&waiters.count) == 0)
        return;
    pthread_mutex_lock(&waiters.lock);
    COIL__LIST_EACH (link, &waiters.list) {
        struct guard_waiter *waiter = COIL__CONTAINER(link, struct guard_waiter, link);

        if (waiter->guard != guard)
            continue;
        unlist_waiter(waiter);
        coil_promise_set(waiter->promise, 0, NULL, NULL);
    }
    pthread_mutex_unlock(&waiters.lock);
}

/* ---- waiting ----------------------------------------------------------------------- */

/*
 * Add a waiter to the list, try to acquire the guard, and if this fails, wait and try
 * again. Without memory for a waiter, sleep for 1 ms. The waiter must be added before the
 * first attempt, so that it is woken if the guard is released after that attempt.
 */
static int wait_and_try(struct guard *guard)
{
    struct guard_waiter *waiter = add_waiter(guard);
    int rc = try_to_acquire(guard);

    if (rc == -EBUSY && waiter != NULL)
        coil_promise_await(waiter->promise);
    else if (rc == -EBUSY)
        coil_sleep(COIL_MSEC(1));
    if (waiter != NULL)
        remove_waiter(waiter);
    return rc != -EBUSY ? rc : try_to_acquire(guard);
}

/*
 * Acquire the guard, even if the task is cancelled, because it must still be able to use
 * the variable.
 */
static int acquire_in_task(struct guard *guard)
{
    coil_scope shield;
    int rc = coil_scope_enter_shielded(&shield, COIL_NEVER); /* never fails */

    while ((rc = wait_and_try(guard)) == -EBUSY)
        continue;
    coil_scope_exit(&shield, 0);
    return rc;
}

static int acquire_in_thread(struct guard *guard)
{
    int rc;

    while ((rc = try_to_acquire(guard)) == -EBUSY) {
        uint32_t taken = TAKEN;

        if (atomic_compare_exchange_strong(&guard->state, &taken,
                                           TAKEN | BLOCKS_THREADS) ||
            taken == (TAKEN | BLOCKS_THREADS))
            coil__thread_wait_while(&guard->state, TAKEN | BLOCKS_THREADS);
    }
    return rc;
}

/* ---- what compilers call ----------------------------------------------------------- */

int __cxa_guard_acquire(struct guard *guard)
{
    const coil_task *task = coil__scheduler.current;
    int rc = try_to_acquire(guard);

    if (COIL__LIKELY(rc != -EBUSY))
        return rc;
    if (atomic_load(&guard->owner) == own_identity())
        coil__misuse("recursive_init_error: the initialiser of a static variable needs "
                     "that variable itself");
    if (task != NULL && coil__no_suspend_of(task) == NULL)
        return acquire_in_task(guard);
    check_thread_may_block(guard);
    return acquire_in_thread(guard);
}

static void leave_guard(struct guard *guard, uint32_t state)
{
    uint32_t before;

    atomic_store(&guard->owner, 0);
    before = atomic_exchange(&guard->state, state);
    if (before & BLOCKS_THREADS)
        coil__thread_wake_all(&guard->state);
    wake_waiters(guard);
}

void __cxa_guard_release(struct guard *guard)
{
    leave_guard(guard, INITIALISED);
}

void __cxa_guard_abort(struct guard *guard)
{
    leave_guard(guard, 0);
}
