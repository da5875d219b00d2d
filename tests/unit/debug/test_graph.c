/*
 * test_graph.c - the printed graph of tasks that await each other. Some of the graphs are
 * those of CPython's test_graph.
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"
#include "../socket/sockets.h"

#include <coil.h>

static char text[256 * 1024];

static void print_graph(coil_future *future)
{
    FILE *out = fmemopen(text, sizeof text, "w");

    coil_print_call_graph(future, out);
    fclose(out);
}

static void print_dump(void)
{
    FILE *out = fmemopen(text, sizeof text, "w");

    coil_dump(out);
    fclose(out);
}

/*
 * Return a one-line summary of the output, with the awaiters of each task or future in
 * parentheses, such as "c2(main, sub(main))". "^" marks a task that was printed before.
 */
static const char *shape(void)
{
    static char line[1024];
    int depth = -1;
    size_t n = 0;

    for (char *p = text; p != NULL && *p != '\0'; p = strchr(p, '\n'), p += p != NULL) {
        int spaces = (int)strspn(p, " "), level = spaces / 4;
        char name[64], seen[8] = "";

        if (sscanf(p + spaces, "* %63s", name) != 1)
            continue;
        if (strcmp(name, "Task") == 0)
            sscanf(p + spaces, "* Task %63s (%7s", name, seen);
        for (; depth > level; depth--)
            n += (size_t)sprintf(line + n, ")");
        n += (size_t)sprintf(line + n, "%s%s%s",
                             depth < 0        ? ""
                             : depth == level ? ", "
                                              : "(",
                             name, seen[0] != '\0' ? "^" : "");
        depth = level;
    }
    for (; depth > 0; depth--)
        n += (size_t)sprintf(line + n, ")");
    line[n] = '\0';
    return line;
}

/*
 * Check that the first call stack of the output contains these functions. Does nothing if
 * function names are not available.
 */
static void check_stack(const char *const names[], size_t count)
{
    const char *p = text;

    if (strstr(text, " at ") == NULL)
        return; /* without debug data only addresses are printed */
    for (size_t i = 0; i < count; i++) {
        char line[128];

        snprintf(line, sizeof line, "|   %s", test_place(names[i]));
        p = p != NULL ? strstr(p, line) : NULL;
        CHECK(p != NULL);
    }
    if (p == NULL)
        fputs(text, stderr);
}

#define CHECK_STACK(...)                                                                 \
    check_stack((const char *const[]){__VA_ARGS__},                                      \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static int await(void *arg)
{
    return coil_await(arg);
}

static const coil_spawn_opts *named(const char *name)
{
    static coil_spawn_opts opts;

    opts = (coil_spawn_opts){.name = name};
    return &opts;
}

/*
 * These functions must appear on the printed stacks, so none of them may end in a tail
 * call.
 */
static COIL__NOINLINE int print_here(void)
{
    print_graph(NULL);
    __asm__ volatile("");
    return 0;
}

static COIL__NOINLINE int deep(void)
{
    int rc = coil_yield();

    if (rc == 0)
        rc = print_here();
    __asm__ volatile("");
    return rc;
}

static COIL__NOINLINE int go_deep(void *arg)
{
    int rc = deep();

    (void)arg;
    __asm__ volatile("");
    return rc;
}

TASK_TEST(call_graph_of_a_task_in_a_group_that_its_siblings_await)
{
    coil_group group;
    coil_task *c2;

    coil_group_enter(&group);
    coil_group_spawn(&group, go_deep, NULL, named("c2"), &c2);
    coil_group_spawn(&group, await, coil_task_future(c2), named("sub1"), NULL);
    coil_group_spawn(&group, await, coil_task_future(c2), named("sub2"), NULL);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    CHECK_STR(shape(), "c2(main, sub1(main^), sub2(main^))");
    CHECK_STACK("print_here", "deep", "go_deep");
}

static int generate(coil_gen *gen, void *arg)
{
    int rc = deep();

    (void)gen, (void)arg;
    __asm__ volatile("");
    return rc;
}

static COIL__NOINLINE int drive(void *arg)
{
    int rc = coil_gen_next(arg, NULL);

    __asm__ volatile("");
    return rc;
}

TASK_TEST(call_graph_of_a_task_inside_a_generator)
{
    coil_task *task;
    coil_gen *gen;

    coil_gen_create(generate, NULL, NULL, &gen);
    coil_spawn(drive, gen, named("driver"), &task);
    CHECK_INT(coil_task_await(task), 0);
    CHECK_STR(shape(), "driver(main)");
    CHECK_STACK("print_here", "deep", "generate", "drive");
    coil_task_release(task);
    coil_gen_destroy(gen);
}

static int yield_once(void *arg)
{
    (void)arg;
    return coil_yield();
}

TASK_TEST(call_graph_of_a_task_that_is_gathered)
{
    coil_future *futures[2];
    coil_task *c1, *c2;

    coil_spawn(go_deep, NULL, named("c1"), &c1);
    coil_spawn(yield_once, NULL, named("c2"), &c2);
    futures[0] = coil_task_future(c1);
    futures[1] = coil_task_future(c2);
    CHECK_INT(coil_gather(futures, 2, 0, NULL), 0);
    CHECK_STR(shape(), "c1(main)");
    CHECK_STACK("print_here", "deep", "go_deep");
    coil_task_release(c1);
    coil_task_release(c2);
}

TASK_TEST(call_graph_of_a_task_that_is_shielded)
{
    coil_task *task;

    coil_spawn(go_deep, NULL, named("c1"), &task);
    CHECK_INT(coil_shield(coil_task_future(task)), 0);
    CHECK_STR(shape(), "c1(main)");
    coil_task_release(task);
}

static int go_deep_in_a_scope(void *arg)
{
    coil_scope scope;

    coil_scope_enter(&scope, coil_in(COIL_SEC(1)));
    return coil_scope_exit(&scope, go_deep(arg));
}

TASK_TEST(call_graph_of_a_task_with_a_timeout)
{
    coil_task *task;

    coil_spawn(go_deep_in_a_scope, NULL, named("c1"), &task);
    CHECK_INT(coil_shield(coil_task_future(task)), 0);
    CHECK_STR(shape(), "c1(main)");
    CHECK_STACK("print_here", "deep", "go_deep", "go_deep_in_a_scope");
    coil_task_release(task);
}

static int wait_for_both(void *arg)
{
    return coil_wait(arg, 2, COIL_WAIT_ALL, COIL_NEVER);
}

TASK_TEST(call_graph_of_a_task_that_is_waited_for)
{
    coil_future *futures[2];
    coil_task *c1, *c2, *waiting;

    coil_spawn(go_deep, NULL, named("c1"), &c1);
    coil_spawn(yield_once, NULL, named("c2"), &c2);
    futures[0] = coil_task_future(c1);
    futures[1] = coil_task_future(c2);
    coil_spawn(wait_for_both, futures, named("waiting"), &waiting);
    CHECK_INT(coil_task_await(waiting), 2);
    CHECK_STR(shape(), "c1(waiting(main))");
    coil_task_release(c1);
    coil_task_release(c2);
    coil_task_release(waiting);
}

static COIL__NOINLINE int await_a_child(void *arg)
{
    coil_task *task;
    int rc;

    coil_spawn(go_deep, arg, named("child"), &task);
    rc = coil_task_await(task);
    coil_task_release(task);
    return rc;
}

TASK_TEST(call_graph_of_a_task_that_is_awaited)
{
    CHECK_INT(await_a_child(NULL), 0);
    CHECK_STR(shape(), "child(main)");
    CHECK(strstr(text, " at ") == NULL || strstr(text, "|   await_a_child at ") != NULL);
}

TASK_TEST(call_graph_of_a_future)
{
    coil_future *future;
    coil_group group;

    coil_future_create(&future);
    coil_group_enter(&group);
    coil_group_spawn(&group, await, future, named("A"), NULL);
    coil_group_spawn(&group, await, future, named("B"), NULL);
    settle();
    print_graph(future);
    coil_future_set(future, 0, NULL, NULL);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    CHECK_STR(shape(), "Future(A(main), B(main^))");
    CHECK(strncmp(text, "* Future 0x", strlen("* Future 0x")) == 0);
    coil_future_release(future);
}

/* ---- cases of coil's own ----------------------------------------------------------- */

static coil_task *circle[2];

static int await_the_other(void *arg)
{
    return coil_task_await(circle[(intptr_t)arg]);
}

/*
 * Create two tasks that await each other. These tasks can never end, so the test must
 * neither wait for them nor cancel them.
 */
static int make_circle(void *arg)
{
    (void)arg;
    coil_spawn(await_the_other, (void *)1, named("hen"), &circle[0]);
    coil_spawn(await_the_other, (void *)0, named("egg"), &circle[1]);
    settle();
    print_graph(coil_task_future(circle[0]));
    CHECK_STR(shape(), "hen(egg(hen^))");
    print_dump();
    CHECK(strstr(text, "\n- hen waits 0.0 s: task egg\n") != NULL);
    CHECK(strstr(text, "\n  - egg waits 0.0 s: task hen\n") != NULL);
    fflush(stderr);
    abort();
}

static void run_circle(void *arg)
{
    coil_run_opts opts = {.loop.virtual_clock = true, .no_signals = true};

    (void)arg;
    coil_run(make_circle, NULL, &opts);
}

TEST(call_graph_and_dump_of_tasks_that_await_each_other_in_a_circle)
{
    test_dies(run_circle, NULL, "");
}

TASK_TEST(call_graph_of_a_chain_is_cut_where_it_is_too_deep)
{
    enum { LENGTH = 100 };
    coil_task *chain[LENGTH];
    coil_future *first;

    coil_future_create(&first);
    for (int i = 0; i < LENGTH; i++)
        coil_spawn(await, i == 0 ? first : coil_task_future(chain[i - 1]), NULL,
                   &chain[i]);
    settle();
    print_graph(first);
    CHECK(strstr(text, "  ...\n") != NULL);
    print_dump();
    CHECK(strstr(text, "coil: 101 tasks\n") == text);
    coil_future_set(first, 0, NULL, NULL);
    coil_task_await(chain[LENGTH - 1]);
    for (int i = 0; i < LENGTH; i++)
        coil_task_release(chain[i]);
    coil_future_release(first);
}

/* ---- the dump ---------------------------------------------------------------------- */

static int sleep_five(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(5));
}

static int await_a_sleeper(void *arg)
{
    coil_task *task;
    int rc;

    (void)arg;
    coil_spawn(sleep_five, NULL, named("inner"), &task);
    rc = coil_task_await(task);
    coil_task_release(task);
    return rc;
}

/*
 * Check the lines of `text` that begin with a dash. Lines are cut off before an address,
 * because addresses differ from run to run.
 */
static void check_tasks(const char *expected)
{
    char lines[2048] = "";

    for (char *p = strtok(text, "\n"); p != NULL; p = strtok(NULL, "\n"))
        if (p[strspn(p, " ")] == '-') {
            char *address = strstr(p, " 0x");

            snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%.*s\n",
                     (int)(address != NULL ? address - p : (long)strlen(p)), p);
        }
    CHECK_STR(lines, expected);
}

TASK_TEST(dump_is_a_tree_of_groups_and_awaits)
{
    coil_lock lock = COIL_LOCK_INIT;
    coil_group group;
    coil_task *loose;

    coil_lock_acquire(&lock);
    coil_group_enter(&group);
    coil_spawn(sleep_five, NULL, named("loose"), &loose);
    coil_group_spawn(&group, await_a_sleeper, NULL, named("outer"), NULL);
    coil_group_spawn(&group, sleep_five, NULL, named("sleeper"), NULL);
    settle();
    coil_sleep(COIL_SEC(2));
    coil_group_spawn(&group, sleep_five, NULL, named("new"), NULL);
    print_dump();
    CHECK(strstr(text, "coil: 6 tasks\n") == text);
    CHECK(strstr(text, " at ") == NULL ||
          strstr(text, test_place(" spawned by await_a_sleeper")) != NULL);
    /* cut off the function's name at the end */
    *strstr(text, " has not begun: ") = '\0';
    check_tasks("- main runs\n"
                "  - outer waits 2.0 s: task inner\n"
                "    - inner waits 2.0 s: sleep, 3.0 s to go\n"
                "  - sleeper waits 2.0 s: sleep, 3.0 s to go\n"
                "  - new\n");
    CHECK_INT(coil_group_exit(&group, 0), 0);
    coil_task_await(loose);
    coil_task_release(loose);
}

static int dump_in_the_middle(void *arg)
{
    (void)arg;
    print_dump();
    return 0;
}

TASK_TEST(dump_of_a_group_whose_owner_is_in_its_exit)
{
    coil_group group;

    coil_group_enter(&group);
    coil_group_spawn(&group, dump_in_the_middle, NULL, named("child"), NULL);
    coil_group_exit(&group, 0);
    check_tasks("- main waits 0.0 s: group\n"
                "  - child runs\n");
}

static int dump_eagerly(void *arg)
{
    (void)arg;
    print_dump();
    return 0;
}

TASK_TEST(dump_from_a_task_that_was_started_eagerly)
{
    coil_spawn_opts opts = {.name = "eager", .eager = true};

    coil_spawn(dump_eagerly, NULL, &opts, NULL);
    CHECK(strstr(text, " at ") == NULL ||
          strstr(text, test_place("      dump_eagerly")) != NULL);
    check_tasks("- main has started another\n"
                "- eager runs\n");
}

static int sleep_two_milliseconds(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_MSEC(2));
}

/*
 * Print the tasks after the sleeper's deadline has passed, while this task still occupies
 * the loop, so that the loop has not yet woken the sleeper.
 */
static int dump_a_late_sleeper(void *arg)
{
    coil_task *sleeper;
    int64_t until;
    int rc = coil_spawn(sleep_two_milliseconds, arg, named("sleeper"), &sleeper);

    if (rc < 0)
        return rc;
    coil_yield();
    for (until = coil_in(COIL_MSEC(100)); coil_now() < until;)
        continue;
    print_dump();
    rc = coil_task_await(sleeper);
    coil_task_release(sleeper);
    return rc;
}

TEST(dump_of_a_sleep_that_is_over_has_no_time_to_go)
{
    CHECK_INT(coil_run(dump_a_late_sleeper, NULL, NULL), 0);
    CHECK(strstr(text, ": sleep, 0.0 s to go\n") != NULL);
}

TEST(dump_without_a_loop)
{
    print_dump();
    CHECK_STR(text, "coil: 0 tasks\n");
}
