/*
 * tails.h - what tails.c and tails_cxx.cpp share: the calls, each of which would wait for
 * ever, the task that ends one, and a process for each.
 */
#include <coil.h>
#include <coil/posix.h>

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wunused-result"

/* ---- the calls --------------------------------------------------------------------- */

static int quiet[2], listener, epoll, file;
static FILE *stream;
static char byte;
static struct pollfd polled;
static struct iovec part = {&byte, 1};
static struct msghdr message;
static struct epoll_event event;
static const struct timespec long_time = {1000, 0};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t given = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore, may_end;
static pthread_t thread;
static sigset_t signals;
static int signo;
static pid_t child;

/* clang-format off */
#define CALLS(X)                                                                         \
    X(usleep, usleep(4000000000u))                                                       \
    X(nanosleep, nanosleep(&long_time, NULL))                                            \
    X(clock_nanosleep, clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL))            \
    X(poll, poll(&polled, 1, -1))                                                        \
    X(ppoll, ppoll(&polled, 1, NULL, NULL))                                              \
    X(select, select(0, NULL, NULL, NULL, NULL))                                         \
    X(epoll_wait, epoll_wait(epoll, &event, 1, -1))                                      \
    X(read, read(quiet[0], &byte, 1))                                                    \
    X(readv, readv(quiet[0], &part, 1))                                                  \
    X(recv, recv(quiet[0], &byte, 1, 0))                                                 \
    X(recvmsg, recvmsg(quiet[0], &message, 0))                                           \
    X(accept, accept(listener, NULL, NULL))                                              \
    X(fgetc, fgetc(stream))                                                              \
    X(sem_wait, sem_wait(&semaphore))                                                    \
    X(pthread_join, pthread_join(thread, NULL))                                          \
    X(cond_wait, pthread_cond_wait(&cond, &given))                                       \
    X(mutex_lock, pthread_mutex_lock(&mutex))                                            \
    X(rwlock_rdlock, pthread_rwlock_rdlock(&rwlock))                                     \
    X(sigwait, sigwait(&signals, &signo))                                                \
    X(waitpid, waitpid(child, NULL, 0))                                                  \
    X(flock, flock(file, LOCK_EX))
/* clang-format on */

/* The call is about to begin in this task. */
static coil_task *caller;

static void begin(void)
{
    caller = coil_task_current();
}

/* Runs only if the thread is not blocked. */
static int end_call(void *unused)
{
    (void)unused;
    while (caller == NULL)
        coil_yield();
    coil_sleep(COIL_MSEC(1));
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_unlock(&rwlock);
    sem_post(&may_end);
    coil_task_cancel(caller, NULL);
    return 0;
}

/* A function in a task of its own, beside the one that ends the call in it. */
struct work {
    int (*fn)(void *arg);
    void *arg;
};

/* Calls that fail as they should are nothing to report. */
static void say_nothing(const coil_exception *exception, void *unused)
{
    (void)exception;
    (void)unused;
}

static int app(void *arg)
{
    const struct work *work = (const struct work *)arg;
    coil_task *ender, *task;

    coil_set_exception_handler(say_nothing, NULL);
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&rwlock);
    pthread_mutex_lock(&given);
    if (coil_spawn(end_call, NULL, NULL, &ender) < 0 ||
        coil_spawn(work->fn, work->arg, NULL, &task) < 0)
        return -ENOMEM;
    coil_task_await(task);
    coil_task_await(ender);
    coil_task_release(task);
    coil_task_release(ender);
    return 0;
}

static void *end_when_posted(void *unused)
{
    sem_wait(&may_end);
    return unused;
}

static int prepare(void)
{
    char path[] = "/tmp/coil-tails-XXXXXX";
    struct sockaddr_in any;
    int locked = mkstemp(path), rc = socketpair(AF_UNIX, SOCK_STREAM, 0, quiet);

    file = open(path, O_RDWR | O_CLOEXEC);
    unlink(path);
    memset(&any, 0, sizeof any);
    any.sin_family = AF_INET;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    polled.fd = quiet[0];
    polled.events = POLLIN;
    stream = fdopen(dup(quiet[0]), "r");
    epoll = epoll_create1(EPOLL_CLOEXEC);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    sem_init(&semaphore, 0, 0);
    sem_init(&may_end, 0, 0);
    pthread_create(&thread, NULL, end_when_posted, NULL);
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return rc < 0 || flock(locked, LOCK_EX) < 0 ||
           bind(listener, (struct sockaddr *)&any, sizeof any) < 0 ||
           listen(listener, 1) < 0;
}

/* In a process of its own: it may never end. The status, of waitpid(2). */
static int run_alone(int (*fn)(void *arg), void *arg)
{
    struct work work = {fn, arg};
    int status = -1;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        if (prepare() != 0)
            _exit(2);
        child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* whatever ends our parent */
            pause();
            _exit(0);
        }
        alarm(30);
        coil_run(app, &work, NULL);
        kill(child, SIGKILL);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return status;
}
