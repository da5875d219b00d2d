/*
 * reap.c - children that have ended, and those that nobody waits for any more.
 *
 * While there is a loop it watches the pidfds (net/process.c). When it closes, what still
 * runs gets a thread each, which sleeps in waitid(2): they are few, the killed ones are
 * gone at once as a rule, and when the program ends init(1) takes over.
 */
#include "reap.h"

#include "../base/fault.h"
#include "../base/kernel.h"
#include "../loop/loop.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOMENT_MS 100
#define STACK_BYTES ((size_t)64 * 1024)

static int status_of(const siginfo_t *info)
{
    if (info->si_code == CLD_EXITED)
        return W_EXITCODE(info->si_status, 0);
    return info->si_status | (info->si_code == CLD_DUMPED ? WCOREFLAG : 0);
}

static int wait_for(int pidfd, int options, int *status)
{
    siginfo_t info = {.si_pid = 0};
    int rc;

    do
        rc = COIL__CALL(ECHILD, waitid(COIL__P_PIDFD, (id_t)pidfd, &info, options));
    while (rc < 0 && errno == EINTR);
    if (rc < 0)
        return -errno;
    if (info.si_pid == 0)
        return -EAGAIN;
    *status = status_of(&info);
    return 0;
}

int coil__reap(int pidfd, int *status)
{
    return wait_for(pidfd, WEXITED | WNOHANG, status);
}

int coil__reap_now(int pidfd, int *status)
{
    return wait_for(pidfd, WEXITED, status);
}

/* ---- on a thread ------------------------------------------------------------------ */

/* It never posts anything: for deadlock.c it is one that is idle. */
static void count_thread(int change)
{
    atomic_fetch_add(&coil__pool_threads, (unsigned)change);
    atomic_fetch_add(&coil__pool_idle, (unsigned)change);
}

static void *reap(void *arg)
{
    int pidfd = (int)(intptr_t)arg;
    siginfo_t info;

    pthread_setname_np(pthread_self(), "coil-reaper");
    while (waitid(COIL__P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR)
        continue;
    close(pidfd);
    count_thread(-1);
    return NULL;
}

/* One that takes no signals: those are the program's. */
static bool start_reaper(int pidfd)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    bool started;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    count_thread(1);
    started = !coil__call_fails(EAGAIN, "pthread_create") &&
              pthread_create(&thread, &attributes, reap, (void *)(intptr_t)pidfd) == 0;
    if (!started)
        count_thread(-1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

void coil__reap_later(int pidfd, bool is_ending)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    int status;

    if (is_ending)
        poll(&ended, 1, MOMENT_MS);
    if (coil__reap(pidfd, &status) != -EAGAIN) {
        close(pidfd);
        return;
    }
    if (start_reaper(pidfd))
        return;
    close(pidfd);
    coil_call_exception_handler(&(coil_exception){
        .message = "No thread can be started to wait for a child: it may remain a zombie",
        .rc = -EAGAIN});
}
