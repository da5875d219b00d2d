/*
 * child_handle.c - starts children, and uses pidfds (Linux 5.4) as their handles.
 *
 * A child is started with clone(2). The flag CLONE_VM avoids copying the parent's memory,
 * and CLONE_VFORK blocks the parent until the child has its own memory. vfork(2) is not
 * used, because it runs the child on the parent's stack without the compiler's knowledge.
 * posix_spawn(3) is not used, because before glibc 2.39 it cannot return a pidfd.
 *
 * clone(2) returns the pidfd together with the child's pid, so the pidfd cannot refer to
 * another process.
 */
#include "../child.h"

#include "../../base/base.h"
#include "../../base/fault.h"
#include "constants.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * ThreadSanitizer's clone() treats every child as a fork and resets ThreadSanitizer's
 * data, which belongs to the parent if memory is shared. So call the C library's function
 * by its other name.
 */
#if COIL__TSAN
int __clone(int (*fn)(void *), void *stack, int flags, void *arg, ...);
#define clone __clone
#endif

/* ---- starting ---------------------------------------------------------------------- */

int coil__child_handles(void)
{
    static _Atomic bool known;
    siginfo_t info;
    int fd, error = 0;

    if (known)
        return 0;
    fd = (int)COIL__CALL(ENOSYS, syscall(SYS_pidfd_open, getpid(), 0));
    if (fd < 0)
        return -errno;
    /*
     * A process is not its own child, so waitid() fails with ECHILD if the kernel
     * supports P_PIDFD, and with EINVAL if not.
     */
    if (COIL__CALL(EINVAL, waitid(COIL__P_PIDFD, (id_t)fd, &info, WEXITED | WNOHANG)) < 0)
        error = errno;
    close(fd);
    if (error == EINVAL)
        return -ENOSYS;
    known = true;
    return 0;
}

int coil__child_start(struct coil__child *child, char *stack_end, bool shares_memory,
                      pid_t *pid, int *handle)
{
    const int flags = CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
    uint64_t all = UINT64_MAX, before = 0;
    int error, status;

    /*
     * Make the system call directly: the C library's function does not block two signals
     * that it uses internally.
     */
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    *pid = COIL__CALL(EAGAIN,
                      clone(coil__child_main, stack_end,
                            shares_memory ? flags | CLONE_VM : flags, child, handle));
    error = errno;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    if (*pid < 0)
        return -error;
    if (child->error == 0)
        return 0;
    coil__child_reap_now(*handle, &status);
    close(*handle);
    return -child->error;
}

/* ---- signals ----------------------------------------------------------------------- */

int coil__child_signal(int handle, int signo)
{
    return COIL__CALL(EPERM, syscall(SYS_pidfd_send_signal, handle, signo, NULL, 0)) < 0
               ? -errno
               : 0;
}

/* Fails with -EINVAL before Linux 6.9. */
int coil__child_signal_group(int handle, int signo)
{
    return COIL__CALL(EINVAL, syscall(SYS_pidfd_send_signal, handle, signo, NULL,
                                      COIL__PIDFD_SIGNAL_PROCESS_GROUP)) < 0
               ? -errno
               : 0;
}

void coil__child_end(int handle, int signo)
{
    syscall(SYS_pidfd_send_signal, handle, signo, NULL, 0);
}

/* ---- reaping ----------------------------------------------------------------------- */

static int status_of(const siginfo_t *info)
{
    if (info->si_code == CLD_EXITED)
        return W_EXITCODE(info->si_status, 0);
    return info->si_status | (info->si_code == CLD_DUMPED ? WCOREFLAG : 0);
}

static int wait_for(int handle, int options, int *status)
{
    siginfo_t info = {.si_pid = 0};
    int rc;

    do
        rc = COIL__CALL(ECHILD, waitid(COIL__P_PIDFD, (id_t)handle, &info, options));
    while (rc < 0 && errno == EINTR);
    if (rc < 0)
        return -errno;
    if (info.si_pid == 0)
        return -EAGAIN;
    *status = status_of(&info);
    return 0;
}

int coil__child_reap(int handle, int *status)
{
    return wait_for(handle, WEXITED | WNOHANG, status);
}

int coil__child_look(int handle, int *status)
{
    return wait_for(handle, WEXITED | WNOHANG | WNOWAIT, status);
}

int coil__child_reap_now(int handle, int *status)
{
    return wait_for(handle, WEXITED, status);
}

void coil__child_reap_apart(int handle)
{
    siginfo_t info;

    while (waitid(COIL__P_PIDFD, (id_t)handle, &info, WEXITED) < 0 && errno == EINTR)
        continue;
}
