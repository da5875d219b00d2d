/*
 * test_tasks.c - how C library calls work with cancellation, deadlines, descriptors that
 * are closed during a wait, and regions in which a task must not wait.
 */
#include "differential.h"

#include <coil/posix.h>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

TEST(calls_get_to_libcoil_posix)
{
    CHECK(coil_posix_active());
}

/* ---- cancelled --------------------------------------------------------------------- */

static int ends[2];
static char large[1000000];

static ssize_t call_read(void)
{
    return read(ends[0], large, 1);
}

static ssize_t call_readv(void)
{
    return readv(ends[0], &(struct iovec){large, 1}, 1);
}

static ssize_t call_recv(void)
{
    return recv(ends[0], large, 1, 0);
}

static ssize_t call_recvmsg(void)
{
    struct msghdr message = {.msg_iov = &(struct iovec){large, 1}, .msg_iovlen = 1};

    return recvmsg(ends[0], &message, 0);
}

static ssize_t call_poll(void)
{
    return poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, -1);
}

static ssize_t call_select(void)
{
    fd_set set;

    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    return select(ends[0] + 1, &set, NULL, NULL, NULL);
}

static ssize_t call_sleep(void)
{
    struct timespec left = {0, 0};
    int rc = nanosleep(&(struct timespec){.tv_sec = 1000}, &left);

    CHECK(left.tv_sec > 900);
    return rc;
}

static ssize_t call_wait(void)
{
    pid_t pid = fork();
    int rc;

    if (pid == 0) {
        pause();
        _exit(0);
    }
    rc = waitpid(pid, NULL, 0);
    kill(pid, SIGKILL);
    errno = ECANCELED;
    return rc;
}

static ssize_t (*const calls[])(void) = {call_read, call_readv,  call_recv,  call_recvmsg,
                                         call_poll, call_select, call_sleep, call_wait};

struct calling {
    ssize_t (*call)(void);
    ssize_t result;
    int error;
    bool ended;
};

static int do_call(void *arg)
{
    struct calling *c = arg;

    c->result = c->call();
    c->error = errno;
    c->ended = true;
    return 0;
}

static void cancel_and_finish(coil_task *task)
{
    coil_task_cancel(task, NULL);
    finish_task(task);
}

IO_TEST(cancelled_calls_fail)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        struct calling c = {.call = calls[i]};
        coil_task *task;

        make_unix(ends, SOCK_STREAM);
        task = start_task(do_call, &c);
        settle();
        CHECK(!c.ended);
        cancel_and_finish(task);
        CHECK_INT(c.result, -1);
        CHECK_INT(c.error, ECANCELED);
        close_both(ends);
    }
    while (waitpid(-1, NULL, 0) > 0)
        ;
}

/* ---- loops that do nothing but wait ------------------------------------------------ */

static bool done;
static int epoll_fd;

static int pause_by_usleep(void)
{
    return usleep(1000);
}

static int pause_by_nanosleep(void)
{
    return nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static int pause_by_clock_nanosleep(void)
{
    errno =
        clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = 1000000}, NULL);
    return errno == 0 ? 0 : -1;
}

static int pause_by_poll(void)
{
    return poll(NULL, 0, 1);
}

static int pause_by_ppoll(void)
{
    return ppoll(NULL, 0, &(struct timespec){.tv_nsec = 1000000}, NULL);
}

static int pause_by_select(void)
{
    return select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = 1000});
}

static int wait_by_epoll(void)
{
    struct epoll_event event;

    return epoll_wait(epoll_fd, &event, 1, 1);
}

static int wait_by_epoll_pwait(void)
{
    struct epoll_event event;
    sigset_t none;

    sigemptyset(&none);
    return epoll_pwait(epoll_fd, &event, 1, 1, &none);
}

static int wait_by_epoll_pwait2(void)
{
    struct epoll_event event;

    return epoll_pwait2(epoll_fd, &event, 1, &(struct timespec){.tv_nsec = 1000000},
                        NULL);
}

static const struct pausing {
    int (*pause)(void);
    int error;
} pauses[] = {{pause_by_usleep, ECANCELED},
              {pause_by_nanosleep, ECANCELED},
              {pause_by_clock_nanosleep, ECANCELED},
              {pause_by_poll, ECANCELED},
              {pause_by_ppoll, ECANCELED},
              {pause_by_select, ECANCELED},
              {wait_by_epoll, EINTR},
              {wait_by_epoll_pwait, EINTR},
              {wait_by_epoll_pwait2, EINTR}};

static int pause_until_done(void *arg)
{
    const struct pausing *p = arg;
    int64_t begun = coil_now();
    int refused = 0, waited = 0;

    while (!done)
        if (p->pause() == 0) {
            waited++;
        } else {
            CHECK_INT(errno, p->error);
            refused++;
        }
    CHECK(refused > 0 && refused <= 101);
    CHECK(waited > 0 && waited <= (coil_now() - begun) / COIL_MSEC(1));
    return coil_sleep(COIL_SEC(100)); /* coil's own calls return the cancellation */
}

/*
 * If a task ignores its cancellation and repeats a call forever, it must not spin, and
 * the program must not abort as it would with libuv.
 */
IO_TEST(cancelled_loop_of_pauses_waits_in_the_end)
{
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
        coil_task *task;

        done = false;
        task = start_task(pause_until_done, (void *)&pauses[i]);
        coil_yield();
        coil_task_cancel(task, NULL);
        coil_sleep(COIL_MSEC(30));
        done = true;
        CHECK_INT(coil_task_await(task), -ECANCELED);
        coil_task_release(task);
    }
    close(epoll_fd);
}

/* Let many scopes time out. Each timeout must reset the count of refused calls. */
static int time_out_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < 80; i++) {
        coil_scope scope;

        CHECK_INT(coil_scope_enter(&scope, coil_in(0)), 0);
        for (int n = 0; n < 3; n++)
            CHECK_INT(usleep(1000000000), -1);
        CHECK_INT(coil_scope_exit(&scope, -ECANCELED), -ETIMEDOUT);
    }
    return 0;
}

IO_TEST(time_outs_refuse_pauses_again_and_again)
{
    finish_task(start_task(time_out_often, NULL));
}

static ssize_t call_write(void)
{
    return write(ends[1], large, sizeof large);
}

static ssize_t call_recv_all(void)
{
    return recv(ends[0], large, 2, MSG_WAITALL);
}

/*
 * A cancelled call returns the number of bytes that it transferred. The next call reports
 * the cancellation.
 */
IO_TEST(cancelled_calls_tell_what_they_did)
{
    for (int i = 0; i < 3; i++) {
        struct calling c = {.call = i == 2 ? call_recv_all : call_write};
        coil_task *task;

        i == 0 ? make_pipe(ends) : make_unix(ends, SOCK_STREAM);
        if (i == 2)
            write_byte(ends[1]);
        task = start_task(do_call, &c);
        settle();
        CHECK(!c.ended);
        cancel_and_finish(task);
        CHECK(c.result > 0 && c.result < (ssize_t)sizeof large);
        close_both(ends);
    }
}

IO_TEST(deadlines_reach_into_calls)
{
    coil_scope scope;
    int rc;

    make_pipe(ends);
    coil_scope_enter(&scope, coil_in(COIL_MSEC(20)));
    CHECK_INT(call_read(), -1);
    rc = coil_scope_exit(&scope, -errno);
    CHECK_INT(rc, -ETIMEDOUT);
    write_byte(ends[1]);
    CHECK_INT(call_read(), 1);
    close_both(ends);
}

/* ---- closed ------------------------------------------------------------------------ */

IO_TEST(close_ends_the_calls_of_other_tasks)
{
    for (int i = 0; i < 6; i++) {
        struct calling c = {.call = calls[i]};
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        coil_task *task;

        make_unix(ends, SOCK_STREAM);
        task = start_task(do_call, &c);
        settle();
        CHECK(!c.ended);
        if (i % 2 == 0)
            close(ends[0]);
        else
            CHECK_INT(dup3(null, ends[0], O_CLOEXEC), ends[0]);
        finish_task(task);
        CHECK_INT(c.result, -1);
        CHECK_INT(c.error, EBADF);
        if (i % 2 != 0)
            close(ends[0]);
        close(ends[1]);
        close(null);
    }
}

/*
 * A dup2() that fails does not change the descriptor, so tasks must continue to wait for
 * it.
 */
IO_TEST(failing_dup_ends_no_call)
{
    struct calling c = {.call = call_read};
    coil_task *task;

    make_unix(ends, SOCK_STREAM);
    task = start_task(do_call, &c);
    settle();
    CHECK_INT(dup2(-1, ends[0]), -1);
    CHECK_INT(errno, EBADF);
    CHECK_INT(dup3(1000000, ends[0], O_CLOEXEC), -1);
    CHECK_INT(errno, EBADF);
    CHECK_INT(dup3(ends[1], ends[0], O_APPEND), -1);
    CHECK_INT(errno, EINVAL);
    settle();
    CHECK(!c.ended);
    write_byte(ends[1]);
    finish_task(task);
    CHECK_INT(c.result, 1);
    close_both(ends);
}

/* ---- regions without waits --------------------------------------------------------- */

static int note(void *ran)
{
    *(bool *)ran = true;
    return 0;
}

/* Read a byte. Returns true if another ready task ran meanwhile. */
static bool others_run_during_read(void)
{
    static bool ran;
    bool ran_during;

    ran = false;
    CHECK_INT(coil_spawn(note, &ran, NULL, NULL), 0);
    later(20, write_byte, ends[1]);
    CHECK_INT(call_read(), 1);
    ran_during = ran;
    finish_later();
    return ran_during;
}

/* In a region in which a task must not wait, a call blocks the thread. */
IO_TEST(calls_block_where_nothing_may_wait)
{
    coil_no_suspend region;

    make_pipe(ends);
    coil_no_suspend_enter(&region, "a test");
    CHECK(!others_run_during_read());
    coil_no_suspend_exit(&region);
    coil_yield();
    CHECK(others_run_during_read());
    coil_yield();
    close_both(ends);
}

static bool ran_in_handler;
static ssize_t read_in_handler;

static void read_on_signal(int signo)
{
    (void)signo;
    read_in_handler = call_read();
}

/*
 * A call in a signal handler, here on its own stack, must block the thread: no other task
 * may run meanwhile.
 */
IO_TEST(calls_block_in_a_signal_handler)
{
    static char room[65536];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    stack_t none = {.ss_flags = SS_DISABLE}, before;
    struct sigaction action = {.sa_handler = read_on_signal, .sa_flags = SA_ONSTACK};

    if (test_under_valgrind())
        test_skip("Valgrind takes the handler's stack for the task's");
    make_pipe(ends);
    CHECK_INT(sigaltstack(&stack, &before), 0);
    CHECK_INT(sigaction(SIGUSR1, &action, NULL), 0);
    ran_in_handler = false;
    CHECK_INT(coil_spawn(note, &ran_in_handler, NULL, NULL), 0);
    later(20, write_byte, ends[1]);
    pthread_kill(pthread_self(), SIGUSR1);
    CHECK_INT(read_in_handler, 1);
    CHECK(!ran_in_handler);
    finish_later();
    CHECK_INT(sigaltstack(before.ss_flags & SS_DISABLE ? &none : &before, NULL), 0);
    coil_yield();
    close_both(ends);
}

static void read_in_callback(void *arg)
{
    *(bool *)arg = others_run_during_read();
}

IO_TEST(calls_block_in_callbacks)
{
    bool ran = true;

    make_pipe(ends);
    CHECK_INT(coil_call_soon(read_in_callback, &ran, NULL), 0);
    coil_sleep(COIL_MSEC(1));
    CHECK(!ran);
    close_both(ends);
}

/* ---- fairness ---------------------------------------------------------------------- */

/* A task whose calls never need to wait must not starve other tasks. */
IO_TEST(calls_that_need_not_wait_let_others_run)
{
    bool ran = false;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int i = 0;

    CHECK_INT(coil_spawn(note, &ran, NULL, NULL), 0);
    while (!ran && i++ < 10000)
        CHECK_INT(write(null, "x", 1), 1);
    CHECK(ran);
    close(null);
}

static void count_report(const coil_exception *exception, void *count)
{
    (void)exception;
    ++*(int *)count;
}

static int yield_often(void *unused)
{
    char byte;

    (void)unused;
    CHECK_INT(read(ends[0], &byte, 1), 1);
    for (int i = 0; i < 2000; i++)
        CHECK_INT(sched_yield(), 0);
    return coil_sleep(COIL_MSEC(1));
}

/*
 * If a task has the option hold_cancel, calls that only yield do not return its
 * cancellation, and coil does not report that the task ignores it.
 */
IO_TEST(yields_hold_the_cancellation_back)
{
    coil_spawn_opts opts = {.hold_cancel = true};
    coil_task *task;
    int reports = 0;

    coil_set_exception_handler(count_report, &reports);
    make_pipe(ends);
    CHECK_INT(coil_spawn(yield_often, NULL, &opts, &task), 0);
    settle();
    coil_task_cancel(task, NULL);
    write_byte(ends[1]);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    CHECK_INT(reports, 0);
    coil_task_release(task);
    close_both(ends);
}

/*
 * Set errno, and wait. errno must be unchanged afterwards, although other tasks run
 * meanwhile.
 */
static int fail_and_wait(void *arg)
{
    int error = *(int *)arg;

    errno = error;
    usleep(1000);
    CHECK_INT(errno, error);
    CHECK_INT(read(error == EIO ? -1 : ends[1], large, 1), -1);
    CHECK_INT(errno, EBADF);
    return 0;
}

IO_TEST(calls_keep_errno_apart)
{
    int errors[2] = {EIO, ERANGE};
    coil_task *tasks[2];

    make_pipe(ends);
    for (int i = 0; i < 2; i++)
        tasks[i] = start_task(fail_and_wait, &errors[i]);
    for (int i = 0; i < 2; i++)
        finish_task(tasks[i]);
    close_both(ends);
}

/*
 * Echo bytes on a coil stream. libcoil's own calls on its descriptors are not interposed.
 */
static int echo(void *arg)
{
    coil_stream *stream = arg;
    ssize_t n;

    while ((n = coil_read(stream, large, sizeof large)) > 0)
        CHECK_INT(coil_write(stream, large, (size_t)n), n);
    coil_stream_destroy(stream);
    return 0;
}

IO_TEST(streams_beside_calls)
{
    coil_stream *stream;
    coil_task *task;
    char byte = 0;

    make_tcp(ends);
    CHECK_INT(coil_stream_adopt(ends[1], &stream), 0);
    task = start_task(echo, stream);
    for (int i = 0; i < 100; i++) {
        CHECK_INT(write(ends[0], "y", 1), 1);
        CHECK_INT(read(ends[0], &byte, 1), 1);
        CHECK_INT(byte, 'y');
    }
    close(ends[0]);
    finish_task(task);
    CHECK_INT(coil_connect("localhost", "no-such-service", &stream), -ENOENT);
}
