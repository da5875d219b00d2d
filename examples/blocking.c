/*
 * blocking.c - run computations, or a library that blocks, on threads.
 *
 * The loop has a single thread, so a long computation would delay every task.
 * coil_blocking() runs it on another thread, and only the calling task waits. The program
 * computes four sums, on as many threads as the machine has processors, while a fifth
 * task still responds.
 */
#include <coil.h>

#include <stdio.h>

#define PARTS 4
#define NUMBERS 20000000L

struct part {
    long from, to;
    unsigned long sum;
};

/* [blocking] */
static int add_up(void *arg) // runs on a thread, so it must not use coil
{
    struct part *part = arg;

    for (long i = part->from; i < part->to; i++)
        part->sum += (unsigned long)i * (unsigned long)i % 7;
    return 0;
}

static int compute(void *arg) // runs in a task
{
    return coil_blocking(COIL_LANE_CPU, add_up, arg);
}
/* [end] */

static int answer(void *arg)
{
    int *answers = arg;

    for (;; ++*answers) {
        int rc = coil_sleep(COIL_MSEC(1));
        if (rc < 0)
            return rc;
    }
}

static int app(void *arg)
{
    (void)arg;
    struct part parts[PARTS] = {{0}};
    unsigned long sum = 0;
    int answers = 0;
    coil_group group;
    coil_task *answering;

    int rc = coil_spawn(answer, &answers, NULL, &answering);
    if (rc < 0)
        return rc;
    coil_group_enter(&group);
    for (long i = 0; i < PARTS && rc == 0; i++) {
        parts[i] = (struct part){NUMBERS / PARTS * i, NUMBERS / PARTS * (i + 1), 0};
        rc = coil_group_spawn(&group, compute, &parts[i], NULL, NULL);
    }
    rc = coil_group_exit(&group, rc);
    coil_task_cancel(answering, "computed");
    coil_task_await(answering);
    coil_task_release(answering);
    for (int i = 0; i < PARTS && rc == 0; i++)
        sum += parts[i].sum;
    printf("sum: %lu\nanswered meanwhile: %s\n", sum, answers > 0 ? "yes" : "no");
    return rc;
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
