/*
 * guards.c - measures the cost of a scope guard, compared with the same calls without a
 * guard:
 *
 *     guards [ROUNDS]
 *
 * The program prints the nanoseconds per round: the median of nine passes.
 */
#include <coil.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PASSES 9

static coil_lock lock = COIL_LOCK_INIT;
static long rounds = 1000000;

static __attribute__((noinline)) int lock_plain(void)
{
    int rc = coil_lock_acquire(&lock);

    if (rc == 0)
        coil_lock_release(&lock);
    return rc;
}

static __attribute__((noinline)) int lock_guard(void)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    COIL_LOCK_GUARD(&lock);
    return rc;
}

static __attribute__((noinline)) int lock_block(void)
{
    int rc;

    COIL_WITH_LOCK(&lock, rc)
    {
    }
    return rc;
}

static __attribute__((noinline)) int scope_plain(void)
{
    coil_scope s;
    int rc = coil_scope_enter(&s, coil_in(COIL_SEC(60)));

    return rc < 0 ? rc : coil_scope_exit(&s, rc);
}

static __attribute__((noinline)) int scope_guard(void)
{
    coil_scope s;
    int rc = coil_scope_enter(&s, coil_in(COIL_SEC(60)));

    if (rc < 0)
        return rc;
    COIL_SCOPE_GUARD(&s);
    return coil_scope_exit(&s, rc);
}

static __attribute__((noinline)) int scope_block(void)
{
    int rc;

    COIL_WITH_DEADLINE(COIL_SEC(60), rc)
    {
    }
    return rc;
}

static __attribute__((noinline)) int group_plain(void)
{
    coil_group g;

    coil_group_enter(&g);
    return coil_group_exit(&g, 0);
}

static __attribute__((noinline)) int group_block(void)
{
    int rc;

    COIL_WITH_GROUP(g, rc)
    {
    }
    return rc;
}

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double time_round(int (*round)(void))
{
    double ns[PASSES];

    for (int pass = 0; pass < PASSES; pass++) {
        double begun = now_ns();

        for (long i = 0; i < rounds; i++)
            if (round() < 0)
                abort();
        ns[pass] = (now_ns() - begun) / (double)rounds;
    }
    qsort(ns, PASSES, sizeof ns[0], compare);
    return ns[PASSES / 2];
}

static int app(void *arg)
{
    (void)arg;
    printf("lock   plain %5.1f  guard %5.1f  block %5.1f\n", time_round(lock_plain),
           time_round(lock_guard), time_round(lock_block));
    printf("scope  plain %5.1f  guard %5.1f  block %5.1f\n", time_round(scope_plain),
           time_round(scope_guard), time_round(scope_block));
    printf("group  plain %5.1f               block %5.1f\n", time_round(group_plain),
           time_round(group_block));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atol(argv[1]);
    return coil_run(app, NULL, NULL) < 0;
}
