/*
 * descriptors.c - implements wake-ups with eventfd(2), alarms with timerfd_create(2), and
 * sets with epoll(7). Opens a descriptor's file again through its link in /proc.
 */
#include "../descriptors.h"

#include "../../base/base.h"
#include "../../base/fault.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* ---- wake-ups ---------------------------------------------------------------------- */

int coil__wake_fd_open(void)
{
    int fd = COIL__CALL(EMFILE, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));

    return fd < 0 ? -errno : fd;
}

/*
 * If the counter is full, write(2) fails with EAGAIN, but the descriptor is still
 * readable.
 */
int coil__wake_fd_post(int fd)
{
    uint64_t one = 1;
    ssize_t n;

    do
        n = COIL__INTERRUPTIBLE(write(fd, &one, sizeof one));
    while (n < 0 && errno == EINTR);
    return n < 0 && errno != EAGAIN ? -errno : 0;
}

int coil__wake_fd_drain(int fd)
{
    uint64_t count;

    return read(fd, &count, sizeof count) < 0 && errno != EAGAIN ? -errno : 0;
}

/* If /proc cannot be read, assume that an open descriptor is still the wake-up. */
bool coil__wake_fd_is_open(int fd)
{
    char path[32], name[32];
    ssize_t n;

    if (fcntl(fd, F_GETFD) < 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    n = readlink(path, name, sizeof name - 1);
    name[n > 0 ? n : 0] = '\0';
    return n <= 0 || strcmp(name, "anon_inode:[eventfd]") == 0;
}

/* ---- alarms ------------------------------------------------------------------------ */

int coil__alarm_fd_open(void)
{
    int fd =
        COIL__CALL(EMFILE, timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));

    return fd < 0 ? -errno : fd;
}

/* A time of 0 would disarm the timer. */
void coil__alarm_fd_set(int fd, int64_t delay_ns)
{
    struct itimerspec setting = {.it_value = {.tv_sec = delay_ns / COIL_SEC(1),
                                              .tv_nsec = delay_ns % COIL_SEC(1)}};

    timerfd_settime(fd, 0, &setting, NULL);
}

bool coil__alarm_fd_has_rung(int fd)
{
    uint64_t times;

    return read(fd, &times, sizeof times) == sizeof times;
}

/* ---- sets -------------------------------------------------------------------------- */

/* Add the descriptor at `at` to the set. poll(2) and epoll_ctl(2) use the same bits. A
 * descriptor that is listed twice gets the events of both entries. Files that are always
 * ready are omitted, because epoll refuses them. */
static int add_to_set(int set, const struct pollfd *fds, nfds_t at)
{
    struct epoll_event event = {.events = (unsigned short)fds[at].events};

    if (COIL__CALL(ENOSPC, epoll_ctl(set, EPOLL_CTL_ADD, fds[at].fd, &event)) == 0 ||
        errno == EPERM)
        return 0;
    if (errno != EEXIST)
        return -errno;
    for (nfds_t i = 0; i < at; i++)
        if (fds[i].fd == fds[at].fd)
            event.events |= (unsigned short)fds[i].events;
    return COIL__CALL(ENOMEM, epoll_ctl(set, EPOLL_CTL_MOD, fds[at].fd, &event)) < 0
               ? -errno
               : 0;
}

int coil__poll_set_open(const struct pollfd *fds, nfds_t n)
{
    int set = COIL__CALL(EMFILE, epoll_create1(EPOLL_CLOEXEC)), rc = 0;

    if (set < 0)
        return -errno;
    for (nfds_t i = 0; i < n && rc == 0; i++)
        if (fds[i].fd >= 0)
            rc = add_to_set(set, fds, i);
    if (rc == 0)
        return set;
    close(set);
    return rc;
}

/* ---- opening a file again ---------------------------------------------------------- */

/*
 * Return false for a terminal's master and other devices, because opening these again
 * would create another object.
 */
bool coil__fd_may_reopen(int fd)
{
    struct stat info;
    int number;

    if (fstat(fd, &info) < 0)
        return false;
    return S_ISFIFO(info.st_mode) ||
           (S_ISCHR(info.st_mode) && isatty(fd) && ioctl(fd, TIOCGPTN, &number) < 0);
}

int coil__fd_reopen(int fd, int flags)
{
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}
