/*
 * 09_future_task.c - the order of events: future, task and the loop's turns.
 *
 * The program uses toy_loop.h, which follows asyncio's source, and prints the order of
 * events: (1) A task does not begin in task_begin(), but in the next turn. (2)
 * set_result() calls no callback: the waiting task continues one turn later. (3) A
 * cancelled handle is not called, and timers are called in the order of their times. (4)
 * When the loop is stopped, handles that are already ready are still called in that turn,
 * but not handles that become ready during the turn. (5) A task that still waits when the
 * loop is closed stays pending.
 *
 * To try: in future_end(), call future_run_callback() directly. "b2" is then printed
 * before "the setter continues", in the middle of the setter.
 */
#include "toy_loop.h"

#include <errno.h>

static struct future answer, never;

static void say(void *arg)
{
    printf("  %s\n", (char *)arg);
}

static void break_it(void *future)
{
    future_set_error(future, -EIO);
}

/* [tasks] */
static void *setter(void *arg)
{
    printf("  a1: runs, and yields once\n");
    gen_yield(NULL);
    printf("  a2: sets the result\n");
    future_set_result(&answer);
    printf("  a3: the setter continues\n");
    return arg;
}

static void *waiter(void *arg)
{
    printf("  b1: awaits the future\n");
    await(&answer);
    printf("  b2: the future is done\n");
    await(&answer); // already done: the await takes no turn
    printf("  b3: awaiting it again takes no turn\n");
    return arg;
}

static void *main_task(void *arg)
{
    struct task a, b;
    struct future timer = {.state = PENDING}, unwanted = timer, broken = timer;

    task_begin(&a, setter, NULL);
    task_begin(&b, waiter, "a result");
    printf("  both tasks are created, none has run\n");
    printf("  the task is a future: %s\n", (char *)await(&b.future));

    call_later(0.02, say, "the later timer");
    call_later(0.02, future_set_result, &timer);
    call_later(0.01, say, "the earlier timer, though it was asked for later");
    call_later(0.01, say, "THIS IS NEVER PRINTED")->cancelled = true;
    sleep_until(now() + 0.03); // now all of them are due
    await(&timer);
    printf("  a timer can set a future\n");

    call_soon(future_cancel, &unwanted);
    await(&unwanted);
    if (unwanted.state == CANCELLED)
        printf("  a cancelled future calls its callback, too\n");
    call_soon(break_it, &broken);
    await(&broken);
    printf("  so does a future that fails: %s\n", strerror(-broken.error));
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
    printf("  ready before the stop: called\n");
    call_soon(say, arg);
}

static void stop(void *arg)
{
    call_soon(say_then_more, arg); // before loop_stop(), so in the same turn
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
    call_soon(stop, "made ready by that: called in the next run");
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
