/*
 * staggered.c - several ways to the same end, begun one after the other; the first that
 * succeeds wins. (asyncio: staggered.py)
 *
 * Each work has a racer, a task that waits until the one before it has failed or its time
 * has come, starts the next racer, and does the work. So the works that run are always
 * the first few of the array, and there is one racer more than works, who finds nothing
 * to do and ends. The owner waits until all have ended; what it needs for that is in one
 * block, allocated before the first begins, so that only starting a racer can fail.
 *
 * Waiting for all is done in rounds, as asyncio.wait() in a loop: those there are, and
 * again if more were started meanwhile. The number of trips through the ready queue is
 * the same. But where asyncio 3.13 leaves at once when it is cancelled, this waits for
 * the works to end all the same: what they use may lie on the owner's stack.
 */
#include "failure.h"
#include "task.h"

#include <coil/gather.h>

struct race;

struct racer {
    struct race *race;
    coil_task *task;
    struct coil__runnable ended;
    bool failed;
    struct coil__wait *next_waits; /* for that */
};

struct race {
    const coil_work *works;
    size_t n;
    int64_t delay_ns;
    int *rcs; /* or NULL */
    const void *address;
    struct racer *racers; /* n + 1 */
    size_t started;
    size_t winner; /* n: nobody */
    int result, first_failure;
    coil_error *error;      /* of that failure */
    struct coil__wait wait; /* the owner's, one a round */
    size_t running;         /* of those waited for in this round */
};

/* ---- a racer ----------------------------------------------------------------------- */

static int run_racer(void *arg);
static void racer_ended(struct coil__runnable *runnable);

/* If that fails, nobody comes after the one who starts it. */
static int start_racer(struct race *race)
{
    struct racer *racer = &race->racers[race->started];
    int rc;

    *racer = (struct racer){.race = race};
    coil__runnable_init(&racer->ended, racer_ended);
    rc = coil_spawn(run_racer, racer, NULL, &racer->task);
    if (rc == 0)
        race->started++;
    return rc;
}

static void record(struct race *race, size_t i, int rc)
{
    coil_error *error = coil_last_error();

    if (race->rcs != NULL)
        race->rcs[i] = rc;
    if (rc >= 0 || race->first_failure < 0)
        return;
    race->first_failure = rc;
    if (error != NULL && coil_error_rc(error) == rc)
        race->error = coil_error_retain(error);
}

/*
 * asyncio waits by a task that is cancelled before it began: three trips through the
 * ready queue until that is known.
 */
static int wait_no_time(void)
{
    int rc = 0;

    for (int i = 0; i < 3 && rc == 0; i++)
        rc = coil_yield();
    return rc;
}

/* Until the racer has failed, at most for the delay: 0, or an error. */
static int wait_for_failure(struct racer *racer, int64_t delay_ns)
{
    static const struct coil__wait_class class = {.what = "staggered_race.turn"};
    struct coil__wait wait;
    coil_scope scope;
    int rc;

    if (delay_ns <= 0)
        return wait_no_time();
    if (racer->failed)
        return 0;
    rc =
        coil_scope_enter(&scope, delay_ns == COIL_NEVER ? COIL_NEVER : coil_in(delay_ns));
    if (rc < 0)
        return rc;
    coil__wait_init(&wait, &class);
    racer->next_waits = &wait;
    rc = coil__wait_park(&wait);
    racer->next_waits = NULL;
    rc = coil_scope_exit(&scope, rc);
    return rc == -ETIMEDOUT ? 0 : rc;
}

static void cancel_all_but(struct race *race, size_t but, const char *reason)
{
    coil_cancel_origin origin = coil__cancel_origin_here(reason, race->address);

    for (size_t i = 0; i < race->started; i++)
        if (i != but)
            coil__task_cancel(race->racers[i].task, &origin, 0);
}

static void lose(struct racer *racer)
{
    racer->failed = true;
    if (racer->next_waits != NULL)
        coil__wait_complete(racer->next_waits, 0);
}

/* Who is second, because it did not listen when it was cancelled, changes nothing. */
static void win(struct race *race, size_t i, int result)
{
    if (race->winner < race->n)
        return;
    race->winner = i;
    race->result = result;
    cancel_all_but(race, i, "another one has won the race");
}

static int run_racer(void *arg)
{
    struct racer *racer = arg;
    struct race *race = racer->race;
    size_t i = (size_t)(racer - race->racers);
    int rc = i > 0 ? wait_for_failure(racer - 1, race->delay_ns) : 0, next_rc;

    if (i == race->n || rc == -ECANCELED)
        return rc;
    next_rc = start_racer(race);
    if (next_rc < 0 && i + 1 < race->n)
        record(race, i + 1, next_rc);
    if (rc == 0)
        rc = race->works[i].fn(race->works[i].arg);
    record(race, i, rc);
    if (rc < 0)
        lose(racer);
    else
        win(race, i, rc);
    return 0;
}

/* ---- the owner --------------------------------------------------------------------- */

static void racer_ended(struct coil__runnable *runnable)
{
    struct race *race = COIL__CONTAINER(runnable, struct racer, ended)->race;

    if (--race->running == 0)
        coil__wait_complete(&race->wait, 0);
}

static coil_future *racer_awaited(const struct coil__wait *wait, size_t i)
{
    const struct race *race = COIL__CONTAINER(wait, const struct race, wait);

    return i < race->started ? &race->racers[i].task->future : NULL;
}

/* Wait for all that there are now: 0, or -ECANCELED. */
static int wait_a_round(struct race *race)
{
    static const struct coil__wait_class class = {.what = "staggered_race",
                                                  .future = racer_awaited};
    size_t n = race->started;
    int rc;

    coil__wait_init(&race->wait, &class);
    race->running = n;
    for (size_t i = 0; i < n; i++)
        coil__future_subscribe(&race->racers[i].task->future, &race->racers[i].ended);
    rc = coil__wait_park(&race->wait);
    for (size_t i = 0; i < n; i++)
        coil__list_remove(&race->racers[i].ended.link);
    return rc;
}

/* Finish the wait, cancelled or not; returns true if the owner was. */
static bool wait_for_all(struct race *race, coil_task *owner)
{
    bool cancelled = false;
    size_t ended = 0;

    while (ended < race->started) {
        size_t n = race->started;

        if (wait_a_round(race) == 0) {
            ended = n;
            continue;
        }
        cancelled = true;
        owner->delivered = false;
        cancel_all_but(race, SIZE_MAX, "the owner of the race was cancelled");
    }
    return cancelled;
}

/* What it comes to. A winner's result is not thrown away: the next wait is told. */
static int settle(const struct race *race, coil_task *owner, bool cancelled)
{
    if (race->winner < race->n) {
        owner->must_cancel |= cancelled;
        return race->result;
    }
    owner->delivered |= cancelled;
    if (cancelled || race->first_failure == 0)
        return -ECANCELED;
    return race->first_failure;
}

COIL__NOINLINE int coil_staggered_race(const coil_work works[], size_t n,
                                       int64_t delay_ns, size_t *winner, int rcs[])
{
    coil_task *owner = coil__task_require("coil_staggered_race");
    struct race race = {.works = works,
                        .n = n,
                        .delay_ns = delay_ns,
                        .rcs = rcs,
                        .address = COIL__CALLER(),
                        .winner = n};
    int rc;

    if (winner != NULL)
        *winner = n;
    for (size_t i = 0; i < n && rcs != NULL; i++)
        rcs[i] = -EINPROGRESS;
    if (n == 0)
        return -EINVAL;
    if (coil__task_refuses(owner))
        return -ECANCELED;
    if (n >= SIZE_MAX / sizeof *race.racers)
        return -ENOMEM;
    race.racers = coil__alloc((n + 1) * sizeof *race.racers);
    if (race.racers == NULL)
        return -ENOMEM;
    rc = start_racer(&race);
    if (rc == 0)
        rc = settle(&race, owner, wait_for_all(&race, owner));
    if (race.winner == n)
        coil__failure_hand_on_error(race.error, rc, race.address);
    coil_error_release(race.error);
    if (winner != NULL)
        *winner = race.winner;
    for (size_t i = 0; i < race.started; i++)
        coil_task_release(race.racers[i].task);
    coil__free(race.racers);
    return rc;
}
