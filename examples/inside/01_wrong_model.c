/*
 * 01_wrong_model.c - how one might think it works, and what that costs.
 *
 * The question "How does asyncio actually work?" guesses: a coroutine is an object whose
 * method is cut in parts at each await, and gather() calls the parts of a coroutine
 * picked at random until all are done. The parts are right. The picking is not: nobody
 * knows what a coroutine waits for, so gather() asks again and again. Here each question
 * is counted. Below it the same two coroutines on coil, whose loop knows.
 *
 * Make NAP longer: the guess asks more often, coil takes as many steps as before.
 */
#include <coil.h>

#include <stdio.h>

#define COROS 2
#define NAP COIL_MSEC(20)

/* [guess] */
struct coro {
    const char *name;
    int pos; // which part is next; 2: done
    int64_t until;
};

/* Returns whether it got any further. */
static bool coro_call(struct coro *self)
{
    if (self->pos == 2 || (self->pos == 1 && coil_now() < self->until))
        return false; // it is done, or sleeps: but who could have known?
    printf("%s %s\n", self->pos == 0 ? "before" : "after", self->name);
    self->until = coil_in(NAP);
    self->pos++;
    return true;
}

static void gather(struct coro coros[])
{
    unsigned asked = 0, in_vain = 0, seed = 1;

    while (coros[0].pos < 2 || coros[1].pos < 2) {
        seed = seed * 1103515245 + 12345; // random.choice(coros)
        in_vain += !coro_call(&coros[seed / 65536 % COROS]);
        asked++;
    }
    printf("the guess: asked %u times, %u in vain\n", asked, in_vain);
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
