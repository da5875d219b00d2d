/*
 * parking.c - tasks that wait at an address, as threads wait at a futex.
 *
 * A task that waits for a lock is added to a list in one of 128 hash buckets (a `place`),
 * chosen by the lock's address. The task then awaits a promise. A thread that unlocks,
 * signals or posts checks whether a task is listed at the place. If no task waits, the
 * check costs one load.
 *
 *     the task that waits                    the thread that wakes it
 *     posix__park_begin()   is listed        posix__unpark()   unlists it, woken = true,
 *     posix__park()         awaits                             sets the promise
 *     posix__park_end()     unlists itself
 *
 * A task is unlisted under the place's lock. So one signal wakes one task, and a task
 * that gives up at that moment sees from `woken` that it received the signal.
 *
 * sem_post() may be called in a signal handler, which must not take a lock. sem_post()
 * therefore posts the semaphore `poster`. A thread of this library waits for `poster` and
 * wakes the tasks.
 *
 * Some unlocks bypass this library: those of another process, of the C library itself,
 * and of a library whose calls are bound to the C library. Parked tasks therefore try
 * again at growing intervals, whose limit depends on their number: in the long run, all
 * parked tasks together try at most about 1,000 times a second.
 */
#include "parking.h"

#include <coil/debug.h>
#include <coil/scope.h>

#define FIRST_CHECK COIL_USEC(100)
#define LONGEST_CHECK COIL_MSEC(100)

struct place {
    pthread_mutex_t lock;
    struct posix__parked *first, *last;
    unsigned long tickets;
};

static struct place places[POSIX__PLACES_TO_PARK] = {
    [0 ... POSIX__PLACES_TO_PARK - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
_Atomic unsigned posix__parked_counts[POSIX__PLACES_TO_PARK];
_Atomic unsigned posix__parked_total;
_Atomic unsigned posix__woken_counts[POSIX__PLACES_TO_PARK];

static struct place *place_at(const void *address)
{
    return &places[posix__place_of(address)];
}

static void lock(struct place *place)
{
    NEXT(pthread_mutex_lock)(&place->lock);
}

static void unlock(struct place *place)
{
    NEXT(pthread_mutex_unlock)(&place->lock);
}

static void unlist_parked(struct place *place, struct posix__parked *p)
{
    *(p->previous != NULL ? &p->previous->next : &place->first) = p->next;
    *(p->next != NULL ? &p->next->previous : &place->last) = p->previous;
    p->listed = false;
    atomic_fetch_sub(&posix__parked_counts[place - places], 1);
    atomic_fetch_sub(&posix__parked_total, 1);
}

/* ---- waiting ----------------------------------------------------------------------- */

bool posix__park_begin(struct posix__parked *p, const void *address)
{
    struct place *place = place_at(address);

    if (!posix__may_wait() || coil_promise_create(&p->promise) < 0)
        return false;
    lock(place);
    p->address = address;
    p->ticket = place->tickets++;
    p->listed = true;
    p->woken = false;
    p->next = NULL;
    p->previous = place->last;
    *(place->last != NULL ? &place->last->next : &place->first) = p;
    place->last = p;
    atomic_fetch_add(&posix__parked_counts[place - places], 1);
    atomic_fetch_add(&posix__parked_total, 1);
    unlock(place);
    return true;
}

int posix__await_promise(coil_promise *promise, int64_t span_ns)
{
    coil_scope scope, held;
    bool is_held = posix__hold_cancel(&held);
    int rc;

    if (span_ns == COIL_NEVER)
        rc = coil_promise_await(promise);
    else if ((rc = coil_scope_enter(&scope, coil_in(span_ns))) == 0)
        rc = coil_scope_exit(&scope, coil_promise_await(promise));
    posix__release_cancel(&held, is_held);
    if (rc >= 0 || rc == -ETIMEDOUT)
        return 0;
    errno = -rc;
    return -1;
}

int posix__park(struct posix__parked *p, int64_t span_ns)
{
    return posix__await_promise(p->promise, span_ns);
}

bool posix__park_end(struct posix__parked *p)
{
    struct place *place = place_at(p->address);

    lock(place);
    if (p->listed)
        unlist_parked(place, p);
    unlock(place);
    coil_promise_release(p->promise);
    if (p->woken)
        atomic_fetch_sub(&posix__woken_counts[place - places], 1);
    return p->woken;
}

/* ---- waking ------------------------------------------------------------------------ */

/*
 * Unlist the oldest task that waits at the address and was listed before `ticket`. If
 * `address` is NULL, the task may wait at any address of the place. Returns the task's
 * promise, which the caller releases, or NULL.
 */
static coil_promise *take_oldest(struct place *place, const void *address,
                                 unsigned long ticket)
{
    struct posix__parked *p = place->first;
    coil_promise *promise;

    while (p != NULL && address != NULL && p->address != address)
        p = p->next;
    if (p == NULL || p->ticket >= ticket)
        return NULL;
    promise = coil_promise_retain(p->promise);
    p->woken = true;
    atomic_fetch_add(&posix__woken_counts[place - places], 1);
    unlist_parked(place, p);
    return promise;
}

/*
 * The call must not suspend: while libcoil posts to a loop, it holds the lock of that
 * loop's posts. Under AddressSanitizer libcoil's write() would yield, because libcoil's
 * own calls cannot be recognised there.
 */
void posix__set_promise(coil_promise *promise)
{
    coil_no_suspend region;

    coil_no_suspend_enter(&region, "libcoil-posix wakes a task");
    coil_promise_set(promise, 0, NULL, NULL);
    coil_no_suspend_exit(&region);
}

/*
 * Wake the task that take_oldest() unlists, or return false if there is none. Set the
 * promise after releasing the place's lock, because setting a promise takes locks of
 * libcoil.
 */
static bool wake_before(struct place *place, const void *address, unsigned long ticket)
{
    coil_promise *promise;

    lock(place);
    promise = take_oldest(place, address, ticket);
    unlock(place);
    if (promise == NULL)
        return false;
    posix__set_promise(promise);
    coil_promise_release(promise);
    return true;
}

/* Wake all tasks that are listed now. A woken task that parks again has a later ticket,
 * so it is not woken twice. */
static void wake_all(struct place *place, const void *address)
{
    unsigned long ticket;

    lock(place);
    ticket = place->tickets;
    unlock(place);
    while (wake_before(place, address, ticket))
        continue;
}

bool posix__unpark(const void *address)
{
    return wake_before(place_at(address), address, ~0ul);
}

void posix__unpark_all(const void *address)
{
    wake_all(place_at(address), address);
}

/* ---- semaphores -------------------------------------------------------------------- */

/*
 * Posts of semaphores at one place that the helper thread has not processed yet: `times`
 * posts, all of `sem` unless `others` is set. A post stores `sem` before it increments
 * `times`, and the thread takes `times` before `sem`. So the thread finds the semaphore
 * of each post that it has counted, unless it took the semaphore together with an earlier
 * count. In that case `sem` is NULL, and the thread wakes all tasks of the place.
 */
struct posted {
    _Atomic unsigned times;
    _Atomic(const void *) sem;
    _Atomic bool others; /* another semaphore of the place was also posted */
};

static struct posted posted[POSIX__PLACES_TO_PARK];
static sem_t poster;
static pthread_once_t poster_started = PTHREAD_ONCE_INIT;
static _Atomic bool poster_runs;

static void wake_posted(struct place *place)
{
    struct posted *at = &posted[place - places];
    unsigned times = atomic_exchange(&at->times, 0);
    const void *sem = atomic_exchange(&at->sem, NULL);

    if (atomic_exchange(&at->others, false) || sem == NULL) {
        wake_all(place, NULL);
        return;
    }
    while (times-- > 0 && posix__unpark(sem))
        continue;
}

static void *run_poster(void *unused)
{
    (void)unused;
    coil_lock_helper();
    for (;;) {
        while (NEXT(sem_wait)(&poster) < 0)
            continue;
        for (size_t i = 0; i < POSIX__PLACES_TO_PARK; i++)
            if (atomic_load(&posted[i].times) > 0)
                wake_posted(&places[i]);
    }
    return NULL;
}

/*
 * Start the poster's thread, which blocks all signals. Without this thread, parked tasks
 * still try again at growing intervals.
 */
static void start_poster(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;

    if (sem_init(&poster, 0, 0) < 0 || pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 64 * 1024);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, &attributes, run_poster, NULL) == 0)
        atomic_store(&poster_runs, true);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

void posix__expect_posts(void)
{
    NEXT(pthread_once)(&poster_started, start_poster);
}

void posix__unpark_poster(sem_t *sem)
{
    struct posted *at = &posted[posix__place_of(sem)];
    const void *nobody = NULL;
    int saved = errno;

    if (!atomic_load(&poster_runs))
        return;
    if (!atomic_compare_exchange_strong(&at->sem, &nobody, sem) && nobody != sem)
        atomic_store(&at->others, true);
    atomic_fetch_add(&at->times, 1);
    NEXT(sem_post)(&poster);
    errno = saved;
}

/*
 * Forget all parked tasks in a child of fork(2): the tasks belong to the parent, and the
 * poster's thread does not exist in the child.
 */
static void forget_parked(void)
{
    for (size_t i = 0; i < POSIX__PLACES_TO_PARK; i++) {
        places[i] = (struct place){.lock = PTHREAD_MUTEX_INITIALIZER};
        atomic_store(&posix__parked_counts[i], 0);
        atomic_store(&posix__woken_counts[i], 0);
        atomic_store(&posted[i].times, 0);
        atomic_store(&posted[i].sem, NULL);
        atomic_store(&posted[i].others, false);
    }
    atomic_store(&posix__parked_total, 0);
    atomic_store(&poster_runs, false);
    poster_started = (pthread_once_t)PTHREAD_ONCE_INIT;
}

/* ---- trying again ------------------------------------------------------------------ */

int64_t posix__next_check(int64_t *length_ns, int64_t left)
{
    int64_t all = atomic_load(&posix__parked_total) * COIL_MSEC(1);
    int64_t longest = all > LONGEST_CHECK ? all : LONGEST_CHECK;

    *length_ns = *length_ns == 0 ? FIRST_CHECK : *length_ns * 2;
    if (*length_ns > longest)
        *length_ns = longest;
    return *length_ns < left ? *length_ns : left;
}

/*
 * List the task, try again, and park. The second attempt is needed, because an unlock
 * between the caller's attempt and the listing found no task to wake. Returns EBUSY if
 * the caller must try again.
 */
static int try_and_park(posix__attempt_fn *attempt, void *object, int64_t *check_ns,
                        int64_t left)
{
    int64_t span = posix__next_check(check_ns, left);
    struct posix__parked p;
    int rc;

    if (!posix__park_begin(&p, object))
        return posix__sleep(span) < 0 ? errno : EBUSY;
    rc = attempt(object);
    if (rc != EBUSY) {
        if (posix__park_end(&p))
            posix__unpark(object); /* this task needs no wake-up, so wake another task */
        return rc;
    }
    rc = posix__park(&p, span) < 0 ? errno : EBUSY;
    if (!posix__park_end(&p))
        return rc;
    *check_ns = 0;
    return EBUSY;
}

/*
 * Like posix__retry(). If `wait` is not NULL, report each failed attempt to the deadlock
 * detector.
 */
static int retry(posix__attempt_fn *attempt, void *object,
                 const struct posix__until *until, coil_lock_wait *wait)
{
    int64_t check_ns = 0, left = COIL_NEVER;
    int rc;

    while ((rc = attempt(object)) == EBUSY) {
        if (wait != NULL)
            coil_lock_wait_checked(wait);
        if (until != NULL && !posix__is_time(until->time))
            return EINVAL;
        if (until != NULL && (left = posix__left_until(until)) == 0)
            return ETIMEDOUT;
        rc = try_and_park(attempt, object, &check_ns, left);
        if (rc != EBUSY)
            break;
    }
    return rc;
}

int posix__retry(posix__attempt_fn *attempt, void *object,
                 const struct posix__until *until)
{
    return retry(attempt, object, until, NULL);
}

int posix__retry_counted(posix__attempt_fn *attempt, void *object, bool shared)
{
    coil_lock_wait wait;
    int rc;

    if (!posix__may_wait())
        return posix__retry(attempt, object, NULL);
    coil_lock_wait_begin(&wait, NULL, shared ? COIL_LOCK_WAIT_OUTSIDE : 0);
    rc = retry(attempt, object, NULL, &wait);
    coil_lock_wait_end(&wait);
    return rc;
}

int posix__retry_shielded(posix__attempt_fn *attempt, void *object,
                          const struct posix__until *until, bool shared)
{
    bool waits_for_others = posix__may_be_woken(object), shielded;
    int saved = errno, rc = waits_for_others ? EBUSY : attempt(object);
    coil_scope shield;

    if (rc != EBUSY)
        return rc;
    shielded = posix__may_wait() && coil_scope_enter_shielded(&shield, COIL_NEVER) == 0;
    if (waits_for_others && posix__may_wait())
        posix__yield();
    rc = until == NULL ? posix__retry_counted(attempt, object, shared)
                       : posix__retry(attempt, object, until);
    if (shielded)
        coil_scope_exit(&shield, 0);
    errno = saved;
    return rc;
}

__attribute__((constructor)) static void forget_parked_after_fork(void)
{
    pthread_atfork(NULL, NULL, forget_parked);
}
