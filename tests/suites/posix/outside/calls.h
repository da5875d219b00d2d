/*
 * calls.h - defines a call of every interposed function that may wait. Most of these
 * calls wait until another task ends them (tails.h). Calls that libcoil-posix makes on
 * another thread end by themselves.
 *
 * tests/suites/posix/outside.py compares the names with posix/functions.h.
 */
#ifndef COIL_TESTS_POSIX_OUTSIDE_CALLS_H
#define COIL_TESTS_POSIX_OUTSIDE_CALLS_H

#include <aio.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <resolv.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

#pragma GCC diagnostic ignored "-Wunused-result"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#ifdef __cplusplus
extern "C" {
#endif
/*
 * The C library's headers call these functions instead of the usual ones, depending on
 * _FORTIFY_SOURCE and similar macros.
 */
ssize_t __read_chk(int fd, void *buf, size_t n, size_t size);
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t size, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t size, int flags,
                       __SOCKADDR_ARG from, socklen_t *from_bytes);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                const sigset_t *mask, size_t size);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
size_t __fread_chk(void *to, size_t room, size_t size, size_t n, FILE *file);
size_t __fread_unlocked_chk(void *to, size_t room, size_t size, size_t n, FILE *file);
char *__fgets_chk(char *to, size_t room, int size, FILE *file);
char *__fgets_unlocked_chk(char *to, size_t room, int size, FILE *file);
int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *file, int flag, const char *format, ...);
int __dprintf_chk(int fd, int flag, const char *format, ...);
int __vprintf_chk(int flag, const char *format, va_list args);
int __vfprintf_chk(FILE *file, int flag, const char *format, va_list args);
int __vdprintf_chk(int fd, int flag, const char *format, va_list args);
int __isoc99_fscanf(FILE *file, const char *format, ...);
int __isoc99_scanf(const char *format, ...);
int __isoc99_vfscanf(FILE *file, const char *format, va_list args);
int __isoc99_vscanf(const char *format, va_list args);
int __isoc23_fscanf(FILE *file, const char *format, ...);
int __isoc23_scanf(const char *format, ...);
int __isoc23_vfscanf(FILE *file, const char *format, va_list args);
int __isoc23_vscanf(const char *format, va_list args);
ssize_t __getdelim(char **line, size_t *room, int delimiter, FILE *file);
int __uflow(FILE *file);
int __underflow(FILE *file);
int __overflow(FILE *file, int c);
int __xpg_sigpause(int signo);
int __sigpause(int signo_or_bits, int is_signo);
#ifdef __cplusplus
}
#endif

/* ---- what they are called on ------------------------------------------------------- */

/*
 * Sockets and pipes. Reading from quiet[0] or empty_pipe[0] waits forever, and so does
 * writing to full[1] or full_pipe[1].
 */
static int quiet[2], full[2], empty_pipe[2], full_pipe[2], other_pipe[2];
static int listener, epoll, file, memory, unconnected;
static struct sockaddr_un busy; /* address of a listener with a full backlog */
static socklen_t busy_bytes = sizeof busy;
static char fifo[40]; /* a path */
static FILE *stream, *sink, *kept, *taken;
static char byte, some[4096], *line;
static size_t line_room;
static struct pollfd polled;
static struct iovec part = {&byte, 1};
static struct msghdr message;
static struct mmsghdr messages;
static struct epoll_event event;
static const struct timespec long_time = {1000, 0}, far_away = {4000000000, 0};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t given = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore, may_end;
static pthread_t thread;
static unsigned word; /* a futex */
static sigset_t signals;
static int signo, queue, set;
static struct {
    long type;
    char text[8];
} letter = {1, ""};
static struct sembuf take = {0, -1, 0};
static struct flock lock_of_all;
static mqd_t no_mail, much_mail;
static struct aiocb64 reading; /* a read that never completes */
static const struct aiocb *const readings[] = {(const struct aiocb *)(void *)&reading};
static const struct aiocb64 *const readings64[] = {&reading};
static struct aiocb listed_reading; /* two more reads that never complete */
static struct aiocb64 listed_reading64;
static struct aiocb *const listed[] = {&listed_reading};
static struct aiocb64 *const listed64[] = {&listed_reading64};
static pthread_barrier_t barrier; /* for one thread */
static int no_event, full_event, terminal;
static eventfd_t events;
static struct termios settings;
static wordexp_t words;
static pid_t child;
static void *page;
static struct sockaddr_in loopback;
static struct hostent host, *found;
static struct addrinfo *addresses;
static int h_error;
static struct __res_state resolver;
static unsigned char reply[1200], request[512] = {0, 1, 1, 0, 0, 1};

static void never(void)
{
}

/* enough lookups that the last one does not finish immediately */
#define LOOK_UPS 500

static struct gaicb **create_look_ups(void)
{
    struct gaicb *requests = (struct gaicb *)calloc(LOOK_UPS, sizeof *requests);
    struct gaicb **list = (struct gaicb **)calloc(LOOK_UPS, sizeof *list);

    for (int i = 0; i < LOOK_UPS; i++) {
        requests[i].ar_name = "localhost";
        list[i] = &requests[i];
    }
    return list;
}

/* Start the lookups, and return a list with only the last lookup. */
static const struct gaicb *const *start_look_ups(void)
{
    static const struct gaicb *last;
    struct gaicb **list = create_look_ups();

    getaddrinfo_a(GAI_NOWAIT, list, LOOK_UPS, NULL);
    last = list[LOOK_UPS - 1];
    return &last;
}

/*
 * Define a function that calls `fn` with a va_list after its other arguments, such as a
 * FILE and a format.
 */
#define WITH_LIST(fn, ...)                                                               \
    static int list_##fn(const char *format, ...)                                        \
    {                                                                                    \
        va_list args;                                                                    \
        int rc;                                                                          \
                                                                                         \
        va_start(args, format);                                                          \
        rc = fn(__VA_ARGS__ format, args);                                               \
        va_end(args);                                                                    \
        return rc;                                                                       \
    }
#define COMMA ,
WITH_LIST(vscanf, )
WITH_LIST(vfscanf, stream COMMA)
WITH_LIST(__isoc99_vscanf, )
WITH_LIST(__isoc99_vfscanf, stream COMMA)
WITH_LIST(vprintf, )
WITH_LIST(vfprintf, sink COMMA)
WITH_LIST(vdprintf, full[1] COMMA)
WITH_LIST(__vprintf_chk, 1 COMMA)
WITH_LIST(__vfprintf_chk, sink COMMA 1 COMMA)
WITH_LIST(__vdprintf_chk, full[1] COMMA 1 COMMA)

/* ---- the calls --------------------------------------------------------------------- */

/* the C23 variants of scanf() and similar functions, if the C library has them */
#if __GLIBC_PREREQ(2, 38)
WITH_LIST(__isoc23_vscanf, )
WITH_LIST(__isoc23_vfscanf, stream COMMA)
#define CALLS_OF_C23(X)                                                                  \
    X(__isoc23_scanf, __isoc23_scanf("%c", &byte))                                       \
    X(__isoc23_fscanf, __isoc23_fscanf(stream, "%c", &byte))                             \
    X(__isoc23_vscanf, list___isoc23_vscanf("%c", &byte))                                \
    X(__isoc23_vfscanf, list___isoc23_vfscanf("%c", &byte))
#else
#define CALLS_OF_C23(X)
#endif

/*
 * Evaluate the call, and return 0. Used for calls that return void or a pointer, because
 * C++ does not convert these to int.
 */
#define THEN_0(call)                                                                     \
    __extension__({                                                                      \
        (void)(call);                                                                    \
        0;                                                                               \
    })

/* clang-format off */
/* Calls in which the task waits until another task does something. */
#define CALLS_THAT_SUSPEND(X)                                                            \
    X(read, read(quiet[0], &byte, 1))                                                    \
    X(__read_chk, __read_chk(quiet[0], &byte, 1, 1))                                     \
    X(readv, readv(quiet[0], &part, 1))                                                  \
    X(eventfd_read, eventfd_read(no_event, &events))                                     \
    X(eventfd_write, eventfd_write(full_event, 1))                                       \
    X(write, write(full[1], &byte, 1))                                                   \
    X(writev, writev(full[1], &part, 1))                                                 \
    X(recv, recv(quiet[0], &byte, 1, 0))                                                 \
    X(recvfrom, recvfrom(quiet[0], &byte, 1, 0, NULL, NULL))                             \
    X(recvmsg, recvmsg(quiet[0], &message, 0))                                           \
    X(recvmmsg, recvmmsg(quiet[0], &messages, 1, 0, NULL))                               \
    X(__recv_chk, __recv_chk(quiet[0], &byte, 1, 1, 0))                                  \
    X(__recvfrom_chk, __recvfrom_chk(quiet[0], &byte, 1, 1, 0, NULL, NULL))              \
    X(send, send(full[1], &byte, 1, 0))                                                  \
    X(sendto, sendto(full[1], &byte, 1, 0, NULL, 0))                                     \
    X(sendmsg, sendmsg(full[1], &message, 0))                                            \
    X(sendmmsg, sendmmsg(full[1], &messages, 1, 0))                                      \
    X(sendfile, sendfile(full[1], memory, NULL, 1))                                      \
    X(sendfile64, sendfile64(full[1], memory, NULL, 1))                                  \
    X(connect, connect(unconnected, (struct sockaddr *)&busy, busy_bytes))               \
    X(accept, accept(listener, NULL, NULL))                                              \
    X(accept4, accept4(listener, NULL, NULL, SOCK_CLOEXEC))                              \
    X(preadv2, preadv2(quiet[0], &part, 1, -1, 0))                                       \
    X(preadv64v2, preadv64v2(quiet[0], &part, 1, -1, 0))                                 \
    X(pwritev2, pwritev2(full[1], &part, 1, -1, 0))                                      \
    X(pwritev64v2, pwritev64v2(full[1], &part, 1, -1, 0))                                \
    X(splice, splice(empty_pipe[0], NULL, other_pipe[1], NULL, 1, 0))                    \
    X(tee, tee(empty_pipe[0], other_pipe[1], 1, 0))                                      \
    X(vmsplice, vmsplice(full_pipe[1], &part, 1, 0))                                     \
    X(fread, fread(some, 1, 1, stream))                                                  \
    X(fread_unlocked, fread_unlocked(some, 1, 1, stream))                                \
    X(__fread_chk, __fread_chk(some, sizeof some, 1, 1, stream))                         \
    X(__fread_unlocked_chk, __fread_unlocked_chk(some, sizeof some, 1, 1, stream))       \
    X(fgets, THEN_0(fgets(some, 9, stream)))                                             \
    X(fgets_unlocked, THEN_0(fgets_unlocked(some, 9, stream)))                           \
    X(__fgets_chk, THEN_0(__fgets_chk(some, sizeof some, 9, stream)))                    \
    X(__fgets_unlocked_chk, THEN_0(__fgets_unlocked_chk(some, sizeof some, 9, stream)))  \
    X(fgetc, fgetc(stream))                                                              \
    X(getc, getc(stream))                                                                \
    X(getchar, getchar())                                                                \
    X(fgetc_unlocked, fgetc_unlocked(stream))                                            \
    X(getc_unlocked, (getc_unlocked)(stream))                                            \
    X(getchar_unlocked, (getchar_unlocked)())                                            \
    X(__uflow, __uflow(stream))                                                          \
    X(__underflow, __underflow(stream))                                                  \
    X(getline, getline(&line, &line_room, stream))                                       \
    X(getdelim, getdelim(&line, &line_room, ';', stream))                                \
    X(__getdelim, __getdelim(&line, &line_room, ';', stream))                            \
    X(scanf, scanf("%c", &byte))                                                         \
    X(fscanf, fscanf(stream, "%c", &byte))                                               \
    X(vscanf, list_vscanf("%c", &byte))                                                  \
    X(vfscanf, list_vfscanf("%c", &byte))                                                \
    X(__isoc99_scanf, __isoc99_scanf("%c", &byte))                                       \
    X(__isoc99_fscanf, __isoc99_fscanf(stream, "%c", &byte))                             \
    X(__isoc99_vscanf, list___isoc99_vscanf("%c", &byte))                                \
    X(__isoc99_vfscanf, list___isoc99_vfscanf("%c", &byte))                              \
    X(fwrite, fwrite(some, 1, 1, sink))                                                  \
    X(fwrite_unlocked, fwrite_unlocked(some, 1, 1, sink))                                \
    X(fputs, fputs("x", sink))                                                           \
    X(fputs_unlocked, fputs_unlocked("x", sink))                                         \
    X(puts, puts("x"))                                                                   \
    X(fputc, fputc('x', sink))                                                           \
    X(putc, putc('x', sink))                                                             \
    X(putchar, putchar('x'))                                                             \
    X(fputc_unlocked, fputc_unlocked('x', sink))                                         \
    X(putc_unlocked, (putc_unlocked)('x', sink))                                         \
    X(putchar_unlocked, (putchar_unlocked)('x'))                                         \
    X(__overflow, __overflow(sink, 'x'))                                                 \
    X(printf, printf("%d", 1))                                                           \
    X(fprintf, fprintf(sink, "%d", 1))                                                   \
    X(vprintf, list_vprintf("%d", 1))                                                    \
    X(vfprintf, list_vfprintf("%d", 1))                                                  \
    X(dprintf, dprintf(full[1], "%d", 1))                                                \
    X(vdprintf, list_vdprintf("%d", 1))                                                  \
    X(__printf_chk, __printf_chk(1, "%d", 1))                                            \
    X(__fprintf_chk, __fprintf_chk(sink, 1, "%d", 1))                                    \
    X(__vprintf_chk, list___vprintf_chk("%d", 1))                                        \
    X(__vfprintf_chk, list___vfprintf_chk("%d", 1))                                      \
    X(__dprintf_chk, __dprintf_chk(full[1], 1, "%d", 1))                                 \
    X(__vdprintf_chk, list___vdprintf_chk("%d", 1))                                      \
    X(fflush, fflush(kept))                                                              \
    X(fflush_unlocked, fflush_unlocked(kept))                                            \
    X(fclose, fclose(kept))                                                              \
    X(flockfile, THEN_0(flockfile(taken)))                                               \
    X(poll, poll(&polled, 1, -1))                                                        \
    X(ppoll, ppoll(&polled, 1, NULL, NULL))                                              \
    X(__poll_chk, __poll_chk(&polled, 1, -1, sizeof polled))                             \
    X(__ppoll_chk, __ppoll_chk(&polled, 1, NULL, NULL, sizeof polled))                   \
    X(select, select(0, NULL, NULL, NULL, NULL))                                         \
    X(pselect, pselect(0, NULL, NULL, NULL, NULL, NULL))                                 \
    X(epoll_wait, epoll_wait(epoll, &event, 1, -1))                                      \
    X(epoll_pwait, epoll_pwait(epoll, &event, 1, -1, NULL))                              \
    X(epoll_pwait2, epoll_pwait2(epoll, &event, 1, NULL, NULL))                          \
    X(nanosleep, nanosleep(&long_time, NULL))                                            \
    X(clock_nanosleep, clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL))            \
    X(usleep, usleep(4000000000u))                                                       \
    X(sleep, sleep(1000))                                                                \
    X(mq_receive, mq_receive(no_mail, some, sizeof some, NULL))                          \
    X(mq_timedreceive, mq_timedreceive(no_mail, some, sizeof some, NULL, &far_away))     \
    X(mq_send, mq_send(much_mail, some, 1, 0))                                           \
    X(mq_timedsend, mq_timedsend(much_mail, some, 1, 0, &far_away))                      \
    X(sched_yield, sched_yield())                                                        \
    X(wait, wait(NULL))                                                                  \
    X(wait3, wait3(NULL, 0, NULL))                                                       \
    X(wait4, wait4(child, NULL, 0, NULL))                                                \
    X(waitpid, waitpid(child, NULL, 0))                                                  \
    X(waitid, waitid(P_PID, (id_t)child, NULL, WEXITED))                                 \
    X(sigwait, sigwait(&signals, &signo))                                                \
    X(sigwaitinfo, sigwaitinfo(&signals, NULL))                                          \
    X(sigtimedwait, sigtimedwait(&signals, NULL, &long_time))                            \
    X(pause, pause())                                                                    \
    X(sigsuspend, sigsuspend(&signals))                                                  \
    X(__xpg_sigpause, __xpg_sigpause(SIGUSR1))                                           \
    X(__sigpause, __sigpause(SIGUSR1, 1))                                                \
    X(pthread_mutex_lock, pthread_mutex_lock(&mutex))                                    \
    X(pthread_mutex_timedlock, pthread_mutex_timedlock(&mutex, &far_away))               \
    X(pthread_mutex_clocklock,                                                           \
      pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &far_away))                       \
    X(pthread_rwlock_rdlock, pthread_rwlock_rdlock(&rwlock))                             \
    X(pthread_rwlock_wrlock, pthread_rwlock_wrlock(&rwlock))                             \
    X(pthread_rwlock_timedrdlock, pthread_rwlock_timedrdlock(&rwlock, &far_away))        \
    X(pthread_rwlock_timedwrlock, pthread_rwlock_timedwrlock(&rwlock, &far_away))        \
    X(pthread_rwlock_clockrdlock,                                                        \
      pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &far_away))                   \
    X(pthread_rwlock_clockwrlock,                                                        \
      pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &far_away))                   \
    X(pthread_cond_wait, pthread_cond_wait(&cond, &given))                               \
    X(pthread_cond_timedwait, pthread_cond_timedwait(&cond, &given, &far_away))          \
    X(pthread_cond_clockwait,                                                            \
      pthread_cond_clockwait(&cond, &given, CLOCK_MONOTONIC, &far_away))                 \
    X(syscall, syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0))                  \
    X(sem_wait, sem_wait(&semaphore))                                                    \
    X(sem_timedwait, sem_timedwait(&semaphore, &far_away))                               \
    X(sem_clockwait, sem_clockwait(&semaphore, CLOCK_MONOTONIC, &far_away))              \
    X(pthread_once, pthread_once(&once, never))                                          \
    X(call_once, THEN_0(call_once((once_flag *)&once, never)))                           \
    X(mtx_lock, mtx_lock((mtx_t *)&mutex))                                               \
    X(mtx_timedlock, mtx_timedlock((mtx_t *)&mutex, &far_away))                          \
    X(cnd_wait, cnd_wait((cnd_t *)&cond, (mtx_t *)&given))                               \
    X(cnd_timedwait, cnd_timedwait((cnd_t *)&cond, (mtx_t *)&given, &far_away))          \
    X(thrd_sleep, thrd_sleep(&long_time, NULL))                                          \
    X(thrd_yield, THEN_0(thrd_yield()))

/* Calls that libcoil-posix makes on another thread. */
#define CALLS_ON_LANES(X)                                                                \
    X(fsync, fsync(memory))                                                              \
    X(fdatasync, fdatasync(memory))                                                      \
    X(syncfs, syncfs(memory))                                                            \
    X(sync_file_range, sync_file_range(memory, 0, 0, 0))                                 \
    X(msync, msync(page, 1, MS_SYNC))                                                    \
    X(getaddrinfo, getaddrinfo("localhost", "80", NULL, &addresses))                     \
    X(getnameinfo, getnameinfo((struct sockaddr *)&loopback, sizeof loopback, some,      \
                               sizeof some, NULL, 0, 0))                                 \
    X(gethostbyname, THEN_0(gethostbyname("localhost")))                                 \
    X(gethostbyname2, THEN_0(gethostbyname2("localhost", AF_INET)))                      \
    X(gethostbyaddr, THEN_0(gethostbyaddr(&loopback.sin_addr, 4, AF_INET)))              \
    X(gethostbyname_r,                                                                   \
      gethostbyname_r("localhost", &host, some, sizeof some, &found, &h_error))          \
    X(gethostbyname2_r, gethostbyname2_r("localhost", AF_INET, &host, some, sizeof some, \
                                         &found, &h_error))                              \
    X(gethostbyaddr_r, gethostbyaddr_r(&loopback.sin_addr, 4, AF_INET, &host, some,      \
                                       sizeof some, &found, &h_error))                   \
    X(res_query, res_query("coil.invalid", 1, 1, reply, sizeof reply))                   \
    X(res_search, res_search("coil.invalid", 1, 1, reply, sizeof reply))                 \
    X(res_querydomain, res_querydomain("coil", "invalid", 1, 1, reply, sizeof reply))    \
    X(res_send, res_send(request, 30, reply, sizeof reply))                              \
    X(res_nquery, res_nquery(&resolver, "coil.invalid", 1, 1, reply, sizeof reply))      \
    X(res_nsearch, res_nsearch(&resolver, "coil.invalid", 1, 1, reply, sizeof reply))    \
    X(res_nquerydomain,                                                                  \
      res_nquerydomain(&resolver, "coil", "invalid", 1, 1, reply, sizeof reply))         \
    X(res_nsend, res_nsend(&resolver, request, 30, reply, sizeof reply))                 \
    X(pthread_join, pthread_join(thread, NULL))                                          \
    X(pthread_timedjoin_np, pthread_timedjoin_np(thread, NULL, &far_away))               \
    X(pthread_clockjoin_np,                                                              \
      pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &far_away))                    \
    X(thrd_join, thrd_join((thrd_t)thread, NULL))                                        \
    X(system, system("exit 0"))                                                          \
    X(pclose, pclose(popen("exit 0", "r")))                                              \
    X(wordexp, wordexp("$(exit 0)", &words, 0))                                          \
    X(pthread_barrier_wait, pthread_barrier_wait(&barrier))                              \
    X(tcdrain, tcdrain(terminal))                                                        \
    X(tcsendbreak, tcsendbreak(terminal, 0))                                             \
    X(tcsetattr, tcsetattr(terminal, TCSADRAIN, &settings))

/* A call that is made only once: sync() affects the whole machine. */
#define CALLS_FOR_ONCE(X) X(sync, THEN_0(sync()))

/* Calls that libcoil-posix repeats at intervals. */
#define CALLS_AT_INTERVALS(X)                                                            \
    X(open, open(fifo, O_RDONLY))                                                        \
    X(open64, open64(fifo, O_WRONLY))                                                    \
    X(openat, openat(AT_FDCWD, fifo, O_RDONLY))                                          \
    X(openat64, openat64(AT_FDCWD, fifo, O_WRONLY))                                      \
    X(creat, creat(fifo, 0600))                                                          \
    X(creat64, creat64(fifo, 0600))                                                      \
    X(__open_2, __open_2(fifo, O_RDONLY))                                                \
    X(__open64_2, __open64_2(fifo, O_RDONLY))                                            \
    X(__openat_2, __openat_2(AT_FDCWD, fifo, O_RDONLY))                                  \
    X(__openat64_2, __openat64_2(AT_FDCWD, fifo, O_RDONLY))                              \
    X(fopen, THEN_0(fopen(fifo, "r")))                                                   \
    X(fopen64, THEN_0(fopen64(fifo, "w")))                                               \
    X(msgrcv, msgrcv(queue, &letter, sizeof letter.text, 0, 0))                          \
    X(msgsnd, msgsnd(queue, &letter, sizeof letter.text, 0))                             \
    X(semop, semop(set, &take, 1))                                                       \
    X(semtimedop, semtimedop(set, &take, 1, &long_time))                                 \
    X(aio_suspend, aio_suspend(readings, 1, NULL))                                       \
    X(aio_suspend64, aio_suspend64(readings64, 1, NULL))                                 \
    X(lio_listio, lio_listio(LIO_WAIT, listed, 1, NULL))                                 \
    X(lio_listio64, lio_listio64(LIO_WAIT, listed64, 1, NULL))                           \
    X(gai_suspend, gai_suspend(start_look_ups(), 1, NULL))                               \
    X(getaddrinfo_a, getaddrinfo_a(GAI_WAIT, create_look_ups(), LOOK_UPS, NULL))         \
    X(flock, flock(file, LOCK_EX))                                                       \
    X(lockf, lockf(file, F_LOCK, 0))                                                     \
    X(lockf64, lockf64(file, F_LOCK, 0))                                                 \
    X(fcntl, fcntl(file, F_SETLKW, &lock_of_all))                                        \
    X(fcntl64, fcntl64(file, F_SETLKW, &lock_of_all))
/* clang-format on */

#define CALLS(X)                                                                         \
    CALLS_THAT_SUSPEND(X) CALLS_OF_C23(X) CALLS_ON_LANES(X) CALLS_AT_INTERVALS(X)

/* ---- preparing it all -------------------------------------------------------------- */

static void fill(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, some, sizeof some) > 0 || write(fd, &byte, 1) > 0)
        continue;
    fcntl(fd, F_SETFL, flags);
}

static void *end_when_posted(void *unused)
{
    sem_wait(&may_end);
    return unused;
}

static int prepare_sockets(void)
{
    struct sockaddr_in any;

    memset(&any, 0, sizeof any);
    any.sin_family = AF_INET;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, quiet) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, full) < 0 || pipe(empty_pipe) < 0 ||
        pipe(full_pipe) < 0 || pipe(other_pipe) < 0)
        return -1;
    fill(full[1]);
    fill(full_pipe[1]);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    messages.msg_hdr = message;
    polled.fd = quiet[0];
    polled.events = POLLIN;
    epoll = epoll_create1(EPOLL_CLOEXEC);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    loopback.sin_family = AF_INET;
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return bind(listener, (struct sockaddr *)&any, sizeof any) < 0 ? -1
                                                                   : listen(listener, 1);
}

/*
 * Fill the queue of a listener, which holds one connection because its backlog is 0. A
 * second connection has to wait.
 */
static int prepare_busy(void)
{
    int busy_listener = socket(AF_UNIX, SOCK_STREAM, 0);

    busy.sun_family = AF_UNIX;
    unconnected = socket(AF_UNIX, SOCK_STREAM, 0);
    return bind(busy_listener, (struct sockaddr *)&busy, sizeof(sa_family_t)) < 0 ||
                   getsockname(busy_listener, (struct sockaddr *)&busy, &busy_bytes) <
                       0 ||
                   listen(busy_listener, 0) < 0
               ? -1
               : connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&busy,
                         busy_bytes);
}

static void prepare_streams(void)
{
    stream = fdopen(dup(quiet[0]), "r");
    sink = fdopen(dup(full[1]), "w");
    setvbuf(sink, NULL, _IONBF, 0);
    dup2(quiet[0], 0);
    dup2(full[1], 1);
    setvbuf(stdout, NULL, _IONBF, 0);
}

/*
 * Create a FIFO, and set `fifo` to a path that can still be opened when the FIFO's folder
 * has been removed.
 */
static int prepare_fifo(char *folder)
{
    char path[60];
    int fd;

    snprintf(path, sizeof path, "%s/fifo", folder);
    if (mkfifo(path, 0600) < 0 || (fd = open(path, O_PATH | O_CLOEXEC)) < 0)
        return -1;
    unlink(path);
    snprintf(fifo, sizeof fifo, "/proc/self/fd/%d", fd);
    return 0;
}

static int prepare_files(void)
{
    char folder[] = "/tmp/coil-calls-XXXXXX", path[60];
    int locked, rc;

    if (mkdtemp(folder) == NULL)
        return -1;
    rc = prepare_fifo(folder);
    snprintf(path, sizeof path, "%s/file", folder);
    locked = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    file = open(path, O_RDWR | O_CLOEXEC);
    unlink(path);
    rmdir(folder);
    lock_of_all.l_type = F_WRLCK;
    memory = memfd_create("calls", MFD_CLOEXEC);
    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (rc < 0 || memory < 0 || write(memory, some, 100) < 100 ||
        lseek(memory, 0, SEEK_SET) < 0 || page == MAP_FAILED)
        return -1;
    return flock(locked, LOCK_EX) < 0 ? -1 : fcntl(locked, F_OFD_SETLK, &lock_of_all);
}

/*
 * Configure a name server at a port without a listener, so that queries are refused at
 * once.
 */
static void refuse_queries(struct __res_state *state)
{
    res_ninit(state);
    state->nscount = 1;
    state->nsaddr_list[0] = loopback;
    state->nsaddr_list[0].sin_port = htons(1);
    state->retrans = state->retry = 1;
}

static int open_mail(mqd_t *mail)
{
    struct mq_attr attributes;
    char name[40];

    snprintf(name, sizeof name, "/coil-calls-%d", (int)getpid());
    memset(&attributes, 0, sizeof attributes);
    attributes.mq_maxmsg = 1;
    attributes.mq_msgsize = 8;
    *mail = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    return *mail < 0 ? -1 : mq_unlink(name);
}

static int prepare_mail(void)
{
    if (open_mail(&no_mail) < 0 || open_mail(&much_mail) < 0)
        return -1;
    return mq_send(much_mail, some, 1, 0);
}

static int prepare_reading(void)
{
    reading.aio_fildes = quiet[0];
    reading.aio_buf = &byte;
    reading.aio_nbytes = 1;
    listed_reading64 = reading;
    listed_reading64.aio_lio_opcode = LIO_READ;
    listed_reading.aio_fildes = quiet[0];
    listed_reading.aio_buf = &byte;
    listed_reading.aio_nbytes = 1;
    listed_reading.aio_lio_opcode = LIO_READ;
    return aio_read64(&reading);
}

static int prepare_events(void)
{
    no_event = eventfd(0, EFD_CLOEXEC);
    full_event = eventfd(0, EFD_CLOEXEC);
    terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (no_event < 0 || terminal < 0 || tcgetattr(terminal, &settings) < 0)
        return -1;
    return eventfd_write(full_event, (eventfd_t)-2);
}

static int prepare(void)
{
    if (prepare_sockets() < 0 || prepare_busy() < 0 || prepare_files() < 0)
        return -1;
    prepare_streams();
    refuse_queries(&resolver);
    refuse_queries(&_res);
    if (prepare_mail() < 0 || prepare_reading() < 0 || prepare_events() < 0)
        return -1;
    pthread_barrier_init(&barrier, NULL, 1);
    sem_init(&semaphore, 0, 0);
    sem_init(&may_end, 0, 0);
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    return sigprocmask(SIG_BLOCK, &signals, NULL);
}

/* Prepare a call: restore what the previous call has released, ended or closed. */
static int prepare_call(void)
{
    static const pthread_mutex_t unlocked = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

    recursive = unlocked;
    once = PTHREAD_ONCE_INIT;
    pthread_mutex_init(&mutex, NULL);
    pthread_mutex_init(&given, NULL);
    pthread_rwlock_init(&rwlock, NULL);
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&given);
    pthread_rwlock_wrlock(&rwlock);
    taken = fdopen(dup(quiet[0]), "r");
    kept = fdopen(dup(full[1]), "w");
    if (taken == NULL || kept == NULL || fputs("kept", kept) < 0)
        return -1;
    return pthread_create(&thread, NULL, end_when_posted, NULL);
}

/* Remove the System V objects that the kernel keeps after a process has ended. */
static void prepare_queues(void)
{
    struct msqid_ds limits;

    queue = msgget(IPC_PRIVATE, 0600);
    set = semget(IPC_PRIVATE, 1, 0600);
    if (msgctl(queue, IPC_STAT, &limits) == 0) {
        limits.msg_qbytes = 1;
        msgctl(queue, IPC_SET, &limits);
    }
}

static void remove_queues(void)
{
    msgctl(queue, IPC_RMID, NULL);
    semctl(set, 0, IPC_RMID);
}

#endif
