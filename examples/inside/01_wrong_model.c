/*
 * 01_wrong_model.c - a plausible but wrong model of asyncio, and its cost.
 *
 * The question "How does asyncio actually work?" assumes that each coroutine is cut into
 * parts at its awaits. In this model, gather() calls parts of randomly chosen coroutines
 * until all are done. Because gather() does not know what a coroutine waits for, it makes
 * many useless calls. The program counts them, and then runs the same coroutines on coil,
 * which makes no useless calls.
 *
 * Try a longer NAP: the random choice makes more calls, but coil takes no more steps.
 */
#include <coil.h>

#include <stdio.h>

#define COROS 2
#define NAP COIL_MSEC(20)

/* [guess] */
struct coro {
    const char *name;
    int pos; // index of the next part; 2: done
    int64_t until;
};

/* Returns whether the coroutine made progress. */
static bool coro_call(struct coro *self)
{
    if (self->pos == 2 || (self->pos == 1 && coil_now() < self->until))
        return false; // done or asleep: gather() cannot know
    printf("%s %s\n", self->pos == 0 ? "before" : "after", self->name);
    self->until = coil_in(NAP);
    self->pos++;
    return true;
}

static void gather(struct coro coros[])
{
    unsigned calls = 0, useless = 0, seed = 1;

    while (coros[0].pos < 2 || coros[1].pos < 2) {
        seed = seed * 1103515245 + 12345; // random.choice(coros)
        useless += !coro_call(&coros[seed / 65536 % COROS]);
        calls++;
    }
    printf("the guess: %u calls, %u of them useless\n", calls, useless);
}
/* [end] */

/* [coil] */
static int coro(void *name)
{
    printf("before %s\n", (char *)name);
    int rc = coil_sleep(NAP);
    if (rc == 0)
        printf("after %s\n", (char *)name);
    return rc;
}

static int app(void *arg)
{
    coil_group group;
    coil_stats stats;

    coil_group_enter(&group);
    int rc = coil_group_spawn(&group, coro, "first", NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, coro, "second", NULL, NULL);
    rc = coil_group_exit(&group, rc);
    coil_stats_get(&stats);
    printf("coil: %lu steps of tasks and callbacks\n", (unsigned long)stats.runs);
    return (void)arg, rc;
}
/* [end] */

int main(void)
{
    gather((struct coro[COROS]){{.name = "first"}, {.name = "second"}});
    return coil_run(app, NULL, NULL) < 0;
}
