/*
 * 18_gather.c - gather(coro('first'), coro('second')), the program in "How does asyncio
 * actually work?", on coil.
 *
 * 01_wrong_model.c shows the wrong model that this question assumes. Here each coroutine
 * is an ordinary function, which is not cut into parts. coil_gather() waits for all of
 * them and returns their results. If one fails, coil_gather() returns the failure, and
 * the others continue.
 *
 * To try: change COIL_GATHER_ALL to 0. The second gather() fails without waiting for
 * coro("fourth").
 */
#include <coil.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COROS 2

/* [coro] */
static int coro(void *arg)
{
    const char *name = arg;

    printf("before %s\n", name);
    if (strcmp(name, "third") == 0)
        return coil_fail(-ENOENT, "nobody is %s", name);
    int rc = coil_sleep(COIL_MSEC(10));
    if (rc < 0)
        return rc;
    printf("after %s\n", name);
    return (int)strlen(name); // the coroutine's result
}
/* [end] */

/* [gather] */
static int gather(char *first, char *second, unsigned flags)
{
    coil_task *tasks[COROS] = {NULL};
    coil_future *futures[COROS];
    int rcs[COROS] = {0}, rc = coil_spawn(coro, first, NULL, &tasks[0]);

    if (rc == 0)
        rc = coil_spawn(coro, second, NULL, &tasks[1]);
    for (int i = 0; i < COROS && rc == 0; i++)
        futures[i] = coil_task_future(tasks[i]);
    if (rc == 0)
        rc = coil_gather(futures, COROS, flags, rcs);
    printf("gather: %d; %s: %d, %s: %d\n", rc, first, rcs[0], second, rcs[1]);
    coil_task_release(tasks[0]);
    coil_task_release(tasks[1]);
    return rc;
}
/* [end] */

static int app(void *arg)
{
    (void)arg;
    int rc = gather("first", "second", 0);

    return rc < 0 ? rc : gather("third", "fourth", COIL_GATHER_ALL);
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
