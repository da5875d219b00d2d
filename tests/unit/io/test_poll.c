/*
 * test_poll.c - poll(2) for tasks.
 */
#include "../../harness/harness.h"

#include "../../../src/base/fault.h"
#include "../socket/sockets.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct polling {
    struct pollfd fds[8];
    nfds_t n;
    int64_t timeout_ns;
    int rc;
    bool ended;
};

static int do_poll(void *arg)
{
    struct polling *p = arg;

    p->rc = coil_poll(p->fds, p->n, p->timeout_ns);
    p->ended = true;
    return 0;
}

/* Start the task, and check that it has begun to wait. */
static coil_task *start(struct polling *p)
{
    coil_task *task;

    CHECK_INT(coil_spawn(do_poll, p, NULL, &task), 0);
    settle();
    CHECK(!p->ended);
    return task;
}

static void make_pipe(int ends[2])
{
    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
}

static void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static void write_byte(int fd)
{
    CHECK_INT(write(fd, "x", 1), 1);
}

static void read_byte(int fd)
{
    char byte;

    CHECK_INT(read(fd, &byte, 1), 1);
}

IO_TEST(poll_says_what_is_ready)
{
    struct pollfd fds[4];
    int ends[2];

    make_pipe(ends);
    fds[0] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    fds[1] = (struct pollfd){.fd = ends[1], .events = POLLOUT};
    fds[2] = (struct pollfd){.fd = -1, .events = POLLIN, .revents = 7};
    CHECK_INT(coil_poll(fds, 1, 0), 0);
    CHECK_INT(coil_poll(fds, 3, COIL_NEVER), 1);
    CHECK_INT(fds[0].revents, 0);
    CHECK_INT(fds[1].revents, POLLOUT);
    CHECK_INT(fds[2].revents, 0);
    write_byte(ends[1]);
    CHECK_INT(coil_poll(fds, 3, -1), 2);
    CHECK_INT(fds[0].revents, POLLIN);
    close_both(ends);
    CHECK_INT(coil_poll(fds, 1, COIL_NEVER), 1);
    CHECK_INT(fds[0].revents, POLLNVAL);
}

IO_TEST(poll_waits_for_any_of_several)
{
    int a[2], b[2];

    make_pipe(a);
    make_pipe(b);
    for (int i = 0; i < 4; i++) {
        struct polling p = {.fds = {{.fd = a[0], .events = POLLIN},
                                    {.fd = b[0], .events = POLLIN | POLLRDNORM}},
                            .n = 2,
                            .timeout_ns = COIL_NEVER};
        coil_task *task = start(&p);

        write_byte(i % 2 == 0 ? a[1] : b[1]);
        finish(task);
        CHECK_INT(p.rc, 1);
        CHECK_INT(p.fds[0].revents, i % 2 == 0 ? POLLIN : 0);
        CHECK_INT(p.fds[1].revents, i % 2 == 0 ? 0 : POLLIN | POLLRDNORM);
        read_byte(i % 2 == 0 ? a[0] : b[0]);
    }
    close_both(a);
    close_both(b);
}

IO_TEST(poll_of_more_descriptors_than_it_has_places_for)
{
    struct polling p = {.n = 8, .timeout_ns = COIL_NEVER};
    int ends[7][2];
    coil_task *task;

    for (int i = 0; i < 7; i++) {
        make_pipe(ends[i]);
        p.fds[i] = (struct pollfd){.fd = ends[i][0], .events = POLLIN};
    }
    p.fds[7] = (struct pollfd){.fd = ends[5][0], .events = POLLPRI}; /* again */
    task = start(&p);
    write_byte(ends[5][1]);
    finish(task);
    CHECK_INT(p.rc, 1);
    CHECK_INT(p.fds[5].revents, POLLIN);
    for (int i = 0; i < 7; i++)
        close_both(ends[i]);
}

IO_TEST(poll_times_out)
{
    struct pollfd fd = {.events = POLLIN};
    int ends[2];
    int64_t began = coil_now();

    make_pipe(ends);
    fd.fd = ends[0];
    CHECK_INT(coil_poll(&fd, 1, COIL_MSEC(20)), 0);
    CHECK(coil_now() - began >= COIL_MSEC(20));
    fd.events = POLLIN | POLLPRI;
    CHECK_INT(coil_poll(&fd, 1, COIL_MSEC(20)), 0);
    CHECK(coil_now() - began >= COIL_MSEC(40));
    CHECK_INT(coil_poll(NULL, 0, COIL_MSEC(20)), 0);
    CHECK(coil_now() - began >= COIL_MSEC(60));
    close_both(ends);
}

TASK_TEST(poll_times_out_by_the_loops_clock)
{
    CHECK_INT(coil_poll(NULL, 0, COIL_SEC(3600)), 0);
    CHECK_INT(coil_now(), COIL_SEC(3600));
}

IO_TEST(poll_finds_files_always_ready)
{
    struct pollfd fd = {.events = POLLIN | POLLOUT};

    fd.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    CHECK_INT(coil_poll(&fd, 1, COIL_NEVER), 1);
    CHECK_INT(fd.revents, POLLIN | POLLOUT);
    close(fd.fd);
}

/* ---- several at one descriptor ----------------------------------------------------- */

IO_TEST(poll_by_several_tasks_of_one_descriptor)
{
    struct polling p[5];
    coil_task *tasks[5];
    int ends[2];

    make_pipe(ends);
    for (int i = 0; i < 5; i++) {
        p[i] = (struct polling){
            .fds = {{.fd = ends[0], .events = POLLIN}}, .n = 1, .timeout_ns = COIL_NEVER};
        tasks[i] = start(&p[i]);
    }
    coil_task_cancel(tasks[0], NULL);
    finish(tasks[0]);
    CHECK_INT(p[0].rc, -ECANCELED);
    settle();
    CHECK(!p[1].ended);
    write_byte(ends[1]);
    for (int i = 1; i < 5; i++) {
        finish(tasks[i]);
        CHECK_INT(p[i].rc, 1);
        CHECK_INT(p[i].fds[0].revents, POLLIN);
    }
    close_both(ends);
}

struct taker {
    int fd, taken;
};

static int take_byte(void *arg)
{
    struct taker *t = arg;
    struct pollfd fd = {.fd = t->fd, .events = POLLIN};
    char byte;

    do
        CHECK_INT(coil_poll(&fd, 1, COIL_NEVER), 1);
    while (read(t->fd, &byte, 1) < 0);
    t->taken++;
    return 0;
}

/*
 * A byte wakes all waiting tasks. One of them reads the byte, and the others must wait
 * again.
 */
IO_TEST(poll_again_where_another_task_was_faster)
{
    struct taker t = {0};
    coil_task *tasks[4];
    int ends[2];

    CHECK_INT(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    t.fd = ends[0];
    for (int i = 0; i < 4; i++)
        CHECK_INT(coil_spawn(take_byte, &t, NULL, &tasks[i]), 0);
    for (int i = 1; i <= 4; i++) {
        settle();
        CHECK_INT(t.taken, i - 1);
        write_byte(ends[1]);
        while (t.taken < i)
            coil_yield();
    }
    for (int i = 0; i < 4; i++)
        finish(tasks[i]);
    close_both(ends);
}

static void note(void *arg)
{
    *(bool *)arg = true;
}

/* Poll until a byte is written, and then read the byte. */
static void poll_for_a_byte(int fd, int writer)
{
    struct polling p = {
        .fds = {{.fd = fd, .events = POLLIN}}, .n = 1, .timeout_ns = COIL_NEVER};
    coil_task *task = start(&p);

    write_byte(writer);
    finish(task);
    CHECK_INT(p.rc, 1);
    CHECK_INT(p.fds[0].revents, POLLIN);
    read_byte(fd);
}

/*
 * dup2(2) makes a descriptor refer to another file. The loop is not notified of the
 * change, because the old file stays open.
 */
IO_TEST(poll_of_a_number_whose_file_was_replaced)
{
    int a[2], b[2], old;
    struct polling p;
    coil_task *task;

    make_pipe(a);
    make_pipe(b);
    poll_for_a_byte(a[0], a[1]);
    poll_for_a_byte(a[0], a[1]);
    old = fcntl(a[0], F_DUPFD_CLOEXEC, 0);
    CHECK(old >= 0);
    CHECK_INT(dup2(b[0], a[0]), a[0]);
    p = (struct polling){
        .fds = {{.fd = a[0], .events = POLLIN}}, .n = 1, .timeout_ns = COIL_NEVER};
    task = start(&p);
    write_byte(a[1]); /* writes to the old file */
    settle();
    CHECK(!p.ended);
    write_byte(b[1]);
    finish(task);
    CHECK_INT(p.rc, 1);
    read_byte(a[0]);
    read_byte(old);
    CHECK_INT(dup2(old, a[0]), a[0]);
    poll_for_a_byte(a[0], a[1]);
    close(old);
    close_both(a);
    close_both(b);
}

/*
 * Successive waits may be for different directions, so each wait must register its own
 * events.
 */
IO_TEST(poll_for_one_direction_after_the_other)
{
    struct polling in = {.n = 1, .timeout_ns = COIL_NEVER}, out = in, both = in;
    coil_task *reader, *writer;
    char buf[4096] = {0};
    int fds[2];

    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    for (int i = 0; i < 3; i++) {
        while (write(fds[0], buf, sizeof buf) > 0)
            ;
        in.fds[0] = (struct pollfd){.fd = fds[0], .events = POLLIN};
        out.fds[0] = (struct pollfd){.fd = fds[0], .events = POLLOUT};
        both.fds[0] = (struct pollfd){.fd = fds[0], .events = POLLIN | POLLOUT};
        in.ended = out.ended = both.ended = false;
        reader = start(&in);
        writer = start(&out);
        if (i == 1) { /* cancelling one leaves the other waiting */
            coil_task_cancel(reader, NULL);
            finish(reader);
            CHECK_INT(in.rc, -ECANCELED);
            in.ended = false;
            reader = start(&in);
        }
        while (read(fds[1], buf, sizeof buf) > 0)
            ;
        finish(writer);
        CHECK_INT(out.fds[0].revents, POLLOUT);
        settle();
        CHECK(!in.ended);
        write_byte(fds[1]);
        finish(reader);
        CHECK_INT(in.fds[0].revents, POLLIN);
        read_byte(fds[0]);
        while (write(fds[0], buf, sizeof buf) > 0)
            ;
        writer = start(&both);
        write_byte(fds[1]);
        finish(writer);
        CHECK_INT(both.fds[0].revents, POLLIN);
        read_byte(fds[0]);
        while (read(fds[1], buf, sizeof buf) > 0)
            ;
    }
    close_both(fds);
}

struct retry {
    int fd;
    short events;
    int64_t timeout_ns;
    int rc;
    bool ended;
};

static int do_retry(void *arg)
{
    struct retry *r = arg;

    r->rc = coil_poll_retry(r->fd, r->events, r->timeout_ns);
    r->ended = true;
    return 0;
}

static coil_task *start_retry(struct retry *r, int fd)
{
    coil_task *task;

    *r = (struct retry){.fd = fd, .events = POLLIN, .timeout_ns = COIL_NEVER};
    CHECK_INT(coil_spawn(do_retry, r, NULL, &task), 0);
    settle();
    CHECK(!r->ended);
    return task;
}

/* ---- the number of system calls ---------------------------------------------------- */

static const struct coil__fault_hooks *usual_hooks;
static int changes; /* number of calls of epoll_ctl(2) */
static int asked;   /* number of calls of poll(2) by coil_poll() */

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool count_calls(int error, const char *what)
{
    changes += begins_with(what, "epoll_ctl(");
    asked += begins_with(what, "poll(fds");
    return usual_hooks->call_fails(error, what);
}

/* Run the task on a new loop, and count the system calls. Returns the result. */
static int run_counted(coil_task_fn fn, const char *backend)
{
    struct coil__fault_hooks hooks;
    int rc;

    coil_testing_system_calls(); /* sets the hooks */
    usual_hooks = coil__fault_hooks;
    hooks = *usual_hooks;
    hooks.call_fails = count_calls;
    changes = asked = 0;
    coil__fault_hooks = &hooks;
    rc = coil_run(fn, NULL, &(coil_run_opts){.loop.backend = backend});
    coil__fault_hooks = usual_hooks;
    return rc;
}

/*
 * Wait for both directions of a socket in two tasks. One poll of the loop reports both.
 */
static int wait_for_both_events(void *unused)
{
    struct polling in = {.n = 1, .timeout_ns = COIL_NEVER}, out = in;
    coil_task *reader, *writer;
    char buf[4096] = {0};
    int fds[2];

    (void)unused;
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    for (int i = 0; i < 4; i++) {
        while (write(fds[0], buf, sizeof buf) > 0)
            ;
        in.fds[0] = (struct pollfd){.fd = fds[0], .events = POLLIN};
        out.fds[0] = (struct pollfd){.fd = fds[0], .events = POLLOUT};
        in.ended = out.ended = false;
        reader = start(&in);
        writer = start(&out);
        while (read(fds[1], buf, sizeof buf) > 0)
            ;
        write_byte(fds[1]);
        finish(writer);
        finish(reader);
        read_byte(fds[0]);
    }
    close_both(fds);
    return 0;
}

TEST(poll_for_both_directions_takes_a_call_for_each)
{
    CHECK_INT(run_counted(wait_for_both_events, "epoll"), 0);
    /* the first call registers the loop's own descriptor */
    CHECK_INT(changes, 1 + 4 * 2);
}

static void write_to(void *fd)
{
    write_byte((int)(intptr_t)fd);
}

/* Poll for a byte that a timer writes, so that the loop has only one descriptor. */
static void poll_alone(int reader, int writer)
{
    struct pollfd fd = {.fd = reader, .events = POLLIN};

    CHECK_INT(coil_call_later(COIL_MSEC(1), write_to, (void *)(intptr_t)writer, NULL), 0);
    CHECK_INT(coil_poll(&fd, 1, COIL_SEC(10)), 1);
    CHECK_INT(fd.revents, POLLIN);
    read_byte(reader);
}

static int wait_alone(void *unused)
{
    int ends[2];

    (void)unused;
    make_pipe(ends);
    for (int i = 0; i < 4; i++)
        poll_alone(ends[0], ends[1]);
    close_both(ends);
    return 0;
}

TEST(poll_after_a_wait_needs_no_call)
{
    static const char *const backends[] = {"epoll", "poll", "io_uring"};

    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        int rc = run_counted(wait_alone, backends[i]);

        if (rc == -ENOSYS)
            continue; /* no io_uring */
        CHECK_INT(rc, 0);
        CHECK_INT(asked, 4);
    }
}

IO_TEST(poll_retry_waits_for_a_byte_or_a_hang_up)
{
    coil_task *task, *other;
    struct retry r, s;
    int ends[2];

    make_pipe(ends);
    for (int i = 0; i < 3; i++) {
        task = start_retry(&r, ends[0]);
        other = start_retry(&s, ends[0]);
        write_byte(ends[1]);
        finish(task);
        finish(other);
        CHECK_INT(r.rc, 1);
        CHECK_INT(s.rc, 1);
        CHECK_INT(coil_poll_retry(ends[0], POLLIN, COIL_NEVER), 1); /* at once */
        CHECK_INT(coil_poll_retry(ends[0], POLLIN, 0), 1);
        read_byte(ends[0]);
    }
    CHECK_INT(coil_poll_retry(ends[1], POLLOUT, COIL_NEVER), 1);
    task = start_retry(&r, ends[0]);
    close(ends[1]);
    finish(task);
    CHECK_INT(r.rc, 1);
    close(ends[0]);
}

IO_TEST(poll_retry_ends_otherwise)
{
    int64_t began = coil_now();
    coil_task *task;
    struct retry r;
    int ends[2];

    make_pipe(ends);
    CHECK_INT(coil_poll_retry(ends[0], POLLIN, 0), 0);
    CHECK_INT(coil_poll_retry(ends[0], POLLIN, COIL_MSEC(20)), 0);
    CHECK(coil_now() - began >= COIL_MSEC(20));
    task = start_retry(&r, ends[0]);
    coil_task_cancel(task, NULL);
    finish(task);
    CHECK_INT(r.rc, -ECANCELED);
    task = start_retry(&r, ends[0]);
    CHECK_INT(coil_poll_end(ends[0]), 1);
    finish(task);
    CHECK_INT(r.rc, -EBADF);
    close_both(ends);
    CHECK_INT(coil_poll_retry(ends[0], POLLIN, COIL_NEVER), -EBADF);
    CHECK_INT(coil_poll_retry(ends[0], POLLIN, 0), -EBADF);
    CHECK_INT(coil_poll_retry(-1, POLLIN, COIL_NEVER), -EBADF);
}

IO_TEST(poll_retry_of_a_file_and_of_a_stream)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), peer;
    coil_stream *stream = make_stream_and_peer(&peer);
    coil_task *task;
    struct retry r;

    CHECK_INT(coil_poll_retry(file, POLLIN, COIL_NEVER), 1);
    close(file);
    task = start_retry(&r, coil_stream_fd(stream));
    write_byte(peer);
    finish(task);
    CHECK_INT(r.rc, 1);
    coil_stream_destroy(stream);
    close(peer);
}

/* A descriptor can be polled, get a reader, and be polled again. */
IO_TEST(poll_before_and_after_a_reader)
{
    bool called = false;
    int ends[2];

    make_pipe(ends);
    for (int i = 0; i < 2; i++) {
        poll_for_a_byte(ends[0], ends[1]);
        called = false;
        CHECK_INT(coil_add_reader(ends[0], note, &called), 0);
        settle();
        CHECK(!called);
        write_byte(ends[1]);
        while (!called)
            coil_yield();
        CHECK_INT(coil_remove_reader(ends[0]), 1);
        read_byte(ends[0]);
    }
    close_both(ends);
}

IO_TEST(poll_beside_a_stream_and_a_reader)
{
    struct polling p = {.n = 2, .timeout_ns = COIL_NEVER};
    bool called = false;
    coil_stream *stream;
    coil_task *task;
    int peer, ends[2];

    stream = make_stream_and_peer(&peer);
    make_pipe(ends);
    CHECK_INT(coil_add_reader(ends[0], note, &called), 0);
    p.fds[0] = (struct pollfd){.fd = coil_stream_fd(stream), .events = POLLIN};
    p.fds[1] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    task = start(&p);
    write_byte(peer);
    finish(task);
    CHECK_INT(p.rc, 1);
    CHECK_INT(p.fds[0].revents, POLLIN);
    CHECK(!called);
    CHECK_INT(coil_remove_reader(ends[0]), 1);
    close_both(ends);
    close(peer);
    coil_stream_destroy(stream);
}

/* ---- how it ends ------------------------------------------------------------------- */

IO_TEST(poll_of_urgent_data_alone)
{
    struct polling p = {.n = 1, .timeout_ns = COIL_NEVER};
    coil_task *task;
    int fds[2];

    make_tcp_pair(fds);
    p.fds[0] = (struct pollfd){.fd = fds[0], .events = POLLPRI};
    write_byte(fds[1]);
    task = start(&p);
    CHECK_INT(send(fds[1], "!", 1, MSG_OOB), 1);
    finish(task);
    CHECK_INT(p.fds[0].revents, POLLPRI);
    close_both(fds);
}

IO_TEST(poll_of_a_hang_up_alone)
{
    struct polling p = {.n = 1, .timeout_ns = COIL_NEVER};
    coil_task *task;
    int ends[2];

    make_pipe(ends);
    p.fds[0] = (struct pollfd){.fd = ends[0], .events = 0};
    task = start(&p);
    close(ends[1]);
    finish(task);
    CHECK_INT(p.fds[0].revents, POLLHUP);
    close(ends[0]);
}

/*
 * poll(2) ignores POLLERR, POLLHUP and POLLNVAL in `events`, which libpq sets. So coil
 * needs no epoll set for these events, and the lowest free descriptor stays the same.
 */
IO_TEST(poll_for_an_error_and_a_byte_needs_no_set)
{
    struct polling p = {.n = 1, .timeout_ns = COIL_NEVER};
    int ends[2], lowest, lowest_waiting;
    coil_task *task;

    make_pipe(ends);
    for (int i = 0; i < 2; i++) { /* the second time, the descriptor is registered */
        lowest = dup(ends[0]);
        close(lowest);
        p.ended = false;
        p.fds[0] = (struct pollfd){
            .fd = ends[0], .events = (short)(POLLIN | POLLERR | POLLHUP | POLLNVAL)};
        task = start(&p);
        lowest_waiting = dup(ends[0]);
        close(lowest_waiting);
        CHECK_INT(lowest_waiting, lowest);
        write_byte(ends[1]);
        CHECK_INT(test_join(task), 0);
        CHECK_INT(p.rc, 1);
        CHECK_INT(p.fds[0].revents, POLLIN);
        read_byte(ends[0]);
    }
    p.ended = false;
    task = start(&p);
    close(ends[1]);
    CHECK_INT(test_join(task), 0);
    CHECK_INT(p.fds[0].revents, POLLHUP);
    close(ends[0]);
}

IO_TEST(poll_cancelled_leaves_nothing_behind)
{
    int ends[2];

    make_pipe(ends);
    for (int i = 0; i < 2; i++) {
        struct polling p = {.fds = {{.fd = ends[0], .events = POLLIN},
                                    {.fd = ends[1], .events = i == 0 ? 0 : POLLPRI}},
                            .n = 2,
                            .timeout_ns = COIL_SEC(60)};
        coil_task *task = start(&p);

        coil_task_cancel(task, NULL);
        finish(task);
        CHECK_INT(p.rc, -ECANCELED);
    }
    close_both(ends);
}

IO_TEST(poll_ends_where_its_descriptor_is_to_be_closed)
{
    for (int i = 0; i < 2; i++) {
        struct polling p = {.n = 2, .timeout_ns = COIL_NEVER};
        coil_task *task;
        int ends[2];

        make_pipe(ends);
        p.fds[0] = (struct pollfd){.fd = ends[0], .events = i == 0 ? POLLIN : POLLPRI};
        p.fds[1] = (struct pollfd){.fd = -1};
        CHECK_INT(coil_poll_end(ends[0]), 0);
        task = start(&p);
        CHECK_INT(coil_poll_end(ends[0] + 64), 0);
        CHECK_INT(coil_poll_end(ends[0]), 1);
        close(ends[0]);
        finish(task);
        CHECK_INT(p.rc, -EBADF);
        close(ends[1]);
    }
}

IO_TEST(poll_end_in_a_forked_child_is_not_the_parents)
{
    struct polling p = {.n = 1, .timeout_ns = COIL_NEVER};
    coil_task *task;
    int ends[2], status;
    pid_t pid;

    if (test_under_valgrind())
        test_skip("valgrind reports the parent's objects in the child as leaked");
    make_pipe(ends);
    p.fds[0] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    task = start(&p);
    pid = fork();
    if (pid == 0)
        _exit(coil_poll_end(ends[0]));
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    write_byte(ends[1]);
    finish(task);
    CHECK_INT(p.rc, 1);
    close_both(ends);
}

IO_TEST(poll_says_what_it_waits_for)
{
    struct polling p = {.n = 1, .timeout_ns = COIL_NEVER};
    coil_task *task;
    coil_waiting w;
    int ends[2];

    make_pipe(ends);
    p.fds[0] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    task = start(&p);
    CHECK(coil_task_waiting(task, &w));
    CHECK_STR(w.what, "poll");
    CHECK_INT(w.fd, ends[0]);
    CHECK_INT(w.deadline, COIL_NEVER);
    write_byte(ends[1]);
    finish(task);
    close_both(ends);
}

/*
 * Make each system call of a wait fail once. The wait must return the error or time out
 * as usual, and must not leak anything.
 */
IO_TEST(poll_whose_system_calls_fail)
{
    int ends[2];
    bool failed = true;

    make_pipe(ends);
    for (int way = 0; way < 2; way++)
        for (uint64_t nth = 1; failed || nth == 1; nth++) {
            struct pollfd fd = {.fd = ends[0], .events = way == 0 ? POLLIN : POLLPRI};
            int rc;

            coil_testing_fail_system_call(nth, 0);
            rc = coil_poll(&fd, 1, COIL_MSEC(1));
            failed = coil_testing_failed() != NULL;
            coil_testing_fail_system_call(0, 0);
            CHECK(rc <= 0 && (rc < 0 || nth > 1));
            if (nth > 20)
                break; /* by now only polls of the loop fail, and their number varies */
        }
    close_both(ends);
}

IO_TEST(poll_without_descriptors_to_spare)
{
    struct pollfd fd = {.events = POLLPRI};
    int ends[2], limit;

    make_pipe(ends);
    fd.fd = ends[0];
    limit = limit_descriptors(0);
    CHECK_INT(coil_poll(&fd, 1, COIL_MSEC(1)), -EMFILE);
    restore_descriptors(limit);
    CHECK_INT(coil_poll(&fd, 1, COIL_MSEC(1)), 0);
    close_both(ends);
}

/* ---- a stream's own descriptor ----------------------------------------------------- */

/*
 * Make small reads that wait. After these reads, the io_uring backend receives data ahead
 * of reads.
 */
static void read_one_by_one(coil_stream *stream, int peer)
{
    for (int i = 0; i < 4; i++) {
        char byte;

        settle();
        CHECK_INT(write(peer, "x", 1), 1);
        CHECK_INT(coil_read(stream, &byte, 1), 1);
    }
}

IO_TEST(poll_of_a_stream_sees_what_was_received_ahead)
{
    struct polling p = {.n = 1, .timeout_ns = COIL_NEVER};
    coil_stream *stream;
    coil_task *task;
    char bytes[16];
    int peer;

    stream = make_stream_and_peer(&peer);
    read_one_by_one(stream, peer);
    CHECK_INT(write(peer, "abcdef", 6), 6);
    settle();
    p.fds[0] = (struct pollfd){.fd = coil_stream_fd(stream), .events = POLLIN | POLLOUT};
    CHECK_INT(coil_poll(p.fds, 1, COIL_NEVER), 1);
    CHECK_INT(p.fds[0].revents, POLLIN | POLLOUT);
    CHECK_INT(coil_read(stream, bytes, 2), 2);
    p.fds[0].events = POLLIN;
    CHECK_INT(coil_poll(p.fds, 1, 0), 1);
    CHECK_INT(p.fds[0].revents, POLLIN);
    CHECK_INT(coil_read(stream, bytes, sizeof bytes), 4);
    CHECK_INT(coil_poll(p.fds, 1, 0), 0);
    for (int i = 0; i < 3; i++) { /* io_uring still receives ahead */
        p.ended = false;
        task = start(&p);
        CHECK_INT(write(peer, "x", 1), 1);
        finish(task);
        CHECK_INT(p.rc, 1);
        CHECK_INT(coil_read(stream, bytes, 1), 1);
    }
    close(peer);
    CHECK_INT(coil_poll(p.fds, 1, COIL_NEVER), 1);
    CHECK(p.fds[0].revents & POLLIN);
    coil_stream_destroy(stream);
}

static int read_two(void *arg)
{
    char bytes[2];

    return (int)coil_read(arg, bytes, sizeof bytes);
}

/*
 * A task reads a part of the bytes while another task polls, which must still see the
 * rest.
 */
IO_TEST(poll_of_a_stream_that_is_being_read)
{
    struct polling p = {.n = 1, .timeout_ns = COIL_NEVER};
    coil_task *poller, *reader;
    coil_stream *stream;
    char bytes[16];
    int peer;

    stream = make_stream_and_peer(&peer);
    read_one_by_one(stream, peer);
    p.fds[0] = (struct pollfd){.fd = coil_stream_fd(stream), .events = POLLIN};
    CHECK_INT(coil_spawn(read_two, stream, NULL, &reader), 0);
    settle();
    poller = start(&p);
    CHECK_INT(write(peer, "abcdef", 6), 6);
    CHECK_INT(coil_task_await(reader), 2);
    coil_task_release(reader);
    finish(poller);
    CHECK_INT(p.rc, 1);
    CHECK_INT(coil_read(stream, bytes, sizeof bytes), 4);
    coil_stream_destroy(stream);
    close(peer);
}
