/*
 * freeze.c - stops the threads of loops for a moment, using ptrace(2).
 *
 * PTRACE_INTERRUPT stops a thread without a signal to the process. If this program dies,
 * the kernel lets the threads continue.
 */
#include "freeze.h"

#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

static bool stop(int thread)
{
    int status;

    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) < 0)
        return false;
    if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) == 0 &&
        waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status)) {
        /* A signal that arrived just now is delivered when the thread continues. */
        return true;
    }
    ptrace(PTRACE_DETACH, thread, NULL, NULL);
    errno = ESRCH;
    return false;
}

void thaw(const int *threads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ptrace(PTRACE_DETACH, threads[i], NULL, NULL);
}

bool freeze(const int *threads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!stop(threads[i])) {
            int error = errno;

            thaw(threads, i);
            errno = error;
            return false;
        }
    return true;
}
