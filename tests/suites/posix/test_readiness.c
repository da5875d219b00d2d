/*
 * test_readiness.c - poll(), select() and epoll, which have the same results in a task
 * and outside tasks.
 */
#include "differential.h"

#include <signal.h>
#include <pthread.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <time.h>

static void record_fds(const struct pollfd *fds, int n)
{
    for (int i = 0; i < n; i++)
        record("revents %x", (unsigned)fds[i].revents);
}

SAME(poll_two, true)
{
    struct timespec span = {.tv_nsec = 30000000};
    struct pollfd fds[3];
    int a[2], b[2];

    make_pipe(a);
    make_unix(b, SOCK_STREAM);
    fds[0] = (struct pollfd){.fd = a[0], .events = POLLIN};
    fds[1] = (struct pollfd){.fd = b[0], .events = POLLIN | POLLPRI};
    fds[2] = (struct pollfd){.fd = -1, .events = POLLIN};
    RECORD(poll(fds, 3, 0));
    RECORD_AT_LEAST(30, poll(fds, 3, 30));
    RECORD_AT_LEAST(30, ppoll(fds, 3, &span, NULL));
    later(20, write_byte, a[1]);
    RECORD(poll(fds, 3, -1));
    record_fds(fds, 3);
    finish_later();
    fds[0].fd = -2;
    later(20, close_fd, b[1]);
    RECORD(ppoll(fds, 3, NULL, NULL));
    record_fds(fds, 3);
    finish_later();
    close_both(a);
    close(b[0]);
    RECORD(poll(fds + 1, 1, -1));
    record_fds(fds, 3);
    RECORD_AT_LEAST(20, poll(NULL, 0, 20));
}

SAME(poll_what_cannot_be, false)
{
    struct rlimit limit;
    struct timespec span = {.tv_nsec = -1};
    struct pollfd fd = {.fd = 0};

    getrlimit(RLIMIT_NOFILE, &limit);
    if (may_call_wrongly()) {
        RECORD(poll((struct pollfd *)1, 1, 10));
        RECORD(poll(&fd, limit.rlim_cur + 1, 10));
    }
    RECORD(ppoll(&fd, 0, &span, NULL));
    span.tv_nsec = 1000000000;
    RECORD(ppoll(&fd, 0, &span, NULL));
}

SAME(poll_urgent_data, true)
{
    struct pollfd fd = {.events = POLLPRI};
    int ends[2];

    make_tcp(ends);
    fd.fd = ends[0];
    write_byte(ends[1]);
    RECORD_AT_LEAST(20, poll(&fd, 1, 20));
    send(ends[1], "!", 1, MSG_OOB);
    RECORD(poll(&fd, 1, -1));
    record_fds(&fd, 1);
    close_both(ends);
}

/* ---- select ------------------------------------------------------------------------ */

static int select_on(int fd, int which, struct timeval *timeout)
{
    fd_set sets[3];
    int count;

    for (int i = 0; i < 3; i++)
        FD_ZERO(&sets[i]);
    FD_SET(fd, &sets[which]);
    count = select(fd + 1, &sets[0], &sets[1], &sets[2], timeout);
    if (count >= 0)
        record("%d%d%d", FD_ISSET(fd, &sets[0]) != 0, FD_ISSET(fd, &sets[1]) != 0,
               FD_ISSET(fd, &sets[2]) != 0);
    else
        record("%d", FD_ISSET(fd, &sets[which]) != 0);
    return count;
}

SAME(select_one, true)
{
    struct timeval span = {.tv_usec = 30000}, longer = {.tv_sec = 100};
    struct timeval wrong = {.tv_sec = -1}, none = {0, 0};
    int ends[2];

    make_tcp(ends);
    RECORD(select_on(ends[0], 0, &none));
    RECORD(select_on(ends[0], 1, NULL));
    RECORD_AT_LEAST(30, select_on(ends[0], 0, &span));
    record("%ld %ld", span.tv_sec, span.tv_usec);
    span.tv_usec = 30000;
    RECORD_AT_LEAST(30, select_on(ends[0], 2, &span));
    later(20, write_byte, ends[1]);
    RECORD(select_on(ends[0], 0, &longer));
    record("%s", longer.tv_sec < 100 ? "less is left" : "as much is left");
    finish_later();
    send(ends[1], "!", 1, MSG_OOB);
    RECORD(select_on(ends[0], 2, NULL));
    RECORD(select_on(ends[0], 0, &wrong));
    close_both(ends);
    RECORD(select_on(ends[0], 0, NULL));
    RECORD(select(-1, NULL, NULL, NULL, NULL));
    span.tv_usec = 20000;
    RECORD_AT_LEAST(20, select(0, NULL, NULL, NULL, &span));
}

/* Call select() with a set that is large enough for descriptors beyond FD_SETSIZE. */
static int select_high(int fd, struct timeval *timeout)
{
    fd_mask set[4096 / NFDBITS] = {0};
    int count;

    set[fd / NFDBITS] = (fd_mask)1 << fd % NFDBITS;
    count = select(fd + 1, (fd_set *)(void *)set, NULL, NULL, timeout);
    record("%d", (int)(set[fd / NFDBITS] >> fd % NFDBITS & 1));
    return count;
}

SAME(select_of_more_than_an_fd_set_has, true)
{
    struct timeval span = {.tv_usec = 20000};
    struct rlimit limit;
    int ends[2], high;

    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < 3000)
        return;
    limit.rlim_cur = 3000;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    make_pipe(ends);
    high = fcntl(ends[0], F_DUPFD, 2999);
    CHECK_INT(high, 2999);
    RECORD_AT_LEAST(20, select_high(high, &span));
    later(20, write_byte, ends[1]);
    RECORD(select_high(high, NULL));
    finish_later();
    close(high);
    RECORD(select_high(high, NULL));
    close_both(ends);
}

/*
 * select() reports a hang-up as readable. A select() that waits only for other events
 * must not return.
 */
SAME(select_past_a_hang_up, true)
{
    struct timeval span = {.tv_usec = 50000};
    int ends[2];

    make_unix(ends, SOCK_STREAM);
    later(10, close_fd, ends[1]);
    RECORD_AT_LEAST(50, select_on(ends[0], 2, &span));
    finish_later();
    RECORD(select_on(ends[0], 0, NULL));
    close(ends[0]);
}

SAME(select_many, true)
{
    struct timespec span = {.tv_sec = 100};
    fd_set set;
    int ends[100][2], found = 0;

    FD_ZERO(&set);
    for (int i = 0; i < 100; i++) {
        make_pipe(ends[i]);
        FD_SET(ends[i][0], &set);
    }
    later(20, write_byte, ends[77][1]);
    RECORD(pselect(ends[99][0] + 1, &set, NULL, NULL, &span, NULL));
    record("%ld", (long)span.tv_sec);
    finish_later();
    for (int i = 0; i < 100; i++)
        found += FD_ISSET(ends[i][0], &set) ? i : 0;
    record("%d", found);
    for (int i = 0; i < 100; i++)
        close_both(ends[i]);
}

/* ---- epoll ------------------------------------------------------------------------- */

SAME(epoll_two, true)
{
    struct timespec span = {.tv_nsec = 30000000};
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 7}, events[4];
    int set = epoll_create1(EPOLL_CLOEXEC), ends[2];

    make_pipe(ends);
    CHECK_INT(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event), 0);
    RECORD(epoll_wait(set, events, 4, 0));
    RECORD_AT_LEAST(30, epoll_wait(set, events, 4, 30));
    if (!test_under_valgrind()) /* Valgrind does not support this call */
        RECORD_AT_LEAST(30, epoll_pwait2(set, events, 4, &span, NULL));
    later(20, write_byte, ends[1]);
    RECORD(epoll_wait(set, events, 4, -1));
    record("%x %u", events[0].events, events[0].data.u32);
    RECORD(epoll_pwait(set, events, 1, -1, NULL));
    finish_later();
    RECORD(epoll_wait(set, events, 0, -1));
    RECORD(epoll_wait(ends[0], events, 1, -1));
    close_both(ends);
    close(set);
    RECORD(epoll_wait(set, events, 1, -1));
}

/* ---- several ----------------------------------------------------------------------- */

struct reading {
    int fd, taken;
};

static int read_one(void *arg)
{
    struct reading *r = arg;
    char byte;

    CHECK_INT(read(r->fd, &byte, 1), 1);
    r->taken++;
    return 0;
}

IO_TEST(read_by_several_tasks_from_one_pipe)
{
    struct reading r = {0};
    coil_task *tasks[8];
    int ends[2];

    make_pipe(ends);
    r.fd = ends[0];
    for (int i = 0; i < 8; i++)
        tasks[i] = start_task(read_one, &r);
    for (int i = 1; i <= 8; i++) {
        settle();
        CHECK_INT(r.taken, i - 1);
        write_byte(ends[1]);
        while (r.taken < i)
            coil_sleep(COIL_MSEC(1));
    }
    for (int i = 0; i < 8; i++)
        finish_task(tasks[i]);
    close_both(ends);
}

/* ---- with a mask ------------------------------------------------------------------- */

static _Atomic int handled;

static void count_signal(int signo)
{
    (void)signo;
    handled++;
}

static void send_signal(int thread)
{
    CHECK_INT(tgkill(getpid(), thread, SIGUSR1), 0);
}

/*
 * Make several calls that wait with a signal mask. Each wait is ended by a signal that is
 * unblocked only during the call.
 */
static void wait_for_signals_by_mask(int quiet, const sigset_t *none)
{
    struct epoll_event event = {.events = EPOLLIN};
    struct pollfd fd = {.fd = quiet, .events = POLLIN};
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    CHECK_INT(epoll_ctl(epoll, EPOLL_CTL_ADD, quiet, &event), 0);
    later(20, send_signal, gettid());
    RECORD(pselect(0, NULL, NULL, NULL, NULL, none));
    RECORD(handled);
    finish_later();
    later(20, send_signal, gettid());
    RECORD(ppoll(&fd, 1, NULL, none));
    RECORD(handled);
    finish_later();
    later(20, send_signal, gettid());
    RECORD(epoll_pwait(epoll, &event, 1, -1, none));
    RECORD(handled);
    finish_later();
    close(epoll);
}

/*
 * Programs that wait for a signal or a descriptor usually block the signal, and unblock
 * it only during calls such as pselect().
 */
SAME(wait_with_a_mask, true)
{
    struct sigaction action = {.sa_handler = count_signal}, before_action;
    sigset_t usr1, before, none;
    fd_set set;
    int p[2];

    make_pipe(p);
    handled = 0;
    sigemptyset(&none);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    CHECK_INT(sigaction(SIGUSR1, &action, &before_action), 0);
    CHECK_INT(pthread_sigmask(SIG_BLOCK, &usr1, &before), 0);
    wait_for_signals_by_mask(p[0], &none);
    send_signal(gettid()); /* pending but still blocked, so no wait ends */
    later(20, write_byte, p[1]);
    FD_ZERO(&set);
    FD_SET(p[0], &set);
    RECORD(pselect(p[0] + 1, &set, NULL, NULL, NULL, &usr1));
    RECORD(handled);
    RECORD(pselect(0, NULL, NULL, NULL, &(struct timespec){0, 0}, &none));
    RECORD(handled);
    RECORD(pselect(0, NULL, NULL, NULL, &(struct timespec){.tv_nsec = 1000}, &none));
    finish_later();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGUSR1, &before_action, NULL);
    close_both(p);
}
