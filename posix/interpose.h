/*
 * interpose.h - standing before the C library.
 *
 * The dynamic linker binds a call of read() to the first library that has one. That is
 * this one, linked before the C library or preloaded; and where it has nothing to do it
 * calls the next:
 *
 *     INTERPOSE ssize_t read(int fd, void *buf, size_t n)
 *     {
 *         if (!IN_TASK())
 *             return NEXT(read)(fd, buf, n);
 *         ...
 *
 * Each function stands in the list below, and in docs/manual/posix.md.
 */
#ifndef POSIX_INTERPOSE_H
#define POSIX_INTERPOSE_H

#include <coil/debug.h>

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What programs compiled with _FORTIFY_SOURCE call, which no header declares. */
ssize_t __read_chk(int fd, void *buf, size_t n, size_t size);
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t size, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict buf, size_t n, size_t size, int flags,
                       __SOCKADDR_ARG from, socklen_t *restrict from_bytes);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                const sigset_t *mask, size_t size);

/* clang-format off */
#define POSIX__FUNCTIONS(X)                                                              \
    /* plain.c */                                                                        \
    X(read) X(readv) X(__read_chk) X(write) X(writev) X(sendfile) X(sendfile64)          \
    X(close) X(dup2) X(dup3)                                                             \
    /* receive.c, send.c */                                                              \
    X(recv) X(recvfrom) X(recvmsg) X(recvmmsg) X(__recv_chk) X(__recvfrom_chk)           \
    X(send) X(sendto) X(sendmsg) X(sendmmsg)                                             \
    /* connecting.c */                                                                   \
    X(connect) X(accept) X(accept4)                                                      \
    /* polling.c, selecting.c */                                                         \
    X(poll) X(ppoll) X(__poll_chk) X(__ppoll_chk)                                        \
    X(epoll_wait) X(epoll_pwait) X(epoll_pwait2) X(select) X(pselect)                    \
    /* sleeping.c */                                                                     \
    X(nanosleep) X(clock_nanosleep) X(usleep) X(sleep) X(sched_yield)                    \
    /* lookup.c */                                                                       \
    X(getaddrinfo) X(getnameinfo) X(gethostbyname) X(gethostbyname2) X(gethostbyaddr)    \
    X(gethostbyname_r) X(gethostbyname2_r) X(gethostbyaddr_r)                            \
    /* children.c */                                                                     \
    X(wait) X(wait3) X(wait4) X(waitpid) X(waitid) X(system)                             \
    /* signals.c */                                                                      \
    X(sigwait) X(sigwaitinfo) X(sigtimedwait)                                            \
    /* locking.c */                                                                      \
    X(pthread_mutex_lock) X(pthread_mutex_trylock) X(pthread_mutex_timedlock)            \
    X(pthread_mutex_unlock) X(pthread_rwlock_rdlock) X(pthread_rwlock_wrlock)            \
    X(pthread_cond_wait) X(pthread_cond_timedwait) X(pthread_cond_clockwait)             \
    X(sem_wait) X(sem_timedwait) X(pthread_join)                                         \
    /* file_lock.c */                                                                    \
    X(flock) X(lockf) X(lockf64) X(fcntl) X(fcntl64)

#define POSIX__INDEX(name) POSIX__##name,
enum posix__function { POSIX__FUNCTIONS(POSIX__INDEX) POSIX__FUNCTION_COUNT };
#undef POSIX__INDEX
/* clang-format on */

#define INTERPOSE __attribute__((visibility("default")))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

/* The functions behind ours, once they are known. */
extern void *posix__next[POSIX__FUNCTION_COUNT];

/* Find one that is not known yet: something called it before our constructor ran. Stops
 * the program if the C library has it not. */
void *posix__find(enum posix__function function);

#define NEXT(name)                                                                       \
    ((__typeof__(&name))(LIKELY(posix__next[POSIX__##name] != NULL)                      \
                             ? posix__next[POSIX__##name]                                \
                             : posix__find(POSIX__##name)))

/*
 * Is the call that returns to `address` somebody's who knows nothing of coil? libcoil
 * makes system calls in tasks too, and none of them may wait.
 */
bool posix__from_outside(const void *address);

/*
 * Is this call to suspend a task, if it must wait? Outside of tasks that is a load and a
 * branch, in a function of libcoil's. To be said in the exported function itself.
 */
#define IN_TASK() (coil_may_suspend() && posix__from_outside(__builtin_return_address(0)))

#endif
