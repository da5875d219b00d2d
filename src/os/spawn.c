/*
 * spawn.c - starts a program as a child process.
 *
 *     coil__spawn_read()     checks and copies the caller's options
 *     prepare()              the paths to try, a stack for the child
 *     coil__child_start()    starts the child, and waits until it runs the program
 *     set_failure_message()  turns the child's failure into an error
 *
 * posix_spawn(3) is not used, because its error does not distinguish a missing directory
 * from a missing program, and because it searches the parent's PATH for the program, not
 * the child's.
 *
 * The child shares the parent's memory until it runs the program (vfork). If the child
 * changes its user or groups, the memory must not be shared: the other user could trace
 * the child meanwhile, and the kernel would clear the parent's dumpable flag. Such a
 * child is started with fork(2), and only its block of data is shared, in a mapping. The
 * parent waits for such a child in the same way.
 *
 * Under Valgrind and in QEMU's user mode, vfork is the same as fork, so a failed exec is
 * reported only as exit status 127, as with posix_spawn(3).
 */
#include "spawn.h"

#include "../base/base.h"
#include "../base/fault.h"

#include <coil/error.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)16 * 1024)
#define DEFAULT_PATH "/bin:/usr/bin"

/* ---- options ----------------------------------------------------------------------- */

static bool valid(const coil_process_opts *opts)
{
    if (opts->argv == NULL || opts->argv[0] == NULL ||
        (opts->pass_fds == NULL && opts->pass_fd_count > 0) ||
        (opts->extra_groups == NULL && opts->extra_group_count > 0) ||
        opts->process_group < 0 || opts->kill_signal < 0 || opts->kill_signal >= NSIG)
        return false;
    if (opts->process_group > 0 && (opts->new_session || opts->new_group || opts->pty))
        return false;
    if (opts->limits == NULL && opts->limit_count > 0)
        return false;
    for (size_t i = 0; i < opts->pass_fd_count; i++)
        if (opts->pass_fds[i] < 0)
            return false;
    return true;
}

static int read_limits(const coil_process_opts *opts, struct coil__spawn *what)
{
    for (size_t i = 0; i < opts->limit_count; i++) {
        const coil_process_limit *limit = &opts->limits[i];

        if (limit->resource < 0 || limit->resource >= COIL__LIMITS ||
            limit->soft > limit->hard)
            return coil__failed(-EINVAL);
        what->limits[limit->resource] = (struct rlimit){limit->soft, limit->hard};
        what->limits_set |= 1u << limit->resource;
    }
    return 0;
}

int coil__spawn_read(const coil_process_opts *opts, struct coil__spawn *what)
{
    *what = (struct coil__spawn){.terminal = -1};
    if (!valid(opts))
        return coil__failed(-EINVAL);
    what->argv = opts->argv;
    what->program = opts->program != NULL ? opts->program : opts->argv[0];
    what->envp = opts->envp;
    what->cwd = opts->cwd;
    what->pass_fds = opts->pass_fds;
    what->pass_fd_count = opts->pass_fd_count;
    what->new_session = opts->new_session || opts->pty;
    what->new_group = opts->new_group;
    what->process_group = opts->process_group;
    what->extra_groups = opts->extra_groups;
    what->extra_group_count = opts->extra_group_count;
    what->group = opts->group;
    what->user = opts->user;
    what->umask = opts->umask;
    return read_limits(opts, what);
}

/* ---- the program's paths ----------------------------------------------------------- */

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

/*
 * The beginning of a block of memory for the child, which also contains the text of the
 * paths and the child's stack.
 */
struct launch {
    struct coil__child child;
    size_t bytes;
    /*
     * The child is started with fork(2). The block is a shared mapping, because the child
     * writes its result there.
     */
    bool forks;
    char *stack_end;
    const char *paths[];
};

/*
 * For each directory in `path`, the value of PATH, store the program's path in that
 * directory in launch->paths. `text` is the memory for these strings. An empty name of a
 * directory means the child's working directory.
 */
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

/* Allocate a block of zeroed memory. Returns NULL if there is no memory. */
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
    /*
     * A name that contains a '/' is the only path to try. So is an empty name, which
     * fails with ENOENT: a search in PATH would try to run the directories themselves.
     */
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

/* ---- starting the program ---------------------------------------------------------- */

static int set_failure_message(const struct launch *launch,
                               const struct coil__spawn *what, int rc)
{
    switch (launch->child.step) {
    case COIL__CHILD_CWD:
        return coil_fail(rc, "cannot enter '%s' to run '%s' there", what->cwd,
                         what->program);
    case COIL__CHILD_IDENTITY:
        return coil_fail(rc, "cannot run '%s' as that user and these groups",
                         what->program);
    case COIL__CHILD_STDIO:
        return coil_fail(rc, "cannot set up the standard descriptors of '%s'",
                         what->program);
    case COIL__CHILD_PASS_FDS:
        return coil_fail(rc, "cannot pass descriptors to '%s'", what->program);
    case COIL__CHILD_CLOSE_OTHERS:
        return coil_fail(rc, "cannot close the other descriptors of '%s'", what->program);
    case COIL__CHILD_SESSION:
        return coil_fail(rc, "cannot create a session or process group for '%s'",
                         what->program);
    case COIL__CHILD_LIMITS:
        return coil_fail(rc, "cannot set the resource limits of '%s'", what->program);
    case COIL__CHILD_EXEC:
        break;
    }
    return coil_fail(rc, "cannot run '%s'", what->program);
}

/*
 * The check for pidfds comes first, because without them a child could be started but not
 * reaped.
 */
int coil__spawn(const struct coil__spawn *what, pid_t *pid, int *handle)
{
    struct launch *launch;
    int rc = coil__child_handles();

    if (rc < 0)
        return coil_fail(rc, "child processes need pidfds, so Linux 5.4 or later");
    launch = prepare(what);
    if (launch == NULL)
        return coil__failed(-ENOMEM);
    rc =
        coil__child_start(&launch->child, launch->stack_end, !launch->forks, pid, handle);
    if (rc < 0)
        rc = set_failure_message(launch, what, rc);
    destroy_launch(launch);
    return rc;
}
