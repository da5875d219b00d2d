/*
 * await_in_c.c - suspend a task in the middle of a library's function.
 *
 * qsort() does not use coil, and its comparator is an ordinary callback. In this program
 * the comparator asks a "slow judge", and waits for the answer. Only the sorting task is
 * suspended, together with qsort()'s frames. Two tasks sort at the same time, while a
 * third one counts ticks.
 */
#include <coil.h>

#include <stdio.h>
#include <stdlib.h>

static int asking, most_asking;

/* [judge] */
static int ask_the_judge(const void *a, const void *b)
{
    if (++asking > most_asking)
        most_asking = asking;
    coil_sleep(COIL_MSEC(10)); // any function may wait, even this one
    asking--;
    return *(const char *)a - *(const char *)b;
}

static int sort(void *arg)
{
    char *letters = arg;

    qsort(letters, 8, 1, ask_the_judge);
    printf("sorted: %s\n", letters);
    return 0;
}
/* [end] */

static int tick(void *arg)
{
    int *ticks = arg;

    while (coil_sleep(COIL_MSEC(10)) == 0) // runs until the task is cancelled
        ++*ticks;
    return 0;
}

static int app(void *arg)
{
    (void)arg;
    char one[] = "qwertyui", two[] = "asdfghjk";
    coil_group sorters;
    coil_task *ticker;
    int ticks = 0;

    int rc = coil_spawn(tick, &ticks, NULL, &ticker);
    if (rc < 0)
        return rc;
    coil_group_enter(&sorters);
    rc = coil_group_spawn(&sorters, sort, one, NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&sorters, sort, two, NULL, NULL);
    rc = coil_group_exit(&sorters, rc);
    coil_task_cancel(ticker, "sorted");
    coil_task_await(ticker);
    coil_task_release(ticker);

    printf("at the same time: %s\n", most_asking > 1 ? "yes" : "no");
    printf("others ran meanwhile: %s\n", ticks > 0 ? "yes" : "no");
    return rc;
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
