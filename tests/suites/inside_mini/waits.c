/*
 * waits.c - prints output that must be the same with examples/inside/mini/coil.h and with
 * coil. The output shows that every wait can be cancelled, and that a group ends only
 * when all its tasks have ended.
 */
#include <coil.h>

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2];

static int sleeping(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(3600));
}

static int polling(void *arg)
{
    (void)arg;
    int rc = coil_wait_fd(pair[0], COIL_READABLE);
    return rc > 0 ? 1 : rc;
}

static int yielding(void *arg)
{
    (void)arg;
    int rc = 0;
    while (rc == 0)
        rc = coil_yield();
    return rc;
}

static int awaiting(void *arg)
{
    coil_task *task;
    int rc = coil_spawn(arg != NULL ? awaiting : sleeping, NULL, NULL, &task);

    if (rc < 0)
        return rc;
    rc = coil_task_await(task);
    printf("  awaited: %d\n", rc);
    coil_task_release(task);
    return rc;
}

static int grouping(void *arg)
{
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    int rc = coil_group_spawn(&group, sleeping, NULL, NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, awaiting, &group, NULL, NULL);
    return coil_group_exit(&group, rc);
}

/* A task that ignores its cancellation. Each of its later waits fails immediately. */
static int deaf(void *arg)
{
    (void)arg;
    int refused = 0;

    while (refused < 5)
        refused += coil_sleep(COIL_SEC(3600)) == -ECANCELED;
    return refused;
}

static int finish(void *arg)
{
    return *(int *)arg;
}

static int fail_after_a_while(void *arg)
{
    int rc = coil_sleep(COIL_MSEC(20));
    return rc < 0 ? rc : *(int *)arg;
}

static void cancelled(const char *what, coil_task_fn fn)
{
    coil_task *task;
    bool asked;

    if (coil_spawn(fn, NULL, NULL, &task) < 0)
        return;
    coil_sleep(COIL_MSEC(1)); // the task runs until it waits
    asked = coil_task_cancel(task, "test");
    printf("%s: %d", what, asked);
    int rc = coil_task_await(task);
    printf(" %d %d\n", rc, coil_task_cancel(task, "too late"));
    coil_task_release(task);
}

static void cancelled_before_its_first_step(void)
{
    coil_task *task;
    int result = 7;

    if (coil_spawn(finish, &result, NULL, &task) < 0)
        return;
    coil_task_cancel(task, "test");
    printf("before its first step: %d\n", coil_task_await(task));
    coil_task_release(task);
}

/*
 * If two children of a group fail, the group returns the first failure, and cancels the
 * siblings in every kind of wait.
 */
static void failing_child(int body_waits)
{
    int io = -EIO, pipe = -EPIPE;
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    coil_group_spawn(&group, sleeping, NULL, NULL, NULL);
    coil_group_spawn(&group, polling, NULL, NULL, NULL);
    coil_group_spawn(&group, awaiting, NULL, NULL, NULL);
    coil_group_spawn(&group, grouping, NULL, NULL, NULL);
    coil_group_spawn(&group, fail_after_a_while, &io, NULL, NULL);
    if (body_waits) {
        rc = coil_sleep(COIL_SEC(3600));
        printf("the body: %d\n", rc);
        printf("a further wait: %d\n", coil_yield());
        rc = coil_group_spawn(&group, finish, &pipe, NULL, NULL);
        printf("a further child: %s\n", rc == -ESHUTDOWN ? "ESHUTDOWN" : "?");
    }
    rc = coil_group_exit(&group, rc);
    printf("the group: %s\n", rc == -EIO ? "EIO" : "?");
    printf("and its owner goes on: %d\n", coil_sleep(COIL_MSEC(1)));
}

static void failing_body(void)
{
    coil_group group;

    coil_group_enter(&group);
    coil_group_spawn(&group, sleeping, NULL, NULL, NULL);
    int rc = coil_group_exit(&group, -ENOENT);
    printf("a body that fails: %s\n", rc == -ENOENT ? "ENOENT" : "?");
}

/*
 * If an outer group cancels the owner of an inner group, the inner group cancels its own
 * children.
 */
static int inner(void *arg)
{
    int rc = grouping(arg);
    printf("the inner group: %d\n", rc);
    return rc;
}

static void nested(void)
{
    int io = -EIO;
    coil_group group;

    coil_group_enter(&group);
    coil_group_spawn(&group, fail_after_a_while, &io, NULL, NULL);
    int rc = inner(NULL);
    rc = coil_group_exit(&group, rc);
    printf("the outer one: %s\n", rc == -EIO ? "EIO" : "?");
    printf("and its owner goes on: %d\n", coil_sleep(COIL_MSEC(1)));
}

static void in_order(void)
{
    coil_group group;
    int numbers[] = {1, 2, 3};

    coil_group_enter(&group);
    for (int i = 0; i < 3; i++)
        coil_group_spawn(&group, finish, &numbers[i], NULL, NULL);
    printf("no child failed: %d\n", coil_group_exit(&group, 0));
}

static int nap(void *arg)
{
    int rc = coil_sleep(COIL_MSEC(5));
    printf("%s: %d\n", (const char *)arg, rc);
    return rc;
}

/* A cancelled task has not failed, so its sibling is not cancelled. */
static void cancelled_child(void)
{
    coil_group group;
    coil_task *child = NULL;

    coil_group_enter(&group);
    coil_group_spawn(&group, nap, "a sibling", NULL, NULL);
    coil_group_spawn(&group, sleeping, NULL, NULL, &child);
    coil_sleep(COIL_MSEC(1));
    coil_task_cancel(child, "test");
    printf("the group: %d\n", coil_group_exit(&group, 0));
}

static int yield_once(void *arg)
{
    int rc = coil_yield();
    printf("%s: %d\n", (const char *)arg, rc);
    return rc;
}

/* A cancelled task that is ready keeps its place in the queue. */
static void cancelled_while_ready(void)
{
    coil_group group;
    coil_task *first = NULL;

    coil_group_enter(&group);
    coil_group_spawn(&group, yield_once, "first", NULL, &first);
    coil_group_spawn(&group, yield_once, "second", NULL, NULL);
    coil_yield();
    coil_task_cancel(first, "test");
    printf("the group: %d\n", coil_group_exit(&group, 0));
}

static int write_later(void *arg)
{
    (void)arg;
    int rc = coil_sleep(COIL_MSEC(5));
    return rc == 0 && write(pair[1], "x", 1) == 1 ? 0 : -EIO;
}

static void bytes_come(void)
{
    coil_task *reader;
    char byte;

    coil_spawn(write_later, NULL, NULL, NULL);
    if (coil_spawn(polling, NULL, NULL, &reader) < 0)
        return;
    printf("bytes came: %d", coil_task_await(reader));
    printf(" %zd\n", read(pair[0], &byte, 1));
    coil_task_release(reader);
}

static int app(void *arg)
{
    (void)arg;
    cancelled("a sleep", sleeping);
    cancelled("a descriptor", polling);
    cancelled("a yield", yielding);
    cancelled("an await", awaiting);
    cancelled("a group's end", grouping);
    cancelled("a deaf task", deaf);
    cancelled_before_its_first_step();
    bytes_come();
    in_order();
    cancelled_child();
    cancelled_while_ready();
    failing_child(0);
    failing_child(1);
    failing_body();
    nested();
    coil_spawn(awaiting, NULL, NULL, NULL); // coil_run() ends this leftover task
    coil_sleep(COIL_MSEC(1));
    return 3;
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
        return 1;
    printf("coil_run: %d\n", coil_run(app, NULL, NULL));
    printf("and again: %d\n", coil_run(app, NULL, NULL));
    close(pair[0]);
    close(pair[1]);
    return 0;
}
