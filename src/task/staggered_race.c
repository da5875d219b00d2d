/*
 * staggered_race.c - starts attempts ("works") one after another; the first work to
 * succeed wins. (asyncio: staggered.py; RFC 8305 connects this way: socket/attempts.c)
 *
 * Each work has a racer: a task that waits until the previous racer has failed or the
 * delay has passed, starts the next racer, and does the work. So the attempts begin in
 * order. After the last work, one more racer is started, which finds no work and ends.
 * The owner waits until all racers have ended.
 *
 * The owner waits in rounds, like a loop around asyncio.wait(): it waits for all existing
 * racers, and again if more racers were started during that wait. So the owner takes as
 * many trips through the ready queue as in asyncio. Unlike asyncio 3.13, which returns as
 * soon as the owner is cancelled, coil still waits until the works have ended, because
 * they may use the owner's stack.
 */
#include "staggered_race.h"

#include "failure.h"
#include "task.h"

#include <coil/gather.h>

struct race;

struct racer {
    struct coil__list link; /* in race.racers, in the order of the works */
    struct race *race;
    size_t index; /* the number of the racer's work */
    coil_task *task;
    struct coil__runnable ended;
    bool failed;
    struct coil__wait *next_waits; /* the next racer's wait for this racer's failure */
};

struct race {
    const struct coil__race_works *works;
    int64_t delay_ns;
    const void *address;
    struct coil__list racers;
    size_t started;
    size_t winner; /* SIZE_MAX: none */
    int result, first_failure;
    coil_error *error;      /* error of the first failure */
    struct coil__wait wait; /* the owner's wait in the current round */
    size_t running;         /* racers of this round that have not ended */
};

static struct racer *racer_of(struct coil__list *link)
{
    return COIL__CONTAINER(link, struct racer, link);
}

/* ---- a racer ----------------------------------------------------------------------- */

static int run_racer(void *arg);
static void racer_ended(struct coil__runnable *runnable);

/* Start the next racer. If no racer can be started, the calling racer is the last one. */
static int start_racer(struct race *race)
{
    struct racer *racer = coil__alloc_zeroed(sizeof *racer);
    int rc;

    if (racer == NULL)
        return coil__failed(-ENOMEM);
    racer->race = race;
    racer->index = race->started;
    coil__runnable_init(&racer->ended, racer_ended);
    rc = coil_spawn(run_racer, racer, NULL, &racer->task);
    if (rc < 0) {
        coil__free(racer);
        return rc;
    }
    coil__list_push(&race->racers, &racer->link);
    race->started++;
    return 0;
}

static void record(struct race *race, size_t i, int rc)
{
    coil_error *error = coil_last_error();

    if (race->works->ended != NULL)
        race->works->ended(race->works->arg, i, rc);
    if (rc >= 0 || race->first_failure < 0)
        return;
    race->first_failure = rc;
    if (error != NULL && coil_error_rc(error) == rc)
        race->error = coil_error_retain(error);
}

/*
 * Wait for a delay of 0, which takes three trips through the ready queue. This is what
 * asyncio needs to cancel a task that has not begun, and to wait for that task to end.
 */
static int wait_zero_delay(void)
{
    int rc = 0;

    for (int i = 0; i < 3 && rc == 0; i++)
        rc = coil_yield();
    return rc;
}

/*
 * Suspend until the racer has failed or the delay has passed. Returns 0 or a negative
 * errno.
 */
static int wait_for_failure(struct racer *racer, int64_t delay_ns)
{
    static const struct coil__wait_class class = {.what = "staggered_race.turn"};
    struct coil__wait wait;
    coil_scope scope;
    int rc;

    if (delay_ns <= 0)
        return wait_zero_delay();
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
    struct coil__cancel_origin origin = coil__cancel_origin_here(reason, race->address);

    COIL__LIST_EACH (link, &race->racers)
        if (racer_of(link)->index != but)
            coil__task_cancel(racer_of(link)->task, &origin, 0);
}

static void record_loss(struct racer *racer)
{
    racer->failed = true;
    if (racer->next_waits != NULL)
        coil__wait_complete(racer->next_waits, 0);
}

/*
 * Record the winner and cancel the other racers. Does nothing if there already is a
 * winner: in that case this work succeeded although it was cancelled.
 */
static void record_win(struct race *race, size_t i, int result)
{
    if (race->winner != SIZE_MAX)
        return;
    race->winner = i;
    race->result = result;
    cancel_all_but(race, i, "another attempt has won the race");
}

static int run_racer(void *arg)
{
    struct racer *racer = arg;
    struct race *race = racer->race;
    const struct coil__race_works *works = race->works;
    size_t i = racer->index;
    int rc = i > 0 ? wait_for_failure(racer_of(racer->link.prev), race->delay_ns) : 0;
    int next_rc;

    if (rc == -ECANCELED)
        return rc;
    if (!works->expected(works->arg, i))
        return 0;
    if (rc == 0)
        rc = works->next(works->arg, i);
    if (rc == -ECANCELED)
        return rc;
    if (rc == -ENOENT)
        return 0;
    next_rc = start_racer(race);
    if (next_rc < 0 && works->expected(works->arg, i + 1))
        record(race, i + 1, next_rc);
    if (rc == 0)
        rc = works->run(works->arg, i);
    record(race, i, rc);
    if (rc < 0)
        record_loss(racer);
    else
        record_win(race, i, rc);
    return 0;
}

/* ---- the owner --------------------------------------------------------------------- */

static void racer_ended(struct coil__runnable *runnable)
{
    struct race *race = COIL__CONTAINER(runnable, struct racer, ended)->race;

    if (--race->running == 0)
        coil__wait_complete(&race->wait, 0);
}

_Static_assert(offsetof(struct racer, link) == 0, "see COIL__WAIT_LIST");

/* Wait until all racers that exist now have ended. Returns 0 or -ECANCELED. */
static int wait_a_round(struct race *race)
{
    static const struct coil__wait_class class = {
        .what_at = COIL__WAIT_BEHIND(struct race, works, struct coil__race_works, what),
        .futures = {.kind = COIL__WAIT_LIST,
                    .first = COIL__WAIT_AT(struct race, racers),
                    .pointer = offsetof(struct racer, task),
                    .future = offsetof(coil_task, future)}};
    int rc;

    coil__wait_init(&race->wait, &class);
    race->running = race->started;
    COIL__LIST_EACH (link, &race->racers)
        coil__future_subscribe(&racer_of(link)->task->future, &racer_of(link)->ended);
    rc = coil__wait_park(&race->wait);
    COIL__LIST_EACH (link, &race->racers)
        coil__list_remove(&racer_of(link)->ended.link);
    return rc;
}

/* Wait until all racers have ended, even if the owner is cancelled. Returns true if the
   owner was cancelled. */
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

/*
 * Return the race's result. If there is a winner and the owner was cancelled, return the
 * winner's result, and leave the cancellation to the owner's next wait.
 */
static int settle_race(const struct race *race, coil_task *owner, bool cancelled)
{
    if (race->winner != SIZE_MAX) {
        owner->must_cancel |= cancelled;
        return race->result;
    }
    owner->delivered |= cancelled;
    if (cancelled || race->first_failure == 0)
        return -ECANCELED;
    return race->first_failure;
}

int coil__staggered_race(const struct coil__race_works *works, int64_t delay_ns,
                         size_t *winner, const void *address)
{
    coil_task *owner = coil__task_require("a race");
    struct race race = {
        .works = works, .delay_ns = delay_ns, .address = address, .winner = SIZE_MAX};
    struct coil__list *link;
    int rc;

    coil__list_init(&race.racers);
    rc = start_racer(&race);
    if (rc == 0)
        rc = settle_race(&race, owner, wait_for_all(&race, owner));
    if (race.winner == SIZE_MAX)
        coil__failure_hand_on_error(race.error, rc, race.address);
    coil_error_release(race.error);
    *winner = race.winner;
    while ((link = coil__list_pop(&race.racers)) != NULL) {
        coil_task_release(racer_of(link)->task);
        coil__free(racer_of(link));
    }
    return rc;
}

/* ---- works in an array ------------------------------------------------------------- */

struct array {
    const coil_work *works;
    size_t n;
    int *rcs; /* or NULL */
};

static bool is_in_array(const void *arg, size_t i)
{
    const struct array *array = arg;

    return i < array->n;
}

static int next_in_array(void *arg, size_t i)
{
    return is_in_array(arg, i) ? 0 : -ENOENT;
}

static int run_in_array(void *arg, size_t i)
{
    const struct array *array = arg;

    return array->works[i].fn(array->works[i].arg);
}

static void ended_in_array(void *arg, size_t i, int rc)
{
    const struct array *array = arg;

    if (array->rcs != NULL)
        array->rcs[i] = rc;
}

COIL__NOINLINE int coil_staggered_race(const coil_work works[], size_t n,
                                       int64_t delay_ns, size_t *winner, int rcs[])
{
    COIL__REQUIRE_IF(n > 0, works, "an array");
    struct array array = {.works = works, .n = n, .rcs = rcs};
    const struct coil__race_works in_array = {.what = "staggered_race",
                                              .arg = &array,
                                              .next = next_in_array,
                                              .run = run_in_array,
                                              .expected = is_in_array,
                                              .ended = ended_in_array};
    size_t first;
    coil_task *owner;
    int rc;

    for (size_t i = 0; i < n; i++)
        COIL__REQUIRE(works[i].fn, "a function");
    owner = coil__task_require("coil_staggered_race");
    if (winner != NULL)
        *winner = n;
    for (size_t i = 0; i < n && rcs != NULL; i++)
        rcs[i] = -EINPROGRESS;
    if (n == 0)
        return coil__failed(-EINVAL);
    if (coil__task_refuses(owner))
        return -ECANCELED;
    rc = coil__staggered_race(&in_array, delay_ns, &first, COIL__CALLER());
    if (winner != NULL && first != SIZE_MAX)
        *winner = first;
    return rc;
}
