/*
 * toy_run.c - an event loop in thirty lines: the coroutines of toy_sleep.c, concurrently.
 *
 * The loop knows one kind of event, "wake me at that time". It sleeps until the first who
 * waits is due, and resumes it; what that yields is its next time. coil's own loop does
 * the same, with a heap, and with descriptors besides.
 */
#include <coil/gen.h>

#include <stdio.h>
#include <time.h>

#define SLEEPERS 5

struct sleeper {
    coil_gen *gen;
    int64_t until;
};

static int asleep(int64_t duration_ns)
{
    int64_t until = coil_in(duration_ns);

    return coil_gen_yield(&until, NULL);
}

static int sleepy(coil_gen *gen, void *arg)
{
    (void)gen;
    for (int nap = 0; nap < 3; nap++) {
        int rc = asleep(COIL_MSEC(50));
        if (rc < 0)
            return rc;
        printf("coroutine %ld: nap %d\n", (long)(intptr_t)arg, nap);
    }
    return 0;
}

/* Sorted by time, equal ones in the order in which they came. */
static void insert(struct sleeper *waiting, int n, struct sleeper sleeper)
{
    for (; n > 0 && waiting[n - 1].until > sleeper.until; n--)
        waiting[n] = waiting[n - 1];
    waiting[n] = sleeper;
}

static void run(struct sleeper *waiting, int n)
{
    while (n > 0) {
        struct sleeper first = waiting[0];
        int64_t left = first.until - coil_now();
        struct timespec span = {left / COIL_SEC(1), left % COIL_SEC(1)};
        void *until;

        if (left > 0)
            nanosleep(&span, NULL);
        n--;
        for (int i = 0; i < n; i++)
            waiting[i] = waiting[i + 1];
        if (coil_gen_next(first.gen, &until) == COIL_GEN_YIELDED)
            insert(waiting, n++, (struct sleeper){first.gen, *(int64_t *)until});
        else
            coil_gen_destroy(first.gen);
    }
}

int main(void)
{
    struct sleeper waiting[SLEEPERS];
    int64_t begin = coil_now();
    for (intptr_t i = 0; i < SLEEPERS; i++) {
        waiting[i].until = begin;
        if (coil_gen_create(sleepy, (void *)i, NULL, &waiting[i].gen) < 0)
            return 1;
    }
    run(waiting, SLEEPERS);
    printf("%.2f s\n", (double)(coil_now() - begin) / 1e9);
    return 0;
}
