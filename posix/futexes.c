/*
 * futexes.c - tasks that wait for a futex, futex(2).
 *
 * Libraries that bring their own locks (GLib, Rust's std, libstdc++, Abseil) wait with
 * syscall(SYS_futex, ...), which futex_calls.c interposes. This file lists a waiting task
 * under the futex's address, in one of 256 hash buckets (a `place`), and the task awaits
 * a promise. Threads wait in the kernel, as without coil.
 *
 *     a task waits: list it, compare the value     a wake-up: tasks listed under the
 *     under the place's lock, await its promise    address, and threads by the kernel
 *
 * As in the kernel, the value is compared under the lock that a wake-up also takes. So
 * after the value has changed, either the wake-up finds the task listed, or the task
 * finds the changed value.
 *
 * Some wake-ups do not go through this library: those of another process, those of a
 * library that makes the system call inline (libgomp), and those of the kernel when a
 * thread ends. Before such a wake-up, the value of the futex usually changes. Therefore a
 * task checks the value at growing intervals, and returns as if woken once the value has
 * changed. Callers must expect such a return, because FUTEX_WAIT may wake spuriously:
 * futex(2). The kernel reads the value (`compare()`), because the memory may have been
 * unmapped.
 *
 * A signal handler may wake a futex while its thread is changing the lists (`inside`). In
 * that case the wake-up leaves the lists alone, and the tasks find the changed value at
 * their next check.
 */
#include "futexes.h"

#include <coil/debug.h>
#include <coil/scope.h>
#include <coil/task.h>

#include <linux/futex.h>
#include <sys/syscall.h>

#define PLACES 256
#define BEFORE_FIRST_CHECK COIL_USEC(500) /* doubled before the first check */

/*
 * Every fourth wake-up at a place wakes threads before tasks, so that neither kind of
 * waiter starves.
 */
#define THREADS_FIRST 4

struct posix__futex_place {
    pthread_mutex_t lock;
    struct posix__futex_wait *first, *last;
    _Atomic unsigned count, wakes;
};

static struct posix__futex_place places[PLACES] = {
    [0 ... PLACES - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

/* Nonzero while this thread holds the lock of a place. */
static THREAD_LOCAL volatile unsigned inside;

static struct posix__futex_place *place_at(const void *address)
{
    uintptr_t n = (uintptr_t)address;

    return &places[((n >> 2) ^ (n >> 10) ^ (n >> 18)) % PLACES];
}

static void lock(struct posix__futex_place *place)
{
    inside++;
    NEXT(pthread_mutex_lock)(&place->lock);
}

static void unlock(struct posix__futex_place *place)
{
    NEXT(pthread_mutex_unlock)(&place->lock);
    inside--;
}

/* Lock two places, which may be the same. */
static void lock_both(struct posix__futex_place *a, struct posix__futex_place *b)
{
    lock(a < b ? a : b);
    if (a != b)
        lock(a < b ? b : a);
}

static void unlock_both(struct posix__futex_place *a, struct posix__futex_place *b)
{
    unlock(a);
    if (a != b)
        unlock(b);
}

/* Lock and return the place at which the wait is listed, or was last listed. */
static struct posix__futex_place *lock_place_of(struct posix__futex_wait *w)
{
    for (;;) {
        struct posix__futex_place *place = atomic_load(&w->place);

        lock(place);
        if (place == atomic_load(&w->place))
            return place;
        unlock(place);
    }
}

/*
 * False if no task waits at this place, or if this thread is changing a list (`inside`).
 * Call this only after the futex's value was changed.
 */
static bool has_tasks(struct posix__futex_place *place)
{
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load(&place->count) > 0 && inside == 0;
}

static void list_wait(struct posix__futex_place *place, struct posix__futex_wait *w)
{
    atomic_store(&w->place, place);
    w->listed = true;
    w->next = NULL;
    w->previous = place->last;
    *(place->last != NULL ? &place->last->next : &place->first) = w;
    place->last = w;
    atomic_fetch_add(&place->count, 1);
}

static void unlist_wait(struct posix__futex_place *place, struct posix__futex_wait *w)
{
    *(w->previous != NULL ? &w->previous->next : &place->first) = w->next;
    *(w->next != NULL ? &w->next->previous : &place->last) = w->previous;
    w->listed = false;
    atomic_fetch_sub(&place->count, 1);
}

/* Runs in a child of fork(2), because the listed tasks belong to the parent. */
static void forget_waits(void)
{
    for (size_t i = 0; i < PLACES; i++)
        places[i] = (struct posix__futex_place){.lock = PTHREAD_MUTEX_INITIALIZER};
    inside = 0;
}

__attribute__((constructor)) static void forget_waits_after_fork(void)
{
    pthread_atfork(NULL, NULL, forget_waits);
}

/* ---- waiting ----------------------------------------------------------------------- */

/*
 * Compare the futex with the value, with a requeue operation of the kernel that neither
 * wakes nor moves a waiter. Returns 0, EAGAIN, EFAULT or EINVAL.
 */
static int compare(uint32_t *address, uint32_t value, int private_flag)
{
    int saved = errno, rc;

    rc = NEXT(syscall)(SYS_futex, address, FUTEX_CMP_REQUEUE | private_flag, 0L, 0L,
                       address, value) < 0
             ? errno
             : 0;
    errno = saved;
    return rc;
}

/* List the task if the futex has the expected value. Returns 0 or an errno. */
static int list_if_equal(struct posix__futex_wait *w)
{
    struct posix__futex_place *place = place_at(w->address);
    int rc;

    w->woken = false;
    lock(place);
    list_wait(place, w); /* count the wait before reading the value: see has_tasks() */
    rc = compare(w->address, w->value, w->private_flag);
    if (rc != 0)
        unlist_wait(place, w);
    unlock(place);
    return rc;
}

/*
 * Unlist the first `count` waits, so that they can no longer be woken. Returns the index
 * of the wait that was woken (the last one of several, as in the kernel), or -1.
 */
static int unlist_all(struct posix__futex_wait *waits, unsigned count)
{
    int woken = -1;

    for (unsigned i = 0; i < count; i++) {
        struct posix__futex_place *place = lock_place_of(&waits[i]);

        if (waits[i].listed)
            unlist_wait(place, &waits[i]);
        if (waits[i].woken)
            woken = (int)i;
        unlock(place);
        coil_promise_release(waits[i].promise);
    }
    return woken;
}

/* True if the wait was woken, or the value of the futex has changed. */
static bool is_done(struct posix__futex_wait *w)
{
    struct posix__futex_place *place = lock_place_of(w);
    uint32_t *address = w->address, value = w->value;
    bool woken = w->woken;

    unlock(place);
    return woken || compare(address, value, w->private_flag) == EAGAIN;
}

static bool any_is_done(struct posix__futex_wait *waits, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (is_done(&waits[i]))
            return true;
    return false;
}

/* Give the waits a new promise, because a promise is cancelled when its wait times out.
 * Returns false if one of the waits was woken through the old promise. */
static bool renew_promise(struct posix__futex_wait *waits, unsigned count,
                          coil_promise *promise)
{
    bool woken = false;

    for (unsigned i = 0; i < count; i++) {
        struct posix__futex_place *place = lock_place_of(&waits[i]);
        coil_promise *old = waits[i].promise;

        waits[i].promise = coil_promise_retain(promise);
        woken = woken || waits[i].woken;
        unlock(place);
        coil_promise_release(old);
    }
    return !woken;
}

static int64_t left_of(const struct posix__futex_limit *limit)
{
    int64_t left = posix__left(limit->deadline);
    int64_t until = posix__left_until(&limit->until);

    return left < until ? left : until;
}

/*
 * Await the promise of the listed waits. Returns 0 if the caller must check which wait
 * was woken, or an errno. If `counted` is not NULL, report each check to the deadlock
 * detector.
 */
static int await_listed(struct posix__futex_wait *waits, unsigned count,
                        const struct posix__futex_limit *limit, coil_lock_wait *counted)
{
    int64_t check_ns = BEFORE_FIRST_CHECK, left;
    coil_promise *promise = waits[0].promise;
    bool woken;

    while ((left = left_of(limit)) > 0) {
        if (posix__await_promise(promise, posix__next_check(&check_ns, left)) < 0)
            return errno;
        if (any_is_done(waits, count) || coil_promise_create(&promise) < 0)
            return 0; /* if memory ran out, return as if woken */
        if (counted != NULL)
            coil_lock_wait_checked(counted);
        woken = !renew_promise(waits, count, promise);
        coil_promise_release(promise);
        if (woken)
            return 0;
    }
    return ETIMEDOUT;
}

/* True if another process may wake one of the futexes, because it is not private. */
static bool any_is_shared(const struct posix__futex_wait *waits, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (waits[i].private_flag == 0)
            return true;
    return false;
}

/*
 * Like await_listed(), but the deadlock detector takes a wait without a time-out into
 * account.
 */
static int await_counted(struct posix__futex_wait *waits, unsigned count,
                         const struct posix__futex_limit *limit, const void *caller)
{
    bool has_limit = left_of(limit) != COIL_NEVER;
    coil_lock_wait wait;
    int rc;

    if (has_limit)
        return await_listed(waits, count, limit, NULL);
    coil_lock_wait_begin(&wait, caller,
                         any_is_shared(waits, count) ? COIL_LOCK_WAIT_OUTSIDE : 0);
    rc = await_listed(waits, count, limit, &wait);
    coil_lock_wait_end(&wait);
    return rc;
}

/*
 * List all waits with a new promise, and set *listed to the number of waits listed.
 * Returns 0 or an errno.
 */
static int list_all(struct posix__futex_wait *waits, unsigned count, unsigned *listed)
{
    coil_promise *promise;
    int rc = 0;

    *listed = 0;
    if (coil_promise_create(&promise) < 0)
        return ENOMEM;
    while (*listed < count && rc == 0) {
        struct posix__futex_wait *w = &waits[*listed];

        w->promise = coil_promise_retain(promise);
        rc = list_if_equal(w);
        if (rc == 0)
            (*listed)++;
        else
            coil_promise_release(w->promise);
    }
    coil_promise_release(promise);
    return rc;
}

/*
 * Wait until one of the waits is woken, and set *index to its index, or to -1 if none was
 * woken. Returns 0 or an errno.
 */
static int wait_for(struct posix__futex_wait *waits, unsigned count,
                    const struct posix__futex_limit *limit, const void *caller,
                    int *index)
{
    unsigned listed;
    int rc = list_all(waits, count, &listed);

    atomic_fetch_add(&posix__parked_total, 1);
    if (rc == 0)
        rc = await_counted(waits, count, limit, caller);
    atomic_fetch_sub(&posix__parked_total, 1);
    *index = unlist_all(waits, listed);
    if (rc != ENOMEM)
        return rc;
    posix__sleep(COIL_MSEC(1)); /* the caller may try again at once */
    return 0;
}

int posix__futex_await(struct posix__futex_wait *waits, unsigned count,
                       const struct posix__futex_limit *limit, const void *caller)
{
    coil_scope shield;
    bool shielded =
        coil_cancel_delivered() && coil_scope_enter_shielded(&shield, COIL_NEVER) == 0;
    int index, saved = errno, rc = wait_for(waits, count, limit, caller, &index);

    if (shielded)
        coil_scope_exit(&shield, 0);
    errno = saved;
    if (index >= 0)
        return index;
    if (rc == 0)
        return 0;
    errno = rc;
    return -1;
}

/* ---- waking ------------------------------------------------------------------------ */

long posix__futex_pass_on(const struct posix__futex_call *call)
{
    const long *a = call->arguments;

    return NEXT(syscall)(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/*
 * Wake at most `n` listed tasks that wait for the address with at least one bit of
 * `bitset`. The place stays locked while the promise is set, so that the task cannot end
 * in the meantime.
 */
static int wake_listed(struct posix__futex_place *place, const void *address, long n,
                       uint32_t bitset)
{
    struct posix__futex_wait *next;
    int woken = 0;

    for (struct posix__futex_wait *w = place->first; w != NULL && woken < n; w = next) {
        next = w->next;
        if (w->address != address || !(w->bitset & bitset))
            continue;
        unlist_wait(place, w);
        w->woken = true;
        posix__set_promise(w->promise);
        woken++;
    }
    return woken;
}

static int wake_tasks(struct posix__futex_place *place, const void *address, long n,
                      uint32_t bitset)
{
    int woken;

    lock(place);
    woken = wake_listed(place, address, n, bitset);
    unlock(place);
    return woken;
}

static long wake_threads_first(struct posix__futex_place *place,
                               const struct posix__futex_call *call, const void *address,
                               int n, uint32_t bitset)
{
    long woken = posix__futex_pass_on(call);

    if (woken < 0 || woken >= n)
        return woken;
    return woken + wake_tasks(place, address, n - woken, bitset);
}

static long wake_tasks_first(struct posix__futex_place *place,
                             const struct posix__futex_call *call, const void *address,
                             int n, uint32_t bitset)
{
    struct posix__futex_call rest = *call;
    int saved = errno, woken = wake_tasks(place, address, n, bitset);
    long of_threads;

    if (woken >= n)
        return woken;
    if (woken > 0)
        rest.arguments[2] = n - woken;
    of_threads = posix__futex_pass_on(&rest);
    if (woken == 0 || of_threads >= 0)
        return woken + of_threads;
    errno = saved;
    return woken;
}

/* Wake one waiter even if n is 0 or negative, as the kernel does. */
long posix__futex_wake(const struct posix__futex_call *call, const void *address, int n,
                       uint32_t bitset)
{
    struct posix__futex_place *place = place_at(address);

    if (!has_tasks(place) || bitset == 0)
        return posix__futex_pass_on(call);
    if (n < 1)
        n = 1;
    if (atomic_fetch_add(&place->wakes, 1) % THREADS_FIRST == THREADS_FIRST - 1)
        return wake_threads_first(place, call, address, n, bitset);
    return wake_tasks_first(place, call, address, n, bitset);
}

/*
 * Return the current value of the futex, with which tasks that are moved to it will
 * compare the futex at their next check.
 */
static uint32_t value_of(uint32_t *address)
{
    int rc = compare(address, 0, FUTEX_PRIVATE_FLAG);

    return rc == 0 || rc == EAGAIN ? __atomic_load_n(address, __ATOMIC_RELAXED) : 0;
}

/*
 * Move up to `n` tasks from the futex `from` to the futex `to`. The caller has locked
 * both places.
 */
static int move_listed(struct posix__futex_place *place, const void *from, uint32_t *to,
                       long n)
{
    struct posix__futex_wait *last = place->last, *next, *w = place->first;
    uint32_t value = n > 0 ? value_of(to) : 0;
    int moved = 0;

    for (bool more = true; w != NULL && more && moved < n; w = next) {
        next = w->next;
        more = w != last; /* `to` may be at the same place */
        if (w->address != from)
            continue;
        unlist_wait(place, w);
        w->address = to;
        w->value = value;
        list_wait(place_at(to), w);
        moved++;
    }
    return moved;
}

/*
 * Call the kernel first, because its comparison of the futex's value decides whether any
 * waiter is woken or moved.
 */
long posix__futex_requeue(const struct posix__futex_call *call, const void *from,
                          uint32_t *to, int wake, int move)
{
    struct posix__futex_place *place = place_at(from);
    long done, woken;

    if (!has_tasks(place))
        return posix__futex_pass_on(call);
    lock_both(place, place_at(to));
    done = posix__futex_pass_on(call);
    if (done >= 0) {
        woken = done < wake ? done : wake;
        move -= (int)(done - woken);
        done += wake_listed(place, from, wake - woken, FUTEX_BITSET_MATCH_ANY);
        done += move_listed(place, from, to, move);
    }
    unlock_both(place, place_at(to));
    return done;
}

/* ---- FUTEX_WAKE_OP ----------------------------------------------------------------- */

/*
 * The encoded operation: its effect on the second futex, and the condition under which
 * the waiters of that futex are woken.
 */
struct operation {
    int operator, comparison;
    int operand, comparand;
};

static int signed_12_bits(uint32_t bits)
{
    return (int)(bits << 20) >> 20;
}

static struct operation decode(uint32_t encoded)
{
    struct operation o = {.operator= encoded>> 28 & 7,
                          .comparison = encoded >> 24 & 15,
                          .operand = signed_12_bits(encoded >> 12),
                          .comparand = signed_12_bits(encoded)};

    if (encoded >> 28 & FUTEX_OP_OPARG_SHIFT)
        o.operand = 1 << (o.operand & 31);
    return o;
}

static bool is_known(const struct operation *o)
{
    return o->operator<= FUTEX_OP_XOR && o->comparison <= FUTEX_OP_CMP_GE;
}

static int apply(const struct operation *o, uint32_t *address)
{
    uint32_t operand = (uint32_t)o->operand;

    switch (o->operator) {
    case FUTEX_OP_SET:
        return (int)__atomic_exchange_n(address, operand, __ATOMIC_SEQ_CST);
    case FUTEX_OP_ADD:
        return (int)__atomic_fetch_add(address, operand, __ATOMIC_SEQ_CST);
    case FUTEX_OP_OR:
        return (int)__atomic_fetch_or(address, operand, __ATOMIC_SEQ_CST);
    case FUTEX_OP_ANDN:
        return (int)__atomic_fetch_and(address, ~operand, __ATOMIC_SEQ_CST);
    default:
        return (int)__atomic_fetch_xor(address, operand, __ATOMIC_SEQ_CST);
    }
}

static bool is_true_of(const struct operation *o, int value)
{
    switch (o->comparison) {
    case FUTEX_OP_CMP_EQ:
        return value == o->comparand;
    case FUTEX_OP_CMP_NE:
        return value != o->comparand;
    case FUTEX_OP_CMP_LT:
        return value < o->comparand;
    case FUTEX_OP_CMP_LE:
        return value <= o->comparand;
    case FUTEX_OP_CMP_GT:
        return value > o->comparand;
    default:
        return value >= o->comparand;
    }
}

/*
 * Check that the kernel can write to the futex. Returns 0, or -1 with errno. The check is
 * a FUTEX_WAKE_OP that adds 0 to the futex, and wakes the waiters of a local variable,
 * which has none.
 */
static int check_is_writable(uint32_t *address, int private_flag)
{
    uint32_t nobody = 0, seen = 0;

    if (compare(address, 0, private_flag) == 0)
        /* `seen` differs from the value, so FUTEX_WAKE_OP wakes none of its waiters */
        seen = 1;
    return NEXT(syscall)(SYS_futex, &nobody, FUTEX_WAKE_OP | private_flag, 1L, 1L,
                         address, FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, seen)) < 0
               ? -1
               : 0;
}

static long wake_by_op(uint32_t *address, int private_flag, long n)
{
    struct posix__futex_call wake = {
        SYS_futex, {(long)address, FUTEX_WAKE | private_flag, n, 0, 0, 0}, NULL};

    return posix__futex_wake(&wake, address, (int)n, FUTEX_BITSET_MATCH_ANY);
}

/*
 * Whether the waiters of the second futex are woken depends on its old value, which the
 * kernel does not report. Tasks may be among these waiters, so this function performs the
 * operation itself, and then the wake-ups.
 */
long posix__futex_wake_op(const struct posix__futex_call *call)
{
    const long *a = call->arguments;
    uint32_t *first = (uint32_t *)(uintptr_t)a[0], *second = (uint32_t *)(uintptr_t)a[4];
    struct operation o = decode((uint32_t)a[5]);
    int private_flag = (int)a[1] & FUTEX_PRIVATE_FLAG, old;
    long woken, more = 0;

    if ((!has_tasks(place_at(first)) && !has_tasks(place_at(second))) || !is_known(&o) ||
        a[0] % (long)sizeof *first != 0)
        return posix__futex_pass_on(call);
    if (check_is_writable(second, private_flag) < 0)
        return -1;
    old = apply(&o, second);
    woken = wake_by_op(first, private_flag, a[2]);
    if (woken >= 0 && is_true_of(&o, old))
        more = wake_by_op(second, private_flag, a[3]);
    return more >= 0 ? woken + more : woken;
}
