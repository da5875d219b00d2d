/*
 * checks.c - implements CHECK() and its variants, the trace, and test_dies().
 */
#include "run.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic bool complained;

void test__complain(const char *format, ...)
{
    va_list args;

    complained = true;
    fflush(stdout);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

bool test__complained(void)
{
    return complained;
}

void test__check(const char *file, int line, const char *text, bool holds)
{
    if (!holds)
        test__complain("%s:%d: check failed: %s", file, line, text);
}

/*
 * Return the name of an errno, such as " (-ENOENT)" for -2, to print after the number.
 * Returns "" for other numbers.
 */
static const char *errno_note(long long n)
{
    const char *name = n < 0 && n > -4096 ? strerrorname_np((int)-n) : NULL;
    static _Thread_local char note[2][32];
    static _Thread_local unsigned turn;

    if (name == NULL)
        return "";
    turn ^= 1;
    snprintf(note[turn], sizeof note[turn], " (-%s)", name);
    return note[turn];
}

void test__check_int(const char *file, int line, const char *text, long long actual,
                     long long expected)
{
    if (actual != expected)
        test__complain("%s:%d: %s is %lld%s, not %lld%s", file, line, text, actual,
                       errno_note(actual), expected, errno_note(expected));
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static const char *or_null(const char *text)
{
    return text != NULL ? text : "(null)";
}

void test__check_str(const char *file, int line, const char *text, const char *actual,
                     const char *expected)
{
    if (!same_text(actual, expected))
        test__complain("%s:%d: %s differs\n  actual:   \"%s\"\n  expected: \"%s\"", file,
                       line, text, or_null(actual), or_null(expected));
}

void test__check_ptr(const char *file, int line, const char *text, const void *actual,
                     const void *expected)
{
    if (actual != expected)
        test__complain("%s:%d: %s is %p, not %p", file, line, text, actual, expected);
}

/* ---- the trace --------------------------------------------------------------------- */

static pthread_mutex_t trace_lock = PTHREAD_MUTEX_INITIALIZER;
static char trace[64 * 1024];
static size_t trace_length;

void test_trace(const char *format, ...)
{
    size_t room;
    va_list args;
    int n;

    pthread_mutex_lock(&trace_lock);
    room = sizeof trace - trace_length;
    va_start(args, format);
    n = vsnprintf(trace + trace_length, room, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < room)
        trace_length += (size_t)n;
    else
        trace[trace_length] = '\0';
    pthread_mutex_unlock(&trace_lock);
    if (n < 0 || (size_t)n >= room)
        test__complain("the trace is longer than %zu bytes", sizeof trace);
}

const char *test_trace_text(void)
{
    return trace;
}

void test_trace_clear(void)
{
    trace_length = 0;
    trace[0] = '\0';
}

void test__check_trace(const char *file, int line, const char *expected)
{
    test__check_str(file, line, "the trace", trace, expected);
    test_trace_clear();
}

/* ---- programs that abort ----------------------------------------------------------- */

/*
 * In the child process, run fn(arg), which should end the process with the signal. No
 * core file is written.
 */
static void run_to_death(int stderr_fd, void (*fn)(void *), void *arg, int signo)
{
    struct rlimit none = {0, 0};

    dup2(stderr_fd, STDERR_FILENO);
    close(stderr_fd);
    setrlimit(RLIMIT_CORE, &none);
    signal(signo, SIG_DFL);
    fn(arg);
    _exit(0);
}

/*
 * Read until end of file, so that the writer never blocks. Data that does not fit into
 * the buffer is discarded.
 */
static void read_all(int fd, char *buffer, size_t size)
{
    size_t length = 0;
    char dropped[512];
    ssize_t n;

    do {
        bool full = length + 1 == size;

        n = read(fd, full ? dropped : buffer + length,
                 full ? sizeof dropped : size - 1 - length);
        if (n > 0 && !full)
            length += (size_t)n;
    } while (n > 0);
    buffer[length] = '\0';
}

void test__dies(const char *file, int line, const char *name, void (*fn)(void *),
                void *arg, int signo, const char *text)
{
    static char words[16 * 1024];
    int ends[2], status;
    pid_t child;

    fflush(NULL);
    /*
     * fn() may need the loop, so use _Fork(). fork() would run coil's fork handlers,
     * which detach the child from the loop.
     */
    if (pipe(ends) < 0 || (child = _Fork()) < 0) {
        test__complain("%s:%d: cannot start a process for %s()", file, line, name);
        return;
    }
    if (child == 0) {
        close(ends[0]);
        run_to_death(ends[1], fn, arg, signo);
    }
    close(ends[1]);
    read_all(ends[0], words, sizeof words);
    close(ends[0]);
    waitpid(child, &status, 0);

    if (!WIFSIGNALED(status) || WTERMSIG(status) != signo)
        test__complain("%s:%d: %s() did not die by SIG%s (wait status %#x); stderr:\n%s",
                       file, line, name, sigabbrev_np(signo), (unsigned)status, words);
    else if (strstr(words, text) == NULL)
        test__complain("%s:%d: %s() died, but did not print \"%s\"; stderr:\n%s", file,
                       line, name, text, words);
}

void test_skip(const char *reason)
{
    printf("%s\n", reason);
    test__end_skipped();
}

bool test_under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return preloaded != NULL && strstr(preloaded, "vgpreload") != NULL;
}

/*
 * Shorten a path as reports do: the compiler drops one "../" from __FILE__ (see
 * meson.build), and src/error/symbol.c drops all but the last three components.
 */
const char *test__place(const char *function, const char *file)
{
    static char place[256];
    const char *at = file + strlen(file);
    int names = 3;

    if (strncmp(file, "../", 3) == 0)
        while (at > file && (at[-1] != '/' || --names > 0))
            at--;
    else
        at = file;
    snprintf(place, sizeof place, "%s at %s:", function, at);
    return place;
}
