/*
 * test_child.c - child processes and the kernel's handles for them.
 * (tests/unit/os/test_process.c tests what the children's programs inherit.)
 */
#include "../../harness/harness.h"

#include "../../../src/kernel/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES 16384

static _Alignas(16) char stack[STACK_BYTES];

static const char *const environment[] = {NULL};

/*
 * Start a shell that runs `script`, with `in` as its standard input. Returns the result
 * of coil__child_start().
 */
static int start(const char *program, const char *script, int in,
                 struct coil__child *child, pid_t *pid, int *handle)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const char *const paths[] = {program, NULL};

    *child = (struct coil__child){
        .what = {.argv = argv, .envp = environment, .stdio = {in, 1, 2}, .terminal = -1},
        .paths = paths};
    return coil__child_start(child, stack + STACK_BYTES, true, pid, handle);
}

static bool has_ended(int handle, int milliseconds)
{
    struct pollfd p = {.fd = handle, .events = POLLIN};

    return poll(&p, 1, milliseconds) == 1;
}

TEST(child_is_known_by_a_handle_until_it_is_reaped)
{
    struct coil__child child;
    int handle = -1, status = 0, in[2];
    pid_t pid;

    if (test_under_valgrind())
        test_skip("valgrind does not support pidfd_open(2)");
    CHECK(pipe(in) == 0);
    CHECK_INT(coil__child_handles(), 0);
    CHECK_INT(start("/bin/sh", "read x; exit 7", in[0], &child, &pid, &handle), 0);
    CHECK_INT(coil__child_reap(handle, &status), -EAGAIN);
    CHECK_INT(coil__child_signal(handle, 0), 0);
    coil__child_end(handle, SIGKILL);
    CHECK(has_ended(handle, 60000));
    CHECK_INT(coil__child_look(handle, &status), 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK_INT(coil__child_reap(handle, &status), 0);
    CHECK_INT(coil__child_reap(handle, &status), -ECHILD);
    CHECK_INT(coil__child_signal(handle, 0), -ESRCH);
    close(handle);
    close(in[0]);
    close(in[1]);
}

TEST(child_is_waited_for_with_the_thread)
{
    struct coil__child child;
    int handle = -1, status = 0;
    pid_t pid;

    CHECK_INT(start("/bin/sh", "exit 7", 0, &child, &pid, &handle), 0);
    CHECK_INT(coil__child_reap_now(handle, &status), 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    close(handle);
}

/*
 * Starting a nonexistent program fails. Under Valgrind and emulators, starting it
 * succeeds, but the child exits with an error: see src/os/spawn.c.
 */
TEST(child_that_has_no_program_is_no_child)
{
    struct coil__child child;
    int handle = -1, status;
    pid_t pid;

    if (start("/nowhere", "exit 7", 0, &child, &pid, &handle) == 0) {
        CHECK_INT(coil__child_reap_now(handle, &status), 0);
        CHECK_INT(WEXITSTATUS(status), 127);
        close(handle);
        return;
    }
    CHECK_INT(child.error, ENOENT);
    CHECK_INT(child.step, COIL__CHILD_EXEC);
    CHECK_INT(waitpid(pid, &status, 0), -1);
}
