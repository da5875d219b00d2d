/*
 * test_fork.c - a child of fork(2) aborts if it uses its parent's loop, may create its
 * own, and never affects the parent's loop.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Exit from a child of fork(2). Under Valgrind, a successful child kills itself instead,
 * because Valgrind would report the objects of the parent's loop as lost: the child has
 * no pointers to them.
 */
static void end_child(int rc)
{
    if (rc == 0 && test_under_valgrind())
        raise(SIGKILL);
    _exit(rc);
}

/* Call fn(arg) in a child of fork(2). Returns the child's wait status. */
static int in_child(int (*fn)(void *arg), void *arg)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        end_child(fn(arg));
    CHECK(child > 0);
    CHECK_INT(waitpid(child, &status, 0), child);
    return test_under_valgrind() && status == SIGKILL ? 0 : status;
}

/* ---- destroying -------------------------------------------------------------------- */

struct reading {
    coil_stream *stream;
    char bytes[8];
    ssize_t got;
};

static int read_some(void *arg)
{
    struct reading *r = arg;

    r->got = coil_read(r->stream, r->bytes, sizeof r->bytes);
    return 0;
}

static int destroy_stream(void *arg)
{
    int fd = coil_stream_fd(arg);

    coil_stream_destroy(arg);
    /* the child's copy of the descriptor is closed */
    return fcntl(fd, F_GETFD) < 0 ? 0 : 1;
}

IO_TEST(fork_stream_destroyed_by_the_child_goes_on_in_the_parent)
{
    coil_stream *ends[2];
    struct reading r = {.got = -1};
    coil_task *task;

    CHECK_INT(coil_stream_pair(ends), 0);
    r.stream = ends[0];
    CHECK_INT(coil_spawn(read_some, &r, NULL, &task), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(5)), 0);
    CHECK_INT(in_child(destroy_stream, ends[0]), 0);
    CHECK_INT(in_child(destroy_stream, ends[1]), 0);
    CHECK_INT(coil_write(ends[1], "hello", 5), 5);
    CHECK_INT(coil_task_await(task), 0);
    CHECK_INT(r.got, 5);
    coil_task_release(task);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
}

static int accept_one(void *arg)
{
    coil_stream *stream;
    int rc = coil_accept(arg, &stream);

    if (rc == 0)
        coil_stream_destroy(stream);
    return rc;
}

static int destroy_listener(void *arg)
{
    coil_listener_destroy(arg);
    return 0;
}

IO_TEST(fork_listener_destroyed_by_the_child_accepts_in_the_parent)
{
    char path[] = "/tmp/coil-fork-XXXXXX", name[64];
    coil_listener *listener;
    coil_stream *stream;
    coil_task *task;

    CHECK(mkdtemp(path) != NULL);
    snprintf(name, sizeof name, "%s/socket", path);
    CHECK_INT(coil_listen_unix(name, 0, &listener), 0);
    CHECK_INT(coil_spawn(accept_one, listener, NULL, &task), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(5)), 0);
    CHECK_INT(in_child(destroy_listener, listener), 0);
    CHECK_INT(coil_connect_unix(name, &stream), 0); /* the socket's file still exists */
    CHECK_INT(coil_task_await(task), 0);
    coil_task_release(task);
    coil_stream_destroy(stream);
    coil_listener_destroy(listener);
    CHECK_INT(rmdir(path), 0);
}

static int receive_one(void *arg)
{
    char bytes[8];

    return (int)coil_receive(arg, bytes, sizeof bytes);
}

static int destroy_datagram(void *arg)
{
    coil_datagram_destroy(arg);
    return 0;
}

IO_TEST(fork_datagram_destroyed_by_the_child_receives_in_the_parent)
{
    coil_datagram *to, *from;
    coil_address address;
    coil_task *task;

    CHECK_INT(coil_datagram_open("127.0.0.1", "0", 0, &to), 0);
    CHECK_INT(coil_datagram_open("127.0.0.1", "0", 0, &from), 0);
    CHECK_INT(coil_datagram_name(to, &address), 0);
    CHECK_INT(coil_spawn(receive_one, to, NULL, &task), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(5)), 0);
    CHECK_INT(in_child(destroy_datagram, to), 0);
    CHECK_INT(coil_send_to(from, "abc", 3, &address.any, address.length), 3);
    CHECK_INT(coil_task_await(task), 3);
    coil_task_release(task);
    coil_datagram_destroy(to);
    coil_datagram_destroy(from);
}

static void never(void *arg)
{
    (void)arg;
    CHECK(false);
}

struct undone {
    coil_timer *timer;
    coil_handle *handle;
    int fd;
    coil_event *event;
    coil_task *task;
};

static int undo(void *arg)
{
    struct undone *u = arg;

    coil_timer_stop(u->timer);
    coil_handle_cancel(u->handle);
    coil_handle_release(u->handle);
    coil_event_finish(u->event); /* a task of the parent waits for the event */
    coil_task_release(u->task);
    coil_remove_signal_handler(SIGUSR1);
    return coil_remove_reader(u->fd) == 1 ? 0 : 1;
}

static int undo_in_a_loop_of_its_own(void *arg)
{
    return coil_run(undo, arg, NULL);
}

static void count(void *arg)
{
    ++*(int *)arg;
}

static int wait_for_event(void *arg)
{
    return coil_event_wait(arg);
}

IO_TEST(fork_what_the_child_takes_back_the_parent_still_has)
{
    coil_event event = COIL_EVENT_INIT;
    int timed = 0, called = 0, read = 0, signalled = 0, ends[2];
    coil_timer timer;
    struct undone u = {.timer = &timer, .event = &event};

    CHECK_INT(pipe(ends), 0);
    u.fd = ends[0];
    coil_timer_init(&timer, count, &timed);
    CHECK_INT(coil_timer_start(&timer, coil_in(COIL_MSEC(20))), 0);
    CHECK_INT(coil_call_later(COIL_MSEC(20), count, &called, &u.handle), 0);
    CHECK_INT(coil_add_reader(ends[0], count, &read), 0);
    CHECK_INT(coil_add_signal_handler(SIGUSR1, count, &signalled), 0);
    CHECK_INT(coil_spawn(wait_for_event, &event, NULL, &u.task), 0);
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(in_child(undo, &u), 0);
    CHECK_INT(in_child(undo_in_a_loop_of_its_own, &u), 0);
    CHECK_INT(write(ends[1], "x", 1), 1);
    CHECK_INT(raise(SIGUSR1), 0);
    while (timed == 0 || called == 0 || read == 0 || signalled == 0)
        CHECK_INT(coil_sleep(COIL_MSEC(5)), 0);
    coil_event_set(&event);
    CHECK_INT(coil_task_await(u.task), 0);
    coil_task_release(u.task);
    coil_handle_release(u.handle);
    coil_remove_reader(ends[0]);
    coil_remove_signal_handler(SIGUSR1);
    close(ends[0]);
    close(ends[1]);
}

struct due {
    coil_timer timer;
    coil_handle *handle;
    int called;
};

static int undo_what_is_due(void *arg)
{
    struct due *due = arg;

    coil_timer_stop(&due->timer);
    coil_handle_cancel(due->handle);
    coil_handle_release(due->handle);
    return coil_yield();
}

static int undo_due_in_a_loop_of_its_own(void *arg)
{
    coil_run_opts opts = {.loop.debug = true};

    return coil_run(undo_what_is_due, arg, &opts);
}

/*
 * The child cancels a timer and a handle that are due, and so have left the heap. In
 * debug mode, the handle also stores its loop.
 */
IO_TEST(fork_what_the_child_takes_back_may_be_due)
{
    struct due due = {.called = 0};

    coil_set_debug(true);
    coil_timer_init(&due.timer, count, &due.called);
    CHECK_INT(coil_timer_start(&due.timer, coil_now()), 0);
    CHECK_INT(coil_call_soon(count, &due.called, &due.handle), 0);
    CHECK_INT(in_child(undo_due_in_a_loop_of_its_own, &due), 0);
    CHECK_INT(due.called, 0);
    while (due.called < 2)
        CHECK_INT(coil_yield(), 0);
    coil_handle_release(due.handle);
}

static int destroy_process(void *arg)
{
    coil_process_destroy(arg);
    return 0;
}

IO_TEST(fork_process_destroyed_by_the_child_lives)
{
    const char *const argv[] = {"cat", NULL};
    coil_process_opts opts = {.argv = argv, .in = COIL_PIPE};
    coil_process *process;

    if (coil_process_spawn(&opts, &process) == -ENOSYS)
        test_skip("no pidfds here");
    CHECK_INT(in_child(destroy_process, process), 0);
    CHECK_INT(coil_process_status(process), -EINPROGRESS);
    coil_stream_close(coil_process_stdin(process));
    CHECK_INT(coil_process_wait(process), 0);
    coil_process_destroy(process);
}

static int wait_long(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(60));
}

static int handle_one(coil_stream *stream, void *arg)
{
    char byte;

    ++*(int *)arg;
    return (int)coil_read(stream, &byte, 1);
}

static int destroy_server(void *arg)
{
    coil_server_destroy(arg);
    return 0;
}

IO_TEST(fork_server_destroyed_by_the_child_serves_in_the_parent)
{
    int handled = 0;
    coil_listener *listener;
    coil_server *server;
    coil_stream *stream;
    char port[8];

    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &listener), 0);
    snprintf(port, sizeof port, "%u", (unsigned)coil_listener_port(listener));
    CHECK_INT(coil_server_create(listener, handle_one, &handled, NULL, &server), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(5)), 0);
    CHECK_INT(in_child(destroy_server, server), 0);
    CHECK_INT(coil_connect("127.0.0.1", port, &stream), 0);
    while (handled == 0)
        CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    coil_stream_destroy(stream);
    CHECK_INT(coil_server_stop(server), 0);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
}

/* ---- objects of the child ---------------------------------------------------------- */

static int has_nothing(void *arg)
{
    (void)arg;
    return coil_loop_current() == NULL && coil_task_current() == NULL &&
                   !coil_may_suspend() && coil_backend_name() == NULL
               ? 0
               : 1;
}

IO_TEST(fork_child_has_neither_loop_nor_task)
{
    CHECK_INT(in_child(has_nothing, NULL), 0);
    CHECK(coil_loop_current() != NULL);
    CHECK(coil_task_current() != NULL);
}

static int use_own_loop(void *arg)
{
    coil_stream *ends[2];
    char bytes[8];
    int rc = coil_stream_pair(ends);

    (void)arg;
    if (rc < 0)
        return 1;
    if (coil_write(ends[0], "x", 1) != 1 || coil_read(ends[1], bytes, sizeof bytes) != 1)
        rc = 2;
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    return coil_sleep(COIL_MSEC(1)) < 0 ? 3 : rc;
}

static int run_own(void *arg)
{
    coil_stream **ends = arg;
    int rc = coil_run(use_own_loop, NULL, NULL);

    coil_stream_destroy(ends[0]); /* works even after the child has run its own loop */
    return rc;
}

static int destroy_and_use_own(void *arg)
{
    coil_stream_destroy(arg); /* on another loop */
    return use_own_loop(NULL);
}

static int run_own_and_destroy(void *arg)
{
    coil_stream **ends = arg;

    return coil_run(destroy_and_use_own, ends[0], NULL);
}

IO_TEST(fork_child_runs_a_loop_of_its_own)
{
    coil_stream *ends[2];
    struct reading r = {.got = -1};
    coil_task *task;

    CHECK_INT(coil_stream_pair(ends), 0);
    r.stream = ends[0];
    CHECK_INT(coil_spawn(read_some, &r, NULL, &task), 0);
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(in_child(run_own, ends), 0);
    CHECK_INT(in_child(run_own_and_destroy, ends), 0);
    CHECK_INT(coil_write(ends[1], "hi", 2), 2);
    CHECK_INT(coil_task_await(task), 0);
    CHECK_INT(r.got, 2);
    coil_task_release(task);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
}

static int do_nothing(void *arg)
{
    (void)arg;
    return 7;
}

static int use_own_threads(void *arg)
{
    return coil_blocking(COIL_LANE_CPU, do_nothing, arg) == 7 ? 0 : 1;
}

static int run_own_threads(void *arg)
{
    return coil_run(use_own_threads, arg, NULL);
}

IO_TEST(fork_child_has_threads_of_its_own)
{
    CHECK_INT(coil_blocking(COIL_LANE_CPU, do_nothing, NULL), 7);
    CHECK_INT(in_child(run_own_threads, NULL), 0);
    CHECK_INT(coil_blocking(COIL_LANE_CPU, do_nothing, NULL), 7);
}

static int run_shell(void *arg)
{
    (void)arg;
    execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
    return 1;
}

IO_TEST(fork_child_may_exec)
{
    CHECK_INT(WEXITSTATUS(in_child(run_shell, NULL)), 3);
}

static int post_to(void *arg)
{
    return coil_post(arg, never, NULL) == -ESHUTDOWN ? 0 : 1;
}

IO_TEST(fork_child_cannot_post_to_its_parents_loop)
{
    CHECK_INT(in_child(post_to, coil_loop_current()), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(2)), 0);
}

static int has_variable(void *arg)
{
    return coil_var_get(arg) == (void *)(intptr_t)7 ? 0 : 1;
}

IO_TEST(fork_child_keeps_the_context_of_its_task)
{
    static coil_var var = COIL_VAR_INIT("number", NULL);
    coil_var_token token;

    CHECK_INT(coil_var_set(&var, (void *)(intptr_t)7, &token), 0);
    CHECK_INT(in_child(has_variable, &var), 0);
    coil_var_reset(&var, &token);
}

static int close_runner(void *arg)
{
    coil_runner_destroy(arg);
    return 0;
}

static int fork_in_runner(void *arg)
{
    coil_task *task;

    CHECK_INT(coil_spawn(wait_long, NULL, NULL, &task), 0);
    CHECK_INT(in_child(close_runner, arg), 0);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_cancel_caught();
    coil_task_release(task);
    return 0;
}

TEST(fork_runner_destroyed_by_the_child_runs_nothing)
{
    coil_runner *runner;

    CHECK_INT(coil_runner_create(NULL, &runner), 0);
    CHECK_INT(coil_runner_run(runner, fork_in_runner, runner), 0);
    coil_runner_destroy(runner);
}

/* ---- forbidden calls --------------------------------------------------------------- */

static int sleep_in_child(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_MSEC(1)) + 1;
}

static int read_in_child(void *arg)
{
    char byte;

    return coil_read(arg, &byte, 1) < 0;
}

static int spawn_in_child(void *arg)
{
    return coil_spawn(wait_long, arg, NULL, NULL);
}

static int open_in_child(void *arg)
{
    coil_stream *ends[2];

    (void)arg;
    return coil_stream_pair(ends);
}

static int run_in_child(void *arg)
{
    return coil_loop_run_forever(arg);
}

static int set_in_child(void *arg)
{
    coil_event_set(arg);
    return 0;
}

struct child_call {
    coil_task_fn call;
    void *arg;
    const char *message;
};

/*
 * Make the call in a child of fork(2). If a signal kills the child, raise the same signal
 * in this process.
 */
static void call_as_child(void *arg)
{
    const struct child_call *c = arg;
    int status = in_child(c->call, c->arg);

    if (WIFSIGNALED(status))
        raise(WTERMSIG(status));
}

IO_TEST(fork_child_that_uses_the_parents_loop_is_told)
{
    coil_event event = COIL_EVENT_INIT;
    coil_stream *ends[2];
    coil_task *task;

    CHECK_INT(coil_stream_pair(ends), 0);
    CHECK_INT(coil_spawn(wait_for_event, &event, NULL, &task), 0);
    CHECK_INT(coil_yield(), 0);

    struct child_call calls[] = {
        {sleep_in_child, NULL, "coil_sleep: this is a child of fork(2)"},
        {read_in_child, ends[0], "coil_read: this is a child of fork(2)"},
        {spawn_in_child, NULL, "coil_spawn: this is a child of fork(2)"},
        {open_in_child, NULL, "coil_stream_pair: this is a child of fork(2)"},
        {run_in_child, coil_loop_current(), "this is a child of fork(2)"},
        {set_in_child, &event, "this is a child of fork(2)"},
    };

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        test_dies(call_as_child, &calls[i], calls[i].message);
    coil_event_set(&event);
    CHECK_INT(coil_task_await(task), 0);
    coil_task_release(task);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
}

static int pass_on_abort(pid_t child)
{
    int status = 0;

    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        raise(WTERMSIG(status));
    return 0;
}

static int say_so(void *arg)
{
    (void)arg;
    fputs("the child runs a task of its parent's\n", stderr);
    return 0;
}

static int return_in_child(void *arg)
{
    pid_t child;

    CHECK_INT(coil_spawn(say_so, arg, NULL, NULL), 0);
    child = fork();
    return child == 0 ? 0 : pass_on_abort(child);
}

static void die_returning(void *arg)
{
    coil_run(return_in_child, arg, NULL);
}

TEST(fork_child_that_returns_from_its_task_is_told)
{
    test_dies(die_returning, NULL, "returning from the body of a task: this is a child");
}

static void return_in_callback(void *arg)
{
    pid_t child = fork();

    (void)arg;
    if (child != 0)
        pass_on_abort(child);
    else
        fputs("in the child\n", stderr);
}

static int fork_in_callback(void *arg)
{
    CHECK_INT(coil_call_soon(return_in_callback, arg, NULL), 0);
    CHECK_INT(coil_call_soon(never, arg, NULL), 0);
    return coil_sleep(COIL_MSEC(1));
}

static void die_going_on(void *arg)
{
    coil_run(fork_in_callback, arg, arg);
}

TEST(fork_child_that_returns_from_a_callback_goes_on_with_nothing)
{
    coil_run_opts debug = {.loop = {.debug = true}};

    test_dies(die_going_on, NULL, "in the child\ncoil: continuing the event loop: this");
    test_dies(die_going_on, &debug,
              "in the child\ncoil: continuing the event loop: this");
}
