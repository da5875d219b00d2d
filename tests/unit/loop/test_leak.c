/*
 * test_leak.c - in debug mode, a loop reports the objects that still exist when it is
 * closed.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char reports[16 * 1024];

static void note_report(const coil_exception *exception, void *arg)
{
    size_t n = strlen(reports);

    (void)arg;
    snprintf(reports + n, sizeof reports - n, "%s\n", exception->message);
}

/* An object of each kind that a loop may report. */
struct things {
    coil_stream *ends[2];
    coil_listener *listener;
    coil_datagram *datagram;
    coil_file *file;
    coil_process *process;
    coil_timer timer;
    coil_lane lane;
    coil_task *task;
    int fds[2];
};

static int do_nothing(void *arg)
{
    (void)arg;
    return 0;
}

static void never(void *arg)
{
    (void)arg;
}

static void make_all(struct things *t)
{
    static const char *const argv[] = {"true", NULL};
    coil_process_opts opts = {.argv = argv, .in = COIL_PIPE};

    CHECK_INT(coil_pipe(t->ends), 0);
    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &t->listener), 0);
    CHECK_INT(coil_datagram_open("127.0.0.1", "0", 0, &t->datagram), 0);
    CHECK_INT(coil_file_open_temporary(NULL, &t->file), 0);
    CHECK_INT(coil_process_spawn(&opts, &t->process), 0);
    CHECK_INT(coil_process_wait(t->process), 0);
    coil_timer_init(&t->timer, never, NULL);
    CHECK_INT(coil_timer_start(&t->timer, coil_in(COIL_SEC(1000))), 0);
    CHECK_INT(pipe(t->fds), 0);
    CHECK_INT(coil_add_reader(t->fds[0], never, NULL), 0);
    CHECK_INT(coil_executor_create("spare", 1, &t->lane), 0);
    CHECK_INT(coil_spawn(do_nothing, NULL, &(coil_spawn_opts){.name = "idler"}, &t->task),
              0);
    CHECK_INT(coil_task_await(t->task), 0);
}

static void give_all_back(struct things *t)
{
    for (int i = 0; i < 2; i++) {
        coil_stream_destroy(t->ends[i]);
        close(t->fds[i]);
    }
    coil_listener_destroy(t->listener);
    coil_datagram_destroy(t->datagram);
    coil_file_destroy(t->file);
    coil_process_destroy(t->process);
    coil_executor_destroy(t->lane);
    coil_task_release(t->task);
}

static int leave_all_behind(void *things)
{
    coil_set_exception_handler(note_report, NULL);
    make_all(things);
    return 0;
}

static int leave_nothing_behind(void *things)
{
    struct things *t = things;

    coil_set_exception_handler(note_report, NULL);
    make_all(t);
    coil_remove_reader(t->fds[0]);
    coil_timer_stop(&t->timer);
    give_all_back(t);
    return 0;
}

/*
 * Check that a report begins with this text. If symbols are available, the report must
 * end with the function that created the object.
 */
static void check_named(const char *format, int number)
{
    char beginning[128];
    const char *found;
    size_t n = (size_t)snprintf(beginning, sizeof beginning, "The loop closes, and ");

    snprintf(beginning + n, sizeof beginning - n, format, number);
    found = strstr(reports, beginning);
    CHECK(found != NULL);
    if (found == NULL) {
        fprintf(stderr, "%s is not in:\n%s", beginning, reports);
        return;
    }
    found += strlen(beginning);
    if (strstr(reports, " at ") != NULL)
        CHECK(strncmp(found, "; created by make_all at ", 25) == 0);
}

/*
 * Count the reports of leaks. There may also be reports of slow steps, which occur on a
 * busy machine.
 */
static int count_leaks(void)
{
    int count = 0;

    for (const char *at = reports; (at = strstr(at, "The loop closes, and")) != NULL;
         at++)
        count++;
    return count;
}

/* Run fn(t) with this backend. Returns false if the backend is not available here. */
static bool run_on(const char *backend, coil_task_fn fn, struct things *t, bool debug)
{
    coil_run_opts opts = {.loop = {.backend = backend, .debug = debug}};
    int rc;

    reports[0] = '\0';
    if (!debug)
        unsetenv("COIL_DEBUG"); /* COIL_DEBUG may be set for all tests */
    rc = coil_run(fn, t, &opts);
    CHECK(rc == 0 || rc == -ENOSYS);
    return rc == 0;
}

static const char *const backends[] = {"epoll", "poll", "select", "io_uring"};

static void skip_without_pidfds(void)
{
    if (test_under_valgrind())
        test_skip("no pidfds here");
}

TEST(leaks_are_named_when_the_loop_closes)
{
    skip_without_pidfds();
    for (int i = 0; i < 4; i++) {
        struct things t = {.lane = 0};
        int descriptors[4];

        if (!run_on(backends[i], leave_all_behind, &t, true))
            continue;
        descriptors[0] = coil_stream_fd(t.ends[0]);
        descriptors[1] = coil_stream_fd(t.ends[1]);
        descriptors[2] = coil_datagram_fd(t.datagram);
        descriptors[3] = coil_file_fd(t.file);
        check_named("a stream (descriptor %d) was not destroyed", descriptors[0]);
        check_named("a stream (descriptor %d) was not destroyed", descriptors[1]);
        CHECK(strstr(reports, "a listener (descriptor ") != NULL);
        check_named("a datagram socket (descriptor %d) was not destroyed",
                    descriptors[2]);
        check_named("a file (descriptor %d) was not destroyed", descriptors[3]);
        check_named("a process (pid %d) was not destroyed or detached",
                    (int)coil_process_pid(t.process));
        check_named("a timer was not stopped", 0);
        check_named("a reader (descriptor %d) was not removed", t.fds[0]);
        check_named("an executor 'spare' was not destroyed", 0);
        check_named("a task 'idler' was not released", 0);
        CHECK_INT(count_leaks(), 10);
        give_all_back(&t);
    }
}

TEST(leaks_are_reported_only_in_debug_mode_and_if_there_are_any)
{
    skip_without_pidfds();
    for (int i = 0; i < 4; i++) {
        struct things t = {.lane = 0};

        if (!run_on(backends[i], leave_nothing_behind, &t, true))
            continue;
        CHECK_STR(reports, "");
        if (run_on(backends[i], leave_all_behind, &t, false)) {
            CHECK_STR(reports, "");
            give_all_back(&t);
        }
    }
}

/* ---- debug mode changes nothing else ----------------------------------------------- */

static int make_a_pipe(void *arg)
{
    coil_stream *ends[2];
    int rc = coil_pipe(ends);

    (void)arg;
    if (rc < 0)
        return rc;
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    return 0;
}

/*
 * Make each allocation of a run fail in turn. Returns the number of the first allocation
 * that the run does not make.
 */
static int count_allocations(bool debug)
{
    coil_run_opts opts = {.loop.debug = debug, .no_report = true};
    int n = 0;

    do {
        coil_testing_fail_allocation((uint64_t)++n);
        coil_run(make_a_pipe, NULL, &opts);
    } while (coil_testing_failed() != NULL && n < 1000);
    coil_testing_fail_allocation(0);
    return n;
}

TEST(debug_mode_makes_no_allocations_that_may_fail)
{
    unsetenv("COIL_DEBUG");
    CHECK_INT(count_allocations(true), count_allocations(false));
}

static int spawn_one_that_waits(void *arg)
{
    coil_set_exception_handler(note_report, NULL);
    CHECK_INT(coil_spawn(do_nothing, NULL, NULL, arg), 0);
    return 0;
}

/* A loop reports only its own objects, not those of an earlier loop. */
TEST(leaks_are_named_once)
{
    coil_task *tasks[2];

    reports[0] = '\0';
    for (int i = 0; i < 2; i++) {
        coil_run_opts opts = {.loop = {.debug = true}};

        CHECK_INT(coil_run(spawn_one_that_waits, &tasks[i], &opts), 0);
    }
    CHECK_INT(count_leaks(), 2);
    coil_task_release(tasks[0]);
    coil_task_release(tasks[1]);
}

/* ---- a handler that cleans up ------------------------------------------------------ */

static coil_process *left, *second;

static int run_for_ever(coil_process **out)
{
    static const char *const argv[] = {"sleep", "1000", NULL};

    return coil_process_spawn(&(coil_process_opts){.argv = argv}, out);
}

static void destroy_what_is_left(const coil_exception *exception, void *arg)
{
    note_report(exception, arg);
    coil_process_destroy(left);
    left = NULL;
}

static int leave_a_child(void *arg)
{
    coil_set_exception_handler(destroy_what_is_left, arg);
    return run_for_ever(&left);
}

/*
 * The exception handler may destroy the reported object, here a process, which the loop
 * no longer watches at that time.
 */
TEST(leaks_may_be_destroyed_by_the_handler_that_is_told_of_them)
{
    coil_run_opts opts = {.loop = {.debug = true}};

    skip_without_pidfds();
    CHECK_INT(coil_run(leave_a_child, NULL, &opts), 0);
    CHECK_INT(count_leaks(), 1);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
}

static void replace_what_is_left(const coil_exception *exception, void *arg)
{
    note_report(exception, arg);
    if (left == NULL)
        return;
    coil_process_destroy(left);
    left = NULL;
    CHECK_INT(run_for_ever(&second), 0);
}

static int leave_a_child_to_be_replaced(void *arg)
{
    coil_set_exception_handler(replace_what_is_left, arg);
    return run_for_ever(&left);
}

TEST(leaks_that_the_handler_makes_are_named_as_well)
{
    coil_run_opts opts = {.loop = {.debug = true}};

    skip_without_pidfds();
    CHECK_INT(coil_run(leave_a_child_to_be_replaced, NULL, &opts), 0);
    CHECK_INT(count_leaks(), 2);
    coil_process_destroy(second);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
}
