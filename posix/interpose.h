/*
 * interpose.h - symbol interposition: libcoil-posix defines functions of the C library.
 *
 * The dynamic linker binds a call of read() to the first library that exports a read().
 * libcoil-posix is that library, because it is linked before the C library or preloaded.
 * In a task its read() suspends the task instead of blocking the thread; everywhere else
 * it calls the next read() in the search order, the C library's:
 *
 *     INTERPOSE ssize_t read(int fd, void *buf, size_t n)
 *     {
 *         if (!IN_TASK())
 *             return NEXT(read)(fd, buf, n);
 *         ...
 *
 * POSIX__FUNCTIONS below lists every interposed function; docs/manual/posix.md describes
 * them.
 */
#ifndef POSIX_INTERPOSE_H
#define POSIX_INTERPOSE_H

#include <coil/debug.h>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <resolv.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* Programs compiled with _FORTIFY_SOURCE call these; no header declares them. */
ssize_t __read_chk(int fd, void *buf, size_t n, size_t size);
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t size, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict buf, size_t n, size_t size, int flags,
                       __SOCKADDR_ARG from, socklen_t *restrict from_bytes);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                const sigset_t *mask, size_t size);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
size_t __fread_chk(void *restrict to, size_t room, size_t size, size_t n,
                   FILE *restrict file);
size_t __fread_unlocked_chk(void *restrict to, size_t room, size_t size, size_t n,
                            FILE *restrict file);
char *__fgets_chk(char *restrict to, size_t room, int size, FILE *restrict file);
char *__fgets_unlocked_chk(char *restrict to, size_t room, int size, FILE *restrict file);
int __printf_chk(int flag, const char *restrict format, ...);
int __vprintf_chk(int flag, const char *restrict format, va_list args);
int __fprintf_chk(FILE *restrict file, int flag, const char *restrict format, ...);
int __vfprintf_chk(FILE *restrict file, int flag, const char *restrict format,
                   va_list args);
int __dprintf_chk(int fd, int flag, const char *restrict format, ...);
int __vdprintf_chk(int fd, int flag, const char *restrict format, va_list args);
int __vsnprintf_chk(char *restrict to, size_t n, int flag, size_t room,
                    const char *restrict format, va_list args);

/* The headers rename scanf() and its relatives to these, depending on the C standard that
 * the program is compiled for. getline(), getc_unlocked() and putc_unlocked() call the
 * last four when they are inlined into the caller. */
int __isoc99_fscanf(FILE *restrict file, const char *restrict format, ...);
int __isoc99_scanf(const char *restrict format, ...);
int __isoc99_vfscanf(FILE *restrict file, const char *restrict format, va_list args);
int __isoc99_vscanf(const char *restrict format, va_list args);
int __isoc23_fscanf(FILE *restrict file, const char *restrict format, ...);
int __isoc23_scanf(const char *restrict format, ...);
int __isoc23_vfscanf(FILE *restrict file, const char *restrict format, va_list args);
int __isoc23_vscanf(const char *restrict format, va_list args);
ssize_t __getdelim(char **restrict line, size_t *restrict room, int delimiter,
                   FILE *restrict file);
int __uflow(FILE *file);
int __underflow(FILE *file);
int __overflow(FILE *file, int c);

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
    X(pthread_mutex_clocklock) X(pthread_mutex_unlock) X(pthread_rwlock_rdlock)          \
    X(pthread_rwlock_wrlock) X(pthread_rwlock_timedrdlock) X(pthread_rwlock_timedwrlock) \
    X(pthread_rwlock_clockrdlock) X(pthread_rwlock_clockwrlock) X(pthread_rwlock_unlock) \
    /* conditions.c */                                                                   \
    X(pthread_cond_wait) X(pthread_cond_timedwait) X(pthread_cond_clockwait)             \
    X(pthread_cond_signal) X(pthread_cond_broadcast)                                     \
    /* semaphores.c */                                                                   \
    X(sem_wait) X(sem_timedwait) X(sem_clockwait) X(sem_post)                            \
    /* joining.c */                                                                      \
    X(pthread_join) X(pthread_timedjoin_np) X(pthread_clockjoin_np)                      \
    /* file_lock.c */                                                                    \
    X(flock) X(lockf) X(lockf64) X(fcntl) X(fcntl64)                                     \
    /* plain.c, splicing.c */                                                            \
    X(preadv2) X(preadv64v2) X(pwritev2) X(pwritev64v2) X(splice) X(tee) X(vmsplice)     \
    /* once.c, c11.c */                                                                  \
    X(pthread_once) X(call_once) X(mtx_lock) X(mtx_trylock) X(mtx_timedlock)             \
    X(mtx_unlock) X(cnd_wait) X(cnd_timedwait) X(cnd_signal) X(cnd_broadcast)            \
    X(thrd_join) X(thrd_sleep) X(thrd_yield)                                             \
    /* syncing.c */                                                                      \
    X(fsync) X(fdatasync) X(sync) X(syncfs) X(sync_file_range) X(msync)                  \
    /* opening.c */                                                                      \
    X(open) X(open64) X(openat) X(openat64) X(creat) X(creat64)                          \
    X(__open_2) X(__open64_2) X(__openat_2) X(__openat64_2)                              \
    /* messages.c */                                                                     \
    X(msgrcv) X(msgsnd) X(semop) X(semtimedop)                                           \
    /* resolving.c */                                                                    \
    X(res_query) X(res_nquery) X(res_search) X(res_nsearch) X(res_querydomain)           \
    X(res_nquerydomain) X(res_send) X(res_nsend)                                         \
    /* buffered.c, buffered_read.c */                                                    \
    X(flockfile) X(ftrylockfile) X(funlockfile)                                          \
    X(fgetc) X(getc) X(getchar) X(fgetc_unlocked) X(getc_unlocked) X(getchar_unlocked)   \
    X(__uflow) X(__underflow) X(fread) X(fread_unlocked) X(__fread_chk)                  \
    X(__fread_unlocked_chk) X(fgets) X(fgets_unlocked) X(__fgets_chk)                    \
    X(__fgets_unlocked_chk) X(getdelim) X(__getdelim) X(getline)                         \
    X(scanf) X(vscanf) X(fscanf) X(vfscanf)                                              \
    X(__isoc99_scanf) X(__isoc99_vscanf) X(__isoc99_fscanf) X(__isoc99_vfscanf)          \
    X(__isoc23_scanf) X(__isoc23_vscanf) X(__isoc23_fscanf) X(__isoc23_vfscanf)          \
    /* buffered_write.c */                                                               \
    X(fputc) X(putc) X(putchar) X(fputc_unlocked) X(putc_unlocked) X(putchar_unlocked)   \
    X(__overflow) X(fwrite) X(fwrite_unlocked) X(fputs) X(fputs_unlocked) X(puts)        \
    X(printf) X(vprintf) X(fprintf) X(vfprintf) X(dprintf) X(vdprintf)                   \
    X(__printf_chk) X(__vprintf_chk) X(__fprintf_chk) X(__vfprintf_chk)                  \
    X(__dprintf_chk) X(__vdprintf_chk) X(fflush) X(fflush_unlocked) X(fclose) X(pclose)

#define POSIX__INDEX(name) POSIX__##name,
enum posix__function { POSIX__FUNCTIONS(POSIX__INDEX) POSIX__FUNCTION_COUNT };
#undef POSIX__INDEX
/* clang-format on */

#define INTERPOSE __attribute__((visibility("default")))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

/* The C library's functions by index; NULL until they are looked up. */
extern void *posix__next[POSIX__FUNCTION_COUNT];

/* Look up a function that was called before our constructor ran. Stops the program if the
 * C library does not have it. */
void *posix__find(enum posix__function function);

#define NEXT(name)                                                                       \
    ((__typeof__(&name))(LIKELY(posix__next[POSIX__##name] != NULL)                      \
                             ? posix__next[POSIX__##name]                                \
                             : posix__find(POSIX__##name)))

/* coil_posix_reached() sets it and calls close(-1); our close() clears it. */
extern THREAD_LOCAL bool posix__asked;

/*
 * True if this call must suspend its task instead of blocking. Calls that libcoil itself
 * makes in a task may block. Outside of tasks the test costs a load and a branch, in a
 * function of libcoil. Use it in the exported function only: it reads the return address.
 */
#define IN_TASK()                                                                        \
    (coil_may_suspend() && posix__one_coil &&                                            \
     !coil_is_own_call(__builtin_return_address(0)))

/* False if some of the libcoil functions that we call lie in libcoil.so and others in the
 * program, which was linked with libcoil.a. */
extern bool posix__one_coil;

#endif
