/*
 * spawn.c - start a program.
 *
 * vfork(2) in all but name: clone(2) with CLONE_VM, so that nothing of the parent's
 * memory is copied, and CLONE_VFORK, so that it stands still until the child has its own.
 * Not vfork() itself, which runs the child on the parent's stack, under a compiler that
 * does not know. Not posix_spawn(3): it has no pidfd before glibc 2.39, cannot tell a
 * missing directory from a missing program, and looks for the latter in the wrong PATH.
 *
 *     prepare()   paths to try, a stack for the child
 *     launch()    signals blocked, clone(2), signals restored
 *        child.c  descriptors, directory, signals, execve(2)
 *     launch()    what it wrote down, if it failed: reaped, and told
 *
 * A child that is to be another user or group does not share the memory: that user could
 * trace it, and the kernel would take the parent for no longer dumpable. It is a fork(2),
 * which is waited for in the same way; only the block lies in a mapping that both share.
 *
 * The pidfd comes with the child, so it is never another's. Under Valgrind and QEMU's
 * user mode a vfork is a fork: there a failed exec is only seen as exit status 127, as
 * it is with their posix_spawn(3).
 */
#include "spawn.h"

#include "../base/fault.h"
#include "../base/kernel.h"
#include "child.h"
#include "reap.h"

#include <coil/error.h>

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)16 * 1024)
#define DEFAULT_PATH "/bin:/usr/bin"

/* ThreadSanitizer's takes every child for a fork, and begins its books anew, which are
   ours: so the C library's, under its other name. */
#if COIL__TSAN
int __clone(int (*fn)(void *), void *stack, int flags, void *arg, ...);
#define clone __clone
#endif

/* ---- where the program may be ------------------------------------------------------ */

static const char *path_of(const char *const *envp)
{
    const char *path = NULL;

    if (envp == NULL)
        path = getenv("PATH");
    for (; envp != NULL && *envp != NULL && path == NULL; envp++)
        if (strncmp(*envp, "PATH=", 5) == 0)
            path = *envp + 5;
    return path != NULL ? path : DEFAULT_PATH;
}

static size_t count_colons(const char *text)
{
    size_t count = 0;

    for (; *text != '\0'; text++)
        count += *text == ':';
    return count;
}

/* The child has all it needs in one block: this, the paths, their text, its stack. */
struct launch {
    struct coil__child child;
    size_t bytes;
    bool forks; /* the block is a mapping, for the child to write to */
    char *stack_end;
    const char *paths[];
};

/* Name the program in each directory of `path`; an empty one is where the child is. */
static void join_paths(struct launch *launch, char *text, const char *path,
                       const char *name)
{
    const char **next = launch->paths;

    for (;;) {
        size_t length = strcspn(path, ":");

        *next++ = text;
        memcpy(text, path, length);
        text += length;
        if (length > 0)
            *text++ = '/';
        strcpy(text, name);
        text += strlen(name) + 1;
        if (path[length] == '\0')
            break;
        path += length + 1;
    }
    *next = NULL;
}

/* All zeros; NULL if there is no memory. */
static struct launch *create_launch(size_t bytes, bool forks)
{
    struct launch *launch = NULL;

    if (!forks)
        launch = coil__alloc_zeroed(bytes);
    else if (!coil__call_fails(ENOMEM, "mmap"))
        launch =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (launch == NULL || launch == MAP_FAILED)
        return NULL;
    launch->bytes = bytes;
    launch->forks = forks;
    return launch;
}

static void destroy_launch(struct launch *launch)
{
    if (launch->forks)
        munmap(launch, launch->bytes);
    else
        coil__free(launch);
}

static struct launch *prepare(const struct coil__spawn *what)
{
    const char *name = what->program;
    /* A name with a '/' is one itself, and so is none at all: that is nowhere. */
    bool searched = name[0] != '\0' && strchr(name, '/') == NULL;
    const char *path = searched ? path_of(what->envp) : "";
    size_t count = count_colons(path) + 1;
    size_t paths_bytes = (count + 1) * sizeof(const char *);
    size_t text_bytes = strlen(path) + count * (strlen(name) + 2);
    bool forks = what->extra_groups != NULL || what->group != NULL || what->user != NULL;
    struct launch *launch = create_launch(
        sizeof *launch + paths_bytes + text_bytes + STACK_BYTES + 16, forks);
    char *text;

    if (launch == NULL)
        return NULL;
    launch->child.what = *what;
    if (what->envp == NULL)
        launch->child.what.envp = (const char *const *)environ;
    text = (char *)launch->paths + paths_bytes;
    launch->child.paths = launch->paths;
    join_paths(launch, text, path, name);
    text += text_bytes + STACK_BYTES + 16;
    launch->stack_end = text - (uintptr_t)text % 16;
    return launch;
}

/* ---- starting it ------------------------------------------------------------------ */

static int launch_child(struct launch *launch, pid_t *pid, int *pidfd)
{
    const int flags = CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
    uint64_t all = UINT64_MAX, before = 0;
    int error, status;

    /* By the kernel's own call: the C library's leaves out two that it needs itself. */
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    *pid = COIL__CALL(EAGAIN, clone(coil__child_main, launch->stack_end,
                                    launch->forks ? flags : flags | CLONE_VM,
                                    &launch->child, pidfd));
    error = errno;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    if (*pid < 0)
        return -error;
    if (launch->child.error == 0)
        return 0;
    coil__reap_now(*pidfd, &status);
    close(*pidfd);
    return -launch->child.error;
}

static int explain(const struct launch *launch, const struct coil__spawn *what, int rc)
{
    switch (launch->child.step) {
    case COIL__CHILD_CWD:
        return coil_fail(rc, "'%s' cannot be entered, to run '%s' there", what->cwd,
                         what->program);
    case COIL__CHILD_IDENTITY:
        return coil_fail(rc, "'%s' cannot be run as that user and these groups",
                         what->program);
    case COIL__CHILD_STDIO:
        return coil_fail(rc, "standard descriptors for '%s'", what->program);
    case COIL__CHILD_PASS_FDS:
        return coil_fail(rc, "descriptors to be passed to '%s'", what->program);
    case COIL__CHILD_CLOSE_OTHERS:
        return coil_fail(rc, "descriptors to be kept from '%s'", what->program);
    case COIL__CHILD_SESSION:
        return coil_fail(rc, "a session or group for '%s'", what->program);
    case COIL__CHILD_EXEC:
        break;
    }
    return coil_fail(rc, "'%s' cannot be run", what->program);
}

/* Before there is a child to be lost: does this kernel wait for pidfds? */
static int require_pidfds(void)
{
    static _Atomic bool known;
    siginfo_t info;
    int fd, error = 0;

    if (known)
        return 0;
    fd = (int)COIL__CALL(ENOSYS, syscall(SYS_pidfd_open, getpid(), 0));
    if (fd < 0)
        return -errno;
    /* We are no child of ours, which is ECHILD, where the question is understood. */
    if (COIL__CALL(EINVAL, waitid(COIL__P_PIDFD, (id_t)fd, &info, WEXITED | WNOHANG)) < 0)
        error = errno;
    close(fd);
    if (error == EINVAL)
        return -ENOSYS;
    known = true;
    return 0;
}

int coil__spawn(const struct coil__spawn *what, pid_t *pid, int *pidfd)
{
    struct launch *launch;
    int rc = require_pidfds();

    if (rc < 0)
        return coil_fail(rc, "child processes need pidfds: Linux 5.4");
    launch = prepare(what);
    if (launch == NULL)
        return -ENOMEM;
    rc = launch_child(launch, pid, pidfd);
    if (rc < 0)
        rc = explain(launch, what, rc);
    destroy_launch(launch);
    return rc;
}
