/*
 * child.c - the code that a child runs before it executes its program. Until then the
 * child shares the parent's memory, unless it changes its user or groups.
 *
 * During this time the parent's calling thread is blocked, but its other threads are
 * running, and may hold any lock. So the child only makes system calls, and makes them
 * without the C library, because a sanitizer's version of close(2) or sigaction(2) would
 * change the sanitizer's data, which belongs to the parent. All signals are blocked when
 * the child starts. If a step fails, the child stores the step and the errno in its
 * struct coil__child for the parent.
 *
 * Order of the steps: the standard descriptors are set first, while their sources are
 * open. The directory is changed before the program, whose path may be relative to it, is
 * executed, and before the user is changed, as in Python. The limits are set when no more
 * descriptors are needed, but before the user, because only root may raise hard limits.
 * The groups are set before the user, because only root may set groups. The signal mask
 * is set last, when none of the parent's handlers can run in the child.
 */
#include "../child.h"

#include "../../base/fault.h"
#include "constants.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIGNALS 64

/* The kernel's layout of struct sigaction, on x86-64 and aarch64. */
struct kernel_sigaction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/* The layout that getdents64(2) writes. */
struct kernel_dirent {
    uint64_t ino;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

COIL__NO_SANITIZE static bool clear_cloexec(int fd)
{
    return COIL__CALL(EBADF, syscall(SYS_fcntl, fd, F_SETFD, 0)) == 0;
}

/* ---- descriptors ------------------------------------------------------------------- */

/*
 * Set the standard descriptors. A source below 3 could be overwritten before it is
 * copied, so it is moved first. A source that is equal to its target is left alone: it
 * may be closed, or execve(2) may close it.
 */
COIL__NO_SANITIZE static bool set_up_stdio(struct coil__child *child)
{
    int source[3];

    for (int i = 0; i < 3; i++) {
        source[i] = child->what.stdio[i];
        if (source[i] < 3 && source[i] != i) {
            source[i] = (int)COIL__CALL(
                EMFILE, syscall(SYS_fcntl, source[i], F_DUPFD_CLOEXEC, 3));
            if (source[i] < 0)
                return false;
        }
    }
    for (int i = 0; i < 3; i++)
        if (source[i] != i && COIL__CALL(EBUSY, syscall(SYS_dup3, source[i], i, 0)) < 0)
            return false;
    return true;
}

COIL__NO_SANITIZE static int number_of(const char *name)
{
    int number = 0;

    for (; *name >= '0' && *name <= '9'; name++)
        number = number * 10 + (*name - '0');
    return number;
}

/* Set the close-on-exec flag on each descriptor listed in /proc, on Linux before 5.11. */
COIL__NO_SANITIZE static bool set_cloexec_one_by_one(void)
{
    _Alignas(struct kernel_dirent) char buf[1024];
    long n = -1;
    int fd = (int)COIL__CALL(EMFILE, syscall(SYS_openat, AT_FDCWD, "/proc/self/fd",
                                             O_RDONLY | O_DIRECTORY | O_CLOEXEC));

    if (fd < 0)
        return false;
    while ((n = COIL__CALL(ENOMEM, syscall(SYS_getdents64, fd, buf, sizeof buf))) > 0)
        for (long at = 0; at < n;) {
            const struct kernel_dirent *entry = (const void *)(buf + at);
            int other = number_of(entry->name);

            if (other >= 3)
                syscall(SYS_fcntl, other, F_SETFD, FD_CLOEXEC);
            at += entry->length;
        }
    return n == 0;
}

COIL__NO_SANITIZE static bool close_others_on_exec(void)
{
    return COIL__CALL(ENOSYS,
                      syscall(SYS_close_range, 3, UINT_MAX, CLOSE_RANGE_CLOEXEC)) == 0 ||
           set_cloexec_one_by_one();
}

COIL__NO_SANITIZE static bool keep_passed_descriptors(const struct coil__child *child)
{
    for (size_t i = 0; i < child->what.pass_fd_count; i++)
        if (!clear_cloexec(child->what.pass_fds[i]))
            return false;
    return true;
}

/* ---- signals ----------------------------------------------------------------------- */

/*
 * True if the signal's disposition must be reset. Ignored signals stay ignored, except
 * SIGPIPE and SIGXFSZ, which Python's subprocess also resets (restore_signals).
 */
COIL__NO_SANITIZE static bool to_be_reset(int signo, const struct kernel_sigaction *now)
{
    if (now->handler == SIG_IGN)
        return signo == SIGPIPE || signo == SIGXFSZ;
    return now->handler != SIG_DFL;
}

COIL__NO_SANITIZE static void reset_signals(void)
{
    static const struct kernel_sigaction by_default; /* all zeros: SIG_DFL */
    struct kernel_sigaction now;
    uint64_t none = 0;

    for (int signo = 1; signo <= SIGNALS; signo++)
        if (syscall(SYS_rt_sigaction, signo, NULL, &now, sizeof none) == 0 &&
            to_be_reset(signo, &now))
            syscall(SYS_rt_sigaction, signo, &by_default, NULL, sizeof none);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
}

/* ---- executing the program --------------------------------------------------------- */

COIL__NO_SANITIZE static bool enter_session(const struct coil__child *child)
{
    if (child->what.new_session && COIL__CALL(EPERM, syscall(SYS_setsid)) < 0)
        return false;
    if (child->what.terminal >= 0)
        return COIL__CALL(EPERM,
                          syscall(SYS_ioctl, child->what.terminal, TIOCSCTTY, 0)) == 0;
    if (child->what.new_session)
        return true;
    if (child->what.new_group)
        return COIL__CALL(EPERM, syscall(SYS_setpgid, 0, 0)) >= 0;
    if (child->what.process_group > 0)
        return COIL__CALL(EPERM, syscall(SYS_setpgid, 0, child->what.process_group)) >= 0;
    return true;
}

COIL__NO_SANITIZE static bool set_limits(const struct coil__child *child)
{
    for (int i = 0; i < COIL__LIMITS; i++)
        if (child->what.limits_set & 1u << i &&
            COIL__CALL(EPERM,
                       syscall(SYS_prlimit64, 0, i, &child->what.limits[i], NULL)) < 0)
            return false;
    return true;
}

/*
 * Change the user and the groups: the real, effective and saved ids, so that the child
 * cannot change back.
 */
COIL__NO_SANITIZE static bool change_user(const struct coil__child *child)
{
    if (child->what.extra_groups != NULL &&
        COIL__CALL(EPERM, syscall(SYS_setgroups, child->what.extra_group_count,
                                  child->what.extra_groups)) < 0)
        return false;
    if (child->what.group != NULL &&
        COIL__CALL(EPERM, syscall(SYS_setresgid, *child->what.group, *child->what.group,
                                  *child->what.group)) < 0)
        return false;
    return child->what.user == NULL ||
           COIL__CALL(EPERM, syscall(SYS_setresuid, *child->what.user, *child->what.user,
                                     *child->what.user)) == 0;
}

COIL__NO_SANITIZE static bool enter_directory(const struct coil__child *child)
{
    return child->what.cwd == NULL ||
           COIL__CALL(EACCES, syscall(SYS_chdir, child->what.cwd)) == 0;
}

/*
 * Like execvp(3), but without its fall-back to a shell. Tries the next path if a path
 * does not exist or is not permitted.
 */
COIL__NO_SANITIZE static void exec_first(const struct coil__child *child)
{
    bool denied = false;

    for (const char *const *path = child->paths; *path != NULL; path++) {
        COIL__CALL(ENOMEM,
                   syscall(SYS_execve, *path, child->what.argv, child->what.envp));
        if (errno == EACCES)
            denied = true;
        else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE &&
                 errno != ENODEV && errno != ETIMEDOUT)
            return;
    }
    if (denied)
        errno = EACCES;
}

COIL__NO_SANITIZE static void become(struct coil__child *child)
{
    child->step = COIL__CHILD_STDIO;
    if (!set_up_stdio(child))
        return;
    child->step = COIL__CHILD_SESSION;
    if (!enter_session(child))
        return;
    child->step = COIL__CHILD_CWD;
    if (!enter_directory(child))
        return;
    if (child->what.umask != NULL)
        syscall(SYS_umask, *child->what.umask);
    child->step = COIL__CHILD_CLOSE_OTHERS;
    if (!close_others_on_exec())
        return;
    child->step = COIL__CHILD_PASS_FDS;
    if (!keep_passed_descriptors(child))
        return;
    child->step = COIL__CHILD_LIMITS;
    if (!set_limits(child))
        return;
    child->step = COIL__CHILD_IDENTITY;
    if (!change_user(child))
        return;
    child->step = COIL__CHILD_EXEC;
    reset_signals();
    exec_first(child);
}

COIL__NO_SANITIZE int coil__child_main(void *arg)
{
    struct coil__child *child = arg;

    become(child);
    child->error = errno;
    syscall(SYS_exit_group, 127);
    return 127;
}
