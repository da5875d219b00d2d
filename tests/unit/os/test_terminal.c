/*
 * test_terminal.c - children with a pseudo-terminal, children with resource limits, and
 * the pidfds of children.
 */
#include "children.h"
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void need_terminals(void)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    if (fd < 0)
        test_skip("no pseudo-terminals");
    close(fd);
    if (test_under_valgrind())
        test_skip("valgrind replaces vfork(2) by fork(2)");
}

/* Run a command in a terminal, and return its output without '\r'. */
static const char *printed(const char *command, coil_process_opts opts)
{
    static char text[4096];
    coil_process *p;
    size_t size = 0;
    ssize_t n = 0;

    opts.pty = true;
    p = start_command(command, &opts);
    do {
        char bytes[100];

        n = coil_read(coil_process_terminal(p), bytes, sizeof bytes);
        for (ssize_t i = 0; i < n; i++)
            if (bytes[i] != '\r' && size + 1 < sizeof text)
                text[size++] = bytes[i];
    } while (n > 0);
    text[size] = '\0';
    CHECK_INT(n, 0); /* coil reports EIO as the end of the stream */
    CHECK_INT(coil_read(coil_process_terminal(p), (char[1]){0}, 1), 0);
    CHECK_INT(coil_process_wait(p), 0);
    coil_process_destroy(p);
    return text;
}

/* ---- terminals --------------------------------------------------------------------- */

IO_TEST(process_may_have_a_terminal)
{
    need_terminals();
    CHECK_STR(printed("for i in 0 1 2; do test -t $i && echo $i; done",
                      (coil_process_opts){.pty = true}),
              "0\n1\n2\n");
    CHECK_STR(printed("stty size </dev/tty", (coil_process_opts){.pty = true}),
              "24 80\n");
    CHECK_STR(printed("stty size", (coil_process_opts){.pty_rows = 50, .pty_columns = 9}),
              "50 9\n");
    /*
     * The shell must be the leader of its session, and its group must be in the
     * foreground.
     */
    CHECK_STR(printed("test $(ps -o sid= -p $$) = $$ && echo leader; "
                      "test $(ps -o tpgid= -p $$) = $$ && echo foreground",
                      (coil_process_opts){.pty = true}),
              "leader\nforeground\n");
}

IO_TEST(process_terminal_is_not_the_descriptors_that_were_chosen)
{
    const char *command = "test -t 0 && echo in; test -t 1 && echo out; "
                          "test -t 2 && echo err; echo secret >/dev/tty";
    coil_output out = {0};
    coil_process *p;

    need_terminals();
    CHECK_STR(printed("test -t 2 || echo none", (coil_process_opts){.err = COIL_NULL}),
              "none\n");
    p = start_command(command, &(coil_process_opts){.pty = true, .out = COIL_PIPE});
    CHECK_INT(coil_process_communicate(p, NULL, 0, &out, NULL, 0), 0);
    CHECK_STR(out.data, "in\nerr\n");
    coil_output_finish(&out);
    coil_process_destroy(p);
}

IO_TEST(process_terminal_carries_input_and_signals)
{
    char line[100];
    coil_stream *terminal;
    coil_process *p;

    need_terminals();
    p = start_command("trap 'exit 5' INT; stty -echo; echo ready; read a; echo got $a; "
                      "read b",
                      &(coil_process_opts){.pty = true});
    terminal = coil_process_terminal(p);
    CHECK_PTR(coil_process_stdin(p), NULL);
    CHECK_PTR(coil_process_stdout(p), NULL);
    CHECK_INT(coil_read_line(terminal, line, sizeof line), 6);
    CHECK_STR(line, "ready\r");
    CHECK_INT(coil_write(terminal, "text\n", 5), 5);
    CHECK_INT(coil_read_line(terminal, line, sizeof line), 9);
    CHECK_STR(line, "got text\r");
    CHECK_INT(coil_write(terminal, "\3", 1), 1); /* Ctrl-C */
    CHECK_INT(coil_process_wait(p), 5);
    coil_process_destroy(p);
}

IO_TEST(process_terminal_reports_its_new_size)
{
    char line[100];
    coil_stream *terminal;
    coil_process *p;

    need_terminals();
    p = start_command("trap 'stty size; exit 0' WINCH; echo ready; "
                      "while :; do sleep 0.01; done",
                      &(coil_process_opts){.pty = true});
    terminal = coil_process_terminal(p);
    CHECK_INT(coil_read_line(terminal, line, sizeof line), 6);
    CHECK_INT(coil_process_resize(p, 30, 100), 0);
    CHECK_INT(coil_read_line(terminal, line, sizeof line), 7);
    CHECK_STR(line, "30 100\r");
    CHECK_INT(coil_process_wait(p), 0);
    coil_stream_close(terminal);
    CHECK_INT(coil_process_resize(p, 30, 100), -EBADF);
    coil_process_destroy(p);
    p = start_command("true", &(coil_process_opts){.out = COIL_NULL});
    CHECK_PTR(coil_process_terminal(p), NULL);
    CHECK_INT(coil_process_resize(p, 30, 100), -ENOTTY);
    CHECK_INT(coil_process_wait(p), 0);
    coil_process_destroy(p);
}

IO_TEST(process_terminal_may_be_communicated_with)
{
    coil_output out = {0};
    coil_process *p;

    need_terminals();
    p = start_command("stty -echo; cat; echo end", &(coil_process_opts){.pty = true});
    /* Wait until the terminal no longer echoes, so that the output is known. */
    while (strstr(printed("stty -a", (coil_process_opts){.pty = true}), "echo") == NULL)
        continue;
    CHECK_INT(coil_process_communicate(p, "one\ntwo\n\4", 9, &out, NULL, 0), 0);
    CHECK(strstr(out.data, "one\r\ntwo\r\nend\r\n") != NULL);
    coil_output_finish(&out);
    coil_process_destroy(p);
    /*
     * After a call that reached its limit, the child continues, and the rest of its
     * output can be read.
     */
    p = start_command("printf 12345; read go; exit 3", &(coil_process_opts){.pty = true});
    CHECK_INT(coil_process_communicate(p, NULL, 0, &out, NULL, 3), -EMSGSIZE);
    CHECK_STR(out.data, "123");
    CHECK_INT(coil_process_communicate(p, "go\n", 3, &out, NULL, 0), 3);
    CHECK(strstr(out.data, "12345") == out.data);
    coil_output_finish(&out);
    coil_process_destroy(p);
    p = start_command("printf 12345", &(coil_process_opts){.pty = true});
    CHECK_INT(coil_process_communicate(p, NULL, 0, &out, NULL, 5), 0);
    CHECK_STR(out.data, "12345");
    coil_output_finish(&out);
    coil_process_destroy(p);
    /* The child does not read the input, which is larger than the terminal's buffer. */
    p = start_command("exit 7", &(coil_process_opts){.pty = true});
    char *much = calloc(1, 1000000);
    CHECK_INT(coil_process_communicate(p, much, 1000000, NULL, NULL, 0), 7);
    free(much);
    CHECK_INT(coil_write(coil_process_terminal(p), "x", 1), -EPIPE);
    coil_process_destroy(p);
}

IO_TEST(process_with_a_terminal_is_killed_with_its_group)
{
    char line[100];
    coil_process *p;

    need_terminals();
    p = start_command("sleep 3600 & echo ready; wait", &(coil_process_opts){.pty = true});
    CHECK_INT(coil_read_line(coil_process_terminal(p), line, sizeof line), 6);
    CHECK_INT(coil_process_kill_group(p, SIGKILL), 0);
    CHECK_INT(coil_process_wait(p), 128 + SIGKILL);
    CHECK_INT(coil_read_line(coil_process_terminal(p), line, sizeof line), -ENODATA);
    coil_process_destroy(p);
    CHECK_INT(coil_process_shell(
                  "true", &(coil_process_opts){.pty = true, .process_group = 1}, &p),
              -EINVAL);
}

static int read_terminal(void *arg)
{
    char bytes[8];

    return (int)coil_read(arg, bytes, sizeof bytes);
}

IO_TEST(process_terminal_read_is_cancelled)
{
    coil_task *task = NULL;
    coil_process *p;

    need_terminals();
    p = start_command("read a; echo $a", &(coil_process_opts){.pty = true});
    CHECK_INT(coil_spawn(read_terminal, coil_process_terminal(p), NULL, &task), 0);
    settle();
    coil_task_cancel(task, NULL);
    finish_cancelled(task);
    CHECK_INT(coil_spawn(read_terminal, coil_process_terminal(p), NULL, &task), 0);
    settle();
    coil_process_destroy(p);
    CHECK_INT(coil_task_await(task), -EBADF);
    coil_task_release(task);
    wait_for_no_children();
}

static int write_much(void *arg)
{
    static char bytes[100000];
    ssize_t n = 0;

    memset(bytes, '\n', sizeof bytes);
    while (n >= 0)
        n = coil_write(arg, bytes, sizeof bytes);
    return (int)n;
}

/* A write that waits for room can be cancelled, and ends when the child ends. */
IO_TEST(process_terminal_write_that_waits_ends_with_the_child)
{
    coil_task *task = NULL;
    coil_process *p;

    need_terminals();
    p = start_command("stty -echo; read a; sleep 3600",
                      &(coil_process_opts){.pty = true});
    CHECK_INT(coil_spawn(write_much, coil_process_terminal(p), NULL, &task), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(100)), 0);
    coil_task_cancel(task, NULL);
    finish_cancelled(task);
    CHECK_INT(coil_spawn(write_much, coil_process_terminal(p), NULL, &task), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(50)), 0);
    CHECK_INT(coil_process_kill_group(p, SIGKILL), 0);
    CHECK_INT(coil_task_await(task), -EPIPE);
    coil_task_release(task);
    CHECK_INT(coil_process_wait(p), 128 + SIGKILL);
    coil_process_destroy(p);
}

IO_TEST(process_terminal_write_that_waits_ends_with_the_stream)
{
    coil_task *task = NULL;
    coil_process *p;

    need_terminals();
    for (int i = 0; i < 2; i++) {
        p = start_command("stty -echo; exec sleep 3600",
                          &(coil_process_opts){.pty = true});
        CHECK_INT(coil_spawn(write_much, coil_process_terminal(p), NULL, &task), 0);
        CHECK_INT(coil_sleep(COIL_MSEC(50)), 0);
        if (i == 0)
            coil_stream_close(coil_process_terminal(p));
        else
            coil_process_destroy(p);
        CHECK_INT(coil_task_await(task), -EBADF);
        coil_task_release(task);
        if (i == 0)
            coil_process_destroy(p);
        wait_for_no_children();
    }
}

/* ---- limits ------------------------------------------------------------------------ */

IO_TEST(process_may_have_limits)
{
    const coil_process_limit limits[] = {{RLIMIT_NOFILE, 17, 23}, {RLIMIT_CORE, 0, 0}};
    coil_process_opts opts = {.out = COIL_PIPE, .limits = limits, .limit_count = 2};
    struct rlimit before, after;

    getrlimit(RLIMIT_NOFILE, &before);
    CHECK_STR(output_of(start_command("ulimit -Sn; ulimit -Hn; ulimit -c", &opts), 0),
              "17\n23\n0\n");
    getrlimit(RLIMIT_NOFILE, &after);
    CHECK(before.rlim_cur == after.rlim_cur && before.rlim_max == after.rlim_max);
    /*
     * The limit is set after the descriptors have been set up. The shell's loader needs
     * one more descriptor.
     */
    opts.limits = &(coil_process_limit){RLIMIT_NOFILE, 4, 4};
    opts.limit_count = 1;
    CHECK_STR(output_of(start_command("echo here", &opts), 0), "here\n");
}

/* Root may raise a limit for a child that runs as another user. */
IO_TEST(process_limits_are_set_before_the_user)
{
    struct rlimit now;
    coil_process_limit limit = {RLIMIT_NOFILE, 0, 0};
    coil_process_opts opts = {
        .out = COIL_PIPE, .limits = &limit, .limit_count = 1, .user = &(uid_t){65534}};
    char expected[32];

    if (geteuid() != 0)
        test_skip("this requires root");
    getrlimit(RLIMIT_NOFILE, &now);
    if (now.rlim_max == RLIM_INFINITY)
        test_skip("there is no hard limit that could be raised");
    limit.soft = limit.hard = now.rlim_max - 1;
    snprintf(expected, sizeof expected, "%llu\n", (unsigned long long)limit.hard);
    CHECK_STR(output_of(start_command("ulimit -Hn", &opts), 0), expected);
}

IO_TEST(process_limits_that_are_wrong_are_an_error_of_spawn)
{
    const char *argv[] = {"true", NULL};
    coil_process_limit limit = {RLIMIT_NOFILE, 2, 1};
    coil_process_opts opts = {.argv = argv, .limits = &limit, .limit_count = 1};
    coil_process *p = NULL;

    CHECK_INT(coil_process_spawn(&opts, &p), -EINVAL);
    limit = (coil_process_limit){-1, 1, 1};
    CHECK_INT(coil_process_spawn(&opts, &p), -EINVAL);
    limit = (coil_process_limit){77, 1, 1};
    CHECK_INT(coil_process_spawn(&opts, &p), -EINVAL);
    opts.limits = NULL;
    CHECK_INT(coil_process_spawn(&opts, &p), -EINVAL);
    CHECK_PTR(p, NULL);
    wait_for_no_children();
}

IO_TEST(process_that_exceeds_its_limit_is_killed_by_the_kernel)
{
    coil_process_limit limit = {RLIMIT_FSIZE, 0, 0};
    coil_process_opts opts = {.out = COIL_NULL, .limits = &limit, .limit_count = 1};
    coil_process *p = start_command("trap - XFSZ; exec head -c 1 /dev/zero >"
                                    "$(mktemp -u)",
                                    &opts);

    CHECK(coil_process_wait(p) != 0);
    coil_process_destroy(p);
}

/* ---- pidfds ------------------------------------------------------------------------ */

IO_TEST(process_has_a_pidfd_for_the_caller)
{
    coil_process *p = start_command("read a", &(coil_process_opts){.in = COIL_PIPE});
    int fd = coil_process_open_pidfd(p);
    struct pollfd entry = {.fd = fd, .events = POLLIN};

    CHECK(fd >= 0);
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    CHECK_INT(poll(&entry, 1, 0), 0);
    coil_stream_close(coil_process_stdin(p));
    CHECK_INT(coil_wait_fd(fd, COIL_READABLE), COIL_READABLE);
    CHECK_INT(coil_process_wait(p), 1);
    CHECK_INT(coil_process_open_pidfd(p), -ESRCH);
    coil_process_destroy(p);
    CHECK_INT(poll(&entry, 1, 0), 1); /* the descriptor belongs to the caller */
    close(fd);
}

/*
 * After a group leader has ended, coil keeps its own pidfd, but coil_process_open_pidfd()
 * fails.
 */
IO_TEST(process_that_has_ended_has_no_pidfd)
{
    coil_process *p = start_command("exit 3", &(coil_process_opts){.new_group = true});

    CHECK_INT(coil_process_wait(p), 3);
    CHECK_INT(coil_process_open_pidfd(p), -ESRCH);
    coil_process_destroy(p);
}

/* ---- when something fails ---------------------------------------------------------- */

IO_TEST(process_with_a_terminal_bears_every_failing_system_call)
{
    const char *argv[] = {"true", NULL};
    coil_process_limit limit = {RLIMIT_CORE, 0, 0};
    coil_process_opts opts = {
        .argv = argv, .pty = true, .limits = &limit, .limit_count = 1};
    int failed = 0;

    need_terminals();
    for (unsigned n = 1, done = 0; !done; n++) {
        coil_process *p = NULL;
        int rc;

        coil_testing_fail_system_call(n, 0);
        rc = coil_process_spawn(&opts, &p);
        done = coil_testing_failed() == NULL;
        coil_testing_fail_system_call(0, 0);
        failed += rc < 0;
        CHECK((rc == 0) == (p != NULL));
        if (rc == 0)
            CHECK_INT(coil_process_wait(p), 0);
        coil_process_destroy(p);
        wait_for_no_children();
    }
    CHECK(failed > 8);
}

IO_TEST(process_with_a_terminal_bears_failing_allocations)
{
    const char *argv[] = {"true", NULL};
    coil_process_opts opts = {.argv = argv, .pty = true};
    coil_process *p = NULL;
    int rc = -ENOMEM;

    need_terminals();
    for (int n = 1; rc == -ENOMEM; n++) {
        test_fail_allocation(n);
        rc = coil_process_spawn(&opts, &p);
        test_fail_allocation(0);
    }
    CHECK_INT(rc, 0);
    CHECK_INT(coil_process_wait(p), 0);
    coil_process_destroy(p);
    wait_for_no_children();
}
