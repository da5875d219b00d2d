/*
 * 06_toy_run.c - an event loop in thirty lines, for several coroutines of 05_toy_sleep.c
 * at once.
 *
 * This is version 1 of run() in the first answer to "How does asyncio actually work?".
 * This run() supports one kind of event, "resume me at that time". run() sleeps until the
 * earliest of these times, and resumes its coroutine, which yields its next time. Five
 * coroutines that each sleep five times for 0.1 s take 0.5 s, not 2.5 s. A real loop does
 * this with a heap, and also waits for descriptors (07_toy_select.c).
 *
 * To try: replace asleep(0.1) with sleep_until(now() + 0.1). No other coroutine runs
 * meanwhile, and the program takes 2.5 s.
 */
#include "toy_gen.h"
#include "toy_time.h"

#define SLEEPERS 5
#define NAPS 5

struct sleeper {
    struct gen *gen;
    double until;
};

static void asleep(double duration)
{
    double until = now() + duration / 2;

    gen_yield(&until);
    until = now() + duration / 2;
    gen_yield(&until);
}

static void *sleepy(void *arg)
{
    for (int step = 1; step <= NAPS; step++) {
        printf("coroutine %d step %d\n", (int)(intptr_t)arg, step);
        asleep(0.1);
    }
    return NULL;
}

/* Keep the list sorted by time. Equal times stay in the order of their insertion. */
static void insert(struct sleeper *waiting, int n, struct sleeper sleeper)
{
    for (; n > 0 && waiting[n - 1].until > sleeper.until; n--)
        waiting[n] = waiting[n - 1];
    waiting[n] = sleeper;
}

/* [run] */
static void run(struct sleeper *waiting, int n)
{
    while (n > 0) {
        struct sleeper first = waiting[0]; // the sleeper with the earliest time
        void *until;

        n--;
        for (int i = 0; i < n; i++)
            waiting[i] = waiting[i + 1];
        sleep_until(first.until);
        if (gen_send(first.gen, NULL, &until))
            insert(waiting, n++, (struct sleeper){first.gen, *(double *)until});
        else
            gen_free(first.gen);
    }
}
/* [end] */

int main(void)
{
    struct sleeper waiting[SLEEPERS];
    double begin = now();

    for (int i = 0; i < SLEEPERS; i++)
        waiting[i] = (struct sleeper){gen_new(sleepy, (void *)(intptr_t)i), 0};
    run(waiting, SLEEPERS);
    printf("%.2f s\n", now() - begin);
    return 0;
}
