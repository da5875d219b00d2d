/*
 * test_communicate.c - coil_process_communicate(): writing all input, and reading all
 * output.
 */
#include "children.h"
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <fcntl.h>
#include <unistd.h>

static char *make_pattern(size_t n)
{
    char *data = malloc(n + 1);

    for (size_t i = 0; i < n; i++)
        data[i] = (char)pattern_byte(i);
    return data;
}

IO_TEST(communicate_writes_and_reads)
{
    coil_process *p =
        start_shell("cat; echo err >&2; exit 3", COIL_PIPE, COIL_PIPE, COIL_PIPE);
    coil_output out = {.data = NULL}, err = {.data = NULL};

    CHECK_INT(coil_process_communicate(p, "some data", 9, &out, &err, 0), 3);
    CHECK_STR(out.data, "some data");
    CHECK_INT(out.size, 9);
    CHECK_STR(err.data, "err\n");
    CHECK_INT(coil_stream_fd(coil_process_stdin(p)), -1);
    CHECK_INT(coil_stream_fd(coil_process_stdout(p)), -1);
    coil_output_finish(&out);
    coil_output_finish(&err);
    coil_output_finish(&out);
    coil_process_destroy(p);
}

IO_TEST(communicate_without_input_closes_stdin)
{
    coil_process *p = start_shell("cat; echo end", COIL_PIPE, COIL_PIPE, COIL_INHERIT);
    coil_output out = {.data = NULL};

    CHECK_INT(coil_process_communicate(p, NULL, 0, &out, NULL, 0), 0);
    CHECK_STR(out.data, "end\n");
    coil_output_finish(&out);
    coil_process_destroy(p);
    p = start_shell("cat", COIL_PIPE, COIL_PIPE, COIL_INHERIT);
    CHECK_INT(coil_process_communicate(p, "", 0, &out, NULL, 0), 0);
    CHECK_INT(out.size, 0);
    coil_output_finish(&out);
    coil_process_destroy(p);
}

/*
 * Move more data than a pipe holds (64 KiB) in both directions. (uvloop: test_process,
 * large stdio)
 */
IO_TEST(communicate_moves_what_no_pipe_holds)
{
    static const size_t sizes[] = {65535, 65536, 65537, 219263, 1000000};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        coil_process *p =
            start_shell("exec tee /dev/stderr", COIL_PIPE, COIL_PIPE, COIL_PIPE);
        coil_output out = {.data = NULL}, err = {.data = NULL};
        char *data = make_pattern(sizes[i]);

        CHECK_INT(coil_process_communicate(p, data, sizes[i], &out, &err, sizes[i]), 0);
        CHECK_INT(out.size, sizes[i]);
        CHECK_INT(err.size, sizes[i]);
        CHECK(out.size == sizes[i] && memcmp(out.data, data, sizes[i]) == 0);
        CHECK(err.size == sizes[i] && memcmp(err.data, data, sizes[i]) == 0);
        coil_output_finish(&out);
        coil_output_finish(&err);
        coil_process_destroy(p);
        free(data);
    }
}

IO_TEST(communicate_does_not_mind_a_child_that_does_not_read)
{
    size_t n = 1000000;
    char *data = make_pattern(n);
    coil_process *p = start_shell("exit 3", COIL_PIPE, COIL_INHERIT, COIL_INHERIT);

    CHECK_INT(coil_process_communicate(p, data, n, NULL, NULL, 0), 3);
    coil_process_destroy(p);
    p = start_shell("exec <&-; echo deaf", COIL_PIPE, COIL_PIPE, COIL_INHERIT);
    CHECK_INT(coil_process_communicate(p, data, n, NULL, NULL, 0), 0);
    coil_process_destroy(p);
    free(data);
}

IO_TEST(communicate_waits_for_a_child_that_closed_its_output)
{
    coil_process *p =
        start_shell("exec >&- 2>&-; read go; exit 8", COIL_PIPE, COIL_PIPE, COIL_PIPE);
    char c;

    CHECK_INT(coil_read(coil_process_stdout(p), &c, 1), 0);
    CHECK_INT(coil_process_communicate(p, "go\n", 3, NULL, NULL, 0), 8);
    coil_process_destroy(p);
}

IO_TEST(communicate_throws_away_what_nobody_wants)
{
    coil_process *p =
        start_shell("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2", COIL_NULL,
                    COIL_PIPE, COIL_PIPE);

    CHECK_INT(coil_process_communicate(p, NULL, 0, NULL, NULL, 0), 0);
    coil_process_destroy(p);
}

IO_TEST(communicate_stops_at_the_limit)
{
    coil_process *p = start_shell("exec yes", COIL_NULL, COIL_PIPE, COIL_INHERIT);
    coil_output out = {.data = NULL};

    CHECK_INT(coil_process_communicate(p, NULL, 0, &out, NULL, 10001), -EMSGSIZE);
    CHECK_INT(out.size, 10001);
    CHECK_INT(strlen(out.data), 10001);
    CHECK_INT(coil_process_wait(p), 128 + SIGPIPE);
    coil_output_finish(&out);
    coil_process_destroy(p);
    p = start_shell("printf 12345", COIL_NULL, COIL_PIPE, COIL_INHERIT);
    CHECK_INT(coil_process_communicate(p, NULL, 0, &out, NULL, 5), 0);
    CHECK_STR(out.data, "12345");
    coil_output_finish(&out);
    coil_process_destroy(p);
}

/*
 * A deadline that passes as soon as some output was read or some input was written, so
 * that the test does not depend on the speed of the machine.
 */
struct deadline {
    coil_scope scope;
    const coil_output *out;
    const coil_stream *in;
    coil_task *task;
};

static int expire(void *arg)
{
    struct deadline *d = arg;
    int rc = 0;

    while ((d->out != NULL ? d->out->size : coil_stream_write_transferred(d->in)) == 0 &&
           rc == 0)
        rc = coil_sleep(COIL_MSEC(1));
    return rc < 0 ? rc : coil_scope_set_deadline(&d->scope, coil_now());
}

static void begin_deadline(struct deadline *d)
{
    coil_scope_enter(&d->scope, COIL_NEVER);
    CHECK_INT(coil_spawn(expire, d, NULL, &d->task), 0);
}

static int end_deadline(struct deadline *d, int rc)
{
    rc = coil_scope_exit(&d->scope, rc);
    CHECK_INT(coil_task_await(d->task), 0);
    coil_task_release(d->task);
    return rc;
}

/* A grandchild, which does not end, keeps the pipe open. */
IO_TEST(communicate_keeps_what_it_read_when_time_is_up)
{
    coil_process_opts opts = {.out = COIL_PIPE, .err = COIL_PIPE, .new_group = true};
    coil_output out = {.data = NULL};
    struct deadline d = {.out = &out};
    coil_process *p;
    int rc;

    p = start_command("echo first; sleep 1000 &", &opts);
    CHECK_INT(coil_process_wait(p), 0);
    begin_deadline(&d);
    rc = coil_process_communicate(p, NULL, 0, &out, NULL, 0);
    CHECK_INT(end_deadline(&d, rc), -ETIMEDOUT);
    CHECK_STR(out.data, "first\n");
    coil_output_finish(&out);
    kill(-coil_process_pid(p), SIGKILL);
    coil_process_destroy(p);
}

/*
 * Interrupt coil_process_communicate() and call it again, while the child waits for a
 * line on another pipe.
 */
IO_TEST(communicate_goes_on_where_it_was_interrupted)
{
    coil_process_opts opts = {
        .in = COIL_PIPE, .out = COIL_PIPE, .err = COIL_PIPE, .pass_fd_count = 1};
    coil_output out = {.data = NULL};
    char line[8], command[64];
    coil_process *p;
    int gate[2], rc;

    CHECK_INT(pipe2(gate, O_CLOEXEC), 0);
    opts.pass_fds = gate;
    snprintf(command, sizeof command, "echo one; read go <&%d; echo two", gate[0]);
    p = start_command(command, &opts);
    read_line(coil_process_stdout(p), line, sizeof line);
    for (int tries = 0; tries < 2; tries++) {
        coil_scope s;

        /*
         * With a deadline that has already passed, the call is interrupted at its first
         * wait.
         */
        coil_scope_enter(&s, coil_in(-1));
        rc = coil_process_communicate(p, "", 0, &out, NULL, 0);
        CHECK_INT(coil_scope_exit(&s, rc), -ETIMEDOUT);
        CHECK_INT(coil_process_status(p), -EINPROGRESS);
    }
    CHECK_INT(write(gate[1], "go\n", 3), 3);
    CHECK_INT(coil_process_communicate(p, NULL, 0, &out, NULL, 0), 0);
    CHECK_STR(out.data, "two\n");
    coil_output_finish(&out);
    coil_process_destroy(p);
    close(gate[0]);
    close(gate[1]);
}

/*
 * The first call ends at its deadline, the second at its limit, before the writer has
 * begun, and the third succeeds. Each call gets the rest of the input, so every byte is
 * sent once.
 */
IO_TEST(communicate_called_again_counts_its_own_input)
{
    enum { N = 300000 };
    coil_process_opts opts = {
        .in = COIL_PIPE, .out = COIL_PIPE, .err = COIL_PIPE, .pass_fd_count = 1};
    coil_output out = {.data = NULL}, err = {.data = NULL};
    static char input[N];
    char command[96];
    struct deadline d = {.in = NULL};
    size_t done = 0;
    coil_process *p;
    coil_scope s;
    int gate[2], rc;

    CHECK_INT(pipe2(gate, O_CLOEXEC), 0);
    opts.pass_fds = gate;
    snprintf(command, sizeof command, "echo 0123456789; read go <&%d; exec 1>&2; wc -c",
             gate[0]);
    p = start_command(command, &opts);
    d.in = coil_process_stdin(p);
    begin_deadline(&d);
    rc = coil_process_communicate(p, input, N, NULL, &err, 0);
    CHECK_INT(end_deadline(&d, rc), -ETIMEDOUT);
    done += coil_stream_write_transferred(coil_process_stdin(p));
    CHECK(done > 0 && done < N);
    /* the call is interrupted before it writes anything */
    coil_scope_enter(&s, coil_in(-1));
    rc = coil_process_communicate(p, input + done, N - done, &out, &err, 0);
    CHECK_INT(coil_scope_exit(&s, rc), -ETIMEDOUT);
    CHECK_INT(coil_stream_write_transferred(coil_process_stdin(p)), 0);
    CHECK_INT(write(gate[1], "go\n", 3), 3);
    CHECK_INT(coil_process_communicate(p, input + done, N - done, &out, &err, 0), 0);
    CHECK_STR(err.data, "300000\n");
    /* All input was sent before, so the count must be 0. */
    CHECK_INT(coil_process_communicate(p, NULL, 0, &out, &err, 0), 0);
    CHECK_INT(coil_stream_write_transferred(coil_process_stdin(p)), 0);
    coil_output_finish(&out);
    coil_output_finish(&err);
    coil_process_destroy(p);
    close(gate[0]);
    close(gate[1]);
}

static int do_communicate(void *arg)
{
    return coil_process_communicate(arg, NULL, 0, NULL, NULL, 0);
}

IO_TEST(communicate_ends_when_the_process_is_destroyed)
{
    coil_process *p = start_shell("sleep 1000", COIL_PIPE, COIL_PIPE, COIL_PIPE);
    coil_process *q = start_shell("exec sleep 1000", 0, 0, 0);
    coil_task *tasks[2];

    CHECK_INT(coil_spawn(do_communicate, p, NULL, &tasks[0]), 0);
    CHECK_INT(coil_spawn(do_communicate, q, NULL, &tasks[1]), 0);
    settle();
    coil_process_kill_group(p, SIGKILL);
    coil_process_destroy(p);
    coil_process_destroy(q);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(coil_task_await(tasks[i]), -EBADF);
        coil_task_release(tasks[i]);
    }
    wait_for_no_children();
}

IO_TEST(communicate_bears_every_failing_allocation)
{
    int rc = -ENOMEM;

    for (int n = 1; rc == -ENOMEM; n++) {
        coil_process *p = start_shell("head -c 9000 /dev/zero; cat >&2", COIL_PIPE,
                                      COIL_PIPE, COIL_PIPE);
        coil_output out = {.data = NULL}, err = {.data = NULL};

        test_fail_allocation(n);
        rc = coil_process_communicate(p, "abc", 3, &out, &err, 0);
        test_fail_allocation(0);
        coil_output_finish(&out);
        coil_output_finish(&err);
        coil_process_destroy(p);
    }
    CHECK_INT(rc, 0);
    wait_for_no_children();
}
