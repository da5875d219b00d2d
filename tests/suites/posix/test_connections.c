/*
 * test_connections.c - connecting and accepting, which have the same results in a task
 * and outside tasks.
 */
#include "differential.h"

#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/un.h>

static struct sockaddr_storage address;
static socklen_t address_bytes;

static const struct sockaddr *at(void)
{
    return (const struct sockaddr *)&address;
}

static int tcp(int flags)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
}

static void set_timeout(int fd, int option, int ms)
{
    struct timeval t = {.tv_usec = ms * 1000};

    CHECK_INT(setsockopt(fd, SOL_SOCKET, option, &t, sizeof t), 0);
}

/*
 * Record the options of the socket. A call may change the options temporarily, but must
 * restore them.
 */
static void record_state(int fd)
{
    struct timeval t[2];
    socklen_t bytes = sizeof t[0];

    getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t[0], &bytes);
    getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t[1], &bytes);
    record("%s, %ld.%06ld, %ld.%06ld",
           fcntl(fd, F_GETFL) & O_NONBLOCK ? "does not block" : "blocks", t[0].tv_sec,
           t[0].tv_usec, t[1].tv_sec, t[1].tv_usec);
}

SAME(connect_to_a_listener, false)
{
    int listener = listen_tcp(&address, &address_bytes, 5);
    int fd = tcp(0), other;

    set_timeout(fd, SO_SNDTIMEO, 700);
    RECORD(connect(fd, at(), address_bytes));
    record_state(fd);
    RECORD(connect(fd, at(), address_bytes));
    other = accept(listener, NULL, NULL);
    write_byte(other);
    RECORD(read(fd, &(char){0}, 1));
    close(other);
    close(fd);
    close(listener);
    fd = tcp(0);
    RECORD(connect(fd, at(), address_bytes)); /* the listener is closed */
    record_state(fd);
    RECORD(connect(fd, at(), 3));
    RECORD(connect(fd, NULL, address_bytes));
    close(fd);
    RECORD(connect(fd, at(), address_bytes));
    RECORD(connect(STDIN_FILENO, at(), address_bytes));
}

SAME(connect_without_blocking, false)
{
    int listener = listen_tcp(&address, &address_bytes, 5);
    int fd = tcp(SOCK_NONBLOCK);
    struct pollfd made = {.fd = fd, .events = POLLOUT};

    RECORD(connect(fd, at(), address_bytes));
    RECORD(poll(&made, 1, -1));
    RECORD(connect(fd, at(), address_bytes));
    record_state(fd);
    close(fd);
    close(listener);
}

SAME(connect_a_datagram_socket, false)
{
    int ends[2];

    for (int i = 0; i < 2; i++)
        ends[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    address = (struct sockaddr_storage){.ss_family = AF_INET};
    ((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address_bytes = sizeof(struct sockaddr_in);
    CHECK_INT(bind(ends[0], at(), address_bytes), 0);
    CHECK_INT(getsockname(ends[0], (struct sockaddr *)&address, &address_bytes), 0);
    RECORD(connect(ends[1], at(), address_bytes));
    RECORD(send(ends[1], "x", 1, 0));
    RECORD(recv(ends[0], &(char){0}, 1, 0));
    close_both(ends);
}

/*
 * Create a listener and fill its queue, so that further connection attempts stay pending.
 */
static int fill_queue(int fds[4])
{
    int listener = listen_tcp(&address, &address_bytes, 0);

    for (int i = 0; i < 4; i++) {
        fds[i] = tcp(SOCK_NONBLOCK);
        connect(fds[i], at(), address_bytes);
    }
    return listener;
}

static void close_all(const int *fds, int n)
{
    for (int i = 0; i < n; i++)
        close(fds[i]);
}

SAME(connect_until_the_time_out, true)
{
    int waiting[4], listener = fill_queue(waiting), fd = tcp(0);

    set_timeout(fd, SO_SNDTIMEO, 200);
    RECORD_TIME_OUT(200, connect(fd, at(), address_bytes));
    record_state(fd);
    close(fd);
    close_all(waiting, 4);
    close(listener);
}

static _Atomic bool enough;

/* Accept and close connections until `enough` is set. */
static void accept_all(int listener)
{
    struct pollfd more = {.fd = listener, .events = POLLIN};

    while (!enough)
        if (poll(&more, 1, 5) > 0)
            close(accept(listener, NULL, NULL));
}

SAME(connect_that_takes_a_while, true)
{
    int waiting[4], listener = fill_queue(waiting), fd = tcp(0);

    enough = false;
    later(30, accept_all, listener);
    RECORD_AT_LEAST(30, connect(fd, at(), address_bytes));
    enough = true;
    record_state(fd);
    finish_later();
    RECORD(connect(fd, at(), address_bytes));
    close(fd);
    close_all(waiting, 4);
    close(listener);
}

static void make_unix_address(void)
{
    static int number;
    struct sockaddr_un *un = (struct sockaddr_un *)&address;

    address = (struct sockaddr_storage){.ss_family = AF_UNIX};
    snprintf(un->sun_path + 1, sizeof un->sun_path - 1, "coil-posix-%d-%d", getpid(),
             number++);
    address_bytes = sizeof *un;
}

SAME(connect_to_a_local_listener_whose_queue_is_full, true)
{
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int first = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int second = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    make_unix_address();
    CHECK_INT(bind(listener, at(), address_bytes), 0);
    CHECK_INT(listen(listener, 0), 0);
    RECORD(connect(first, at(), address_bytes));
    set_timeout(second, SO_SNDTIMEO, 40);
    RECORD_TIME_OUT(40, connect(second, at(), address_bytes));
    set_timeout(second, SO_SNDTIMEO, 0);
    enough = false;
    later(30, accept_all, listener);
    RECORD_AT_LEAST(30, connect(second, at(), address_bytes));
    enough = true;
    record_state(second);
    finish_later();
    close(first);
    close(second);
    close(listener);
    first = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    RECORD(connect(first, at(), address_bytes));
    close(first);
}

/* Return the system call in which the thread is blocked, or -1. */
static long system_call_of(pid_t thread)
{
    char path[64], text[256] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)thread);
    file = fopen(path, "re");
    if (file == NULL || fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    if (file != NULL)
        fclose(file);
    return text[0] >= '0' && text[0] <= '9' ? atol(text) : -1;
}

/* Number of samples, out of 100, in which the thread was blocked in connect(2). */
static _Atomic int seen_connecting;

static void *watch(void *thread)
{
    for (int i = 0; i < 100; i++) {
        usleep(1000);
        seen_connecting += system_call_of((pid_t)(intptr_t)thread) == SYS_connect;
    }
    return NULL;
}

static int connect_in_vain(void *fd)
{
    CHECK_INT(connect((int)(intptr_t)fd, at(), address_bytes), -1);
    CHECK_INT(errno, ECANCELED);
    return 0;
}

/*
 * A task that connects to a full listener repeats its attempts without blocking the
 * thread. Only the first attempt may block the thread briefly.
 */
IO_TEST(connect_to_a_full_local_listener_leaves_the_thread_to_others)
{
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fds[9];
    coil_task *tasks[8];
    pthread_t watcher;

    if (access("/proc/self/syscall", R_OK) < 0)
        test_skip("the kernel does not tell what a thread waits in");
    make_unix_address();
    CHECK_INT(bind(listener, at(), address_bytes), 0);
    CHECK_INT(listen(listener, 0), 0);
    for (int i = 0; i < 9; i++)
        fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(connect(fds[8], at(), address_bytes), 0);
    for (int i = 0; i < 8; i++)
        tasks[i] = start_task(connect_in_vain, (void *)(intptr_t)fds[i]);
    coil_sleep(COIL_MSEC(1)); /* each task makes its first attempt */
    seen_connecting = 0;
    CHECK_INT(pthread_create(&watcher, NULL, watch, (void *)(intptr_t)gettid()), 0);
    CHECK_INT(pthread_join(watcher, NULL), 0);
    CHECK_INT(seen_connecting, 0);
    for (int i = 0; i < 8; i++) {
        coil_task_cancel(tasks[i], NULL);
        finish_task(tasks[i]);
    }
    close_all(fds, 9);
    close(listener);
}

/* ---- accepting --------------------------------------------------------------------- */

static void connect_and_close(int unused)
{
    int fd = tcp(0);

    (void)unused;
    CHECK_INT(connect(fd, at(), address_bytes), 0);
    close(fd);
}

static void record_accepted(int fd)
{
    record("%s, %s, %s", fd >= 0 ? "accepted" : "nothing",
           fcntl(fd, F_GETFL) & O_NONBLOCK ? "does not block" : "blocks",
           fcntl(fd, F_GETFD) & FD_CLOEXEC ? "closed on exec" : "kept");
    close(fd);
}

SAME(accept_a_connection, true)
{
    int listener = listen_tcp(&address, &address_bytes, 5);
    struct sockaddr_storage from;
    socklen_t bytes = sizeof from;

    later(20, connect_and_close, 0);
    record_accepted(accept(listener, (struct sockaddr *)&from, &bytes));
    record("%d %d", from.ss_family, (int)bytes);
    finish_later();
    later(20, connect_and_close, 0);
    record_accepted(accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
    record_state(listener);
    finish_later();
    set_timeout(listener, SO_RCVTIMEO, 30);
    RECORD_TIME_OUT(30, accept(listener, NULL, NULL));
    record_state(listener);
    CHECK_INT(fcntl(listener, F_SETFL, O_NONBLOCK), 0);
    RECORD(accept(listener, NULL, NULL));
    record_state(listener);
    close(listener);
    RECORD(accept(listener, NULL, NULL));
}

SAME(accept_where_nobody_can_connect, false)
{
    int fd = tcp(0), ends[2];

    RECORD(accept(fd, NULL, NULL));
    close(fd);
    make_unix(ends, SOCK_DGRAM);
    RECORD(accept(ends[0], NULL, NULL));
    close_both(ends);
    make_pipe(ends);
    RECORD(accept(ends[0], NULL, NULL));
    RECORD(accept4(ends[0], NULL, NULL, 12345));
    close_both(ends);
}

/* ---- tasks that share a listener --------------------------------------------------- */

struct serving {
    int listener, served;
};

static int serve_one(void *arg)
{
    struct serving *s = arg;
    int fd = accept(s->listener, NULL, NULL);

    CHECK(fd >= 0);
    s->served++;
    close(fd);
    return 0;
}

IO_TEST(accept_by_several_tasks)
{
    struct serving s = {.listener = listen_tcp(&address, &address_bytes, 5)};
    coil_task *tasks[5];

    for (int i = 0; i < 5; i++)
        tasks[i] = start_task(serve_one, &s);
    for (int i = 1; i <= 5; i++) {
        settle();
        CHECK_INT(s.served, i - 1);
        connect_and_close(0);
        while (s.served < i)
            coil_sleep(COIL_MSEC(1));
    }
    for (int i = 0; i < 5; i++)
        finish_task(tasks[i]);
    close(s.listener);
}

/*
 * A task that waits in accept() must not block the thread if another process accepts the
 * connection first.
 */
IO_TEST(accept_beside_another_process)
{
    struct serving s = {.listener = listen_tcp(&address, &address_bytes, 5)};
    coil_task *task = start_task(serve_one, &s);

    settle();
    for (int i = 0; i < 3; i++) {
        int fd = tcp(0);

        CHECK_INT(connect(fd, at(), address_bytes), 0);
        close(accept(s.listener, NULL, NULL)); /* the connection that this test opened */
        close(fd);
        settle();
        CHECK_INT(s.served, 0);
    }
    connect_and_close(0);
    finish_task(task);
    CHECK_INT(s.served, 1);
    close(s.listener);
}

/*
 * A connection inherits its listener's options, including a timeout that the program has
 * set, but not the short timeout that libcoil-posix sets while a task accepts.
 */
IO_TEST(accepted_connection_has_no_time_out_of_an_accept)
{
    int listener = listen_tcp(&address, &address_bytes, 5), fd = tcp(0), other;
    struct timeval shortest = {.tv_usec = 1}, t;
    socklen_t bytes = sizeof t;

    for (int ms = 0; ms <= 700; ms += 700) {
        setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &shortest, sizeof shortest);
        CHECK_INT(connect(fd, at(), address_bytes), 0);
        set_timeout(listener, SO_RCVTIMEO, ms);
        other = accept(listener, NULL, NULL);
        CHECK_INT(getsockopt(other, SOL_SOCKET, SO_RCVTIMEO, &t, &bytes), 0);
        CHECK_INT(t.tv_usec, ms * 1000);
        close(other);
        close(fd);
        fd = tcp(0);
    }
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &shortest, sizeof shortest);
    CHECK_INT(connect(fd, at(), address_bytes), 0);
    other = accept(listener, NULL, NULL);
    CHECK_INT(getsockopt(other, SOL_SOCKET, SO_RCVTIMEO, &t, &bytes), 0);
    CHECK(t.tv_usec > 0);
    close(other);
    close(fd);
    close(listener);
}

/* ---- during signals ---------------------------------------------------------------- */

static void handle(int signo)
{
    (void)signo;
}

/*
 * Send a signal to this thread every 0.3 ms, which is several times per tick of the
 * kernel.
 */
static timer_t start_signals(void)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    struct timespec often = {.tv_nsec = 300000};
    timer_t timer;

    event._sigev_un._tid = gettid();
    CHECK_INT(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_INT(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    CHECK_INT(timer_settime(timer, 0, &(struct itimerspec){often, often}, NULL), 0);
    return timer;
}

IO_TEST(connect_goes_on_after_a_signal)
{
    int waiting[4], listener = fill_queue(waiting), fd = tcp(0);
    timer_t timer = start_signals();

    enough = false;
    later(30, accept_all, listener);
    CHECK_INT(connect(fd, at(), address_bytes), 0);
    timer_delete(timer);
    enough = true;
    finish_later();
    close(fd);
    close_all(waiting, 4);
    close(listener);
}

IO_TEST(connect_to_a_local_listener_goes_on_after_a_signal)
{
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int first = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int second = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    timer_t timer;

    make_unix_address();
    CHECK_INT(bind(listener, at(), address_bytes), 0);
    CHECK_INT(listen(listener, 0), 0);
    CHECK_INT(connect(first, at(), address_bytes), 0);
    timer = start_signals();
    enough = false;
    later(30, accept_all, listener);
    CHECK_INT(connect(second, at(), address_bytes), 0);
    timer_delete(timer);
    enough = true;
    finish_later();
    close(first);
    close(second);
    close(listener);
}
