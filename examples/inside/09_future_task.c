/*
 * 09_future_task.c - what happens when: Future, Task and the loop's turns.
 *
 * The machinery is toy_loop.h, after the source of asyncio that the third document
 * explains; this program prints what it promises. (1) A task does not begin in
 * task_begin(), but in the next turn. (2) set_result() calls nobody: the waiting task
 * goes on a turn later. (3) A cancelled handle is not called. (4) What is ready when the
 * loop is told to stop is still done in that turn; what is made ready then is not.
 * (5) A task that is left behind is still pending when the loop closes.
 *
 * Call future_run_callback() in future_end() at once instead: "b2" is printed before "the
 * setter goes on", in the middle of somebody else's function.
 */
#include "toy_loop.h"

static struct future answer, never;

static void say(void *arg)
{
    printf("  %s\n", (char *)arg);
}

/* [tasks] */
static void *setter(void *arg)
{
    printf("  a1: runs, and yields once\n");
    gen_yield(NULL);
    printf("  a2: sets the result\n");
    future_set_result(&answer);
    printf("  a3: the setter goes on\n");
    return arg;
}

static void *waiter(void *arg)
{
    printf("  b1: awaits the future\n");
    await(&answer);
    printf("  b2: the future is done\n");
    await(&answer); // again: no turn of the loop
    printf("  b3: and is not waited for again\n");
    return arg;
}

static void *main_task(void *arg)
{
    struct task a, b;
    struct future timer = {.state = PENDING}, unwanted = {.state = PENDING};

    task_begin(&a, setter, NULL);
    task_begin(&b, waiter, "a result");
    printf("  both tasks are made, none has run\n");
    await(&b.future);
    printf("  the task is a future: %s\n", (char *)b.future.result);

    call_later(0.02, future_set_result, &timer);
    struct handle *handle = call_later(0.01, say, "THIS IS NEVER SAID");
    handle->cancelled = true;
    await(&timer);
    printf("  the timer: a future that call_later() sets\n");

    call_soon(future_cancel, &unwanted);
    if (await(&unwanted) == CANCELLED)
        printf("  a cancelled future calls back as well\n");
    return arg;
}
/* [end] */

static void *left_behind(void *arg)
{
    await(&never);
    return arg;
}

static void say_then_more(void *arg)
{
    printf("  ready with the stop: done\n");
    call_soon(say, arg);
}

static void stop(void *arg)
{
    call_soon(say_then_more, arg); // before loop_stop() is called: in that same turn
}

int main(void)
{
    struct task task, orphan;

    printf("run_until_complete:\n");
    task_begin(&task, main_task, NULL);
    run_until_complete(&task.future);

    printf("stop:\n");
    struct future done = {.state = PENDING};
    call_soon(future_set_result, &done);
    call_soon(stop, "made ready by that: only in the next run");
    run_until_complete(&done);
    printf("the next run:\n");
    run_once();

    task_begin(&orphan, left_behind, NULL);
    run_once();
    if (loop.tasks > 0)
        printf("closing: %d task was destroyed but it is pending\n", loop.tasks);
    gen_free(orphan.gen);
    return 0;
}
