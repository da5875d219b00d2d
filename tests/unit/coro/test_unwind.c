/*
 * test_unwind.c - debuggers and unwinders can walk a coroutine's stack up to its entry
 * function.
 */
#include "../../harness/harness.h"

#include "../../../src/coro/coroutine.h"
#include "../../../src/coro/switch.h"
#include "emulated.h"

#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <coil/coro.h>

static COIL__NOINLINE int unwind_innermost(int (*visit)(void))
{
    int n = visit();

    __asm__ volatile("");
    return n + 1;
}

static COIL__NOINLINE int unwind_middle(int (*visit)(void))
{
    int n = unwind_innermost(visit);

    __asm__ volatile("");
    return n + 1;
}

static void *unwind_outermost(void *visit)
{
    int n = unwind_middle((int (*)(void))visit);

    __asm__ volatile("");
    return (void *)(intptr_t)(n + 1);
}

static int count_frames(void)
{
    void *frames[64];

    return backtrace(frames, 64);
}

TEST(unwinder_stops_at_the_entry)
{
    coil_coro *coro;
    intptr_t frames;

    CHECK_INT(coil_coro_create(unwind_outermost, (void *)count_frames, NULL, &coro), 0);
    frames = (intptr_t)coil_coro_resume(coro, NULL) - 3;
    /*
     * The expected frames are visit(), three functions of the test, two of coil, and the
     * entry. There may be up to three more frames.
     */
    CHECK(frames >= 6 && frames <= 9);
    coil_coro_destroy(coro);
}

static int there[2]; /* a pipe to which the child writes a byte when it begins to wait */

static int wait_for_ever(void)
{
    int n = (int)write(there[1], "", 1);

    while (pause() < 0)
        n++;
    return n;
}

static pid_t start_waiting(void)
{
    coil_coro *coro;
    pid_t pid;
    char byte;

    CHECK_INT(pipe(there), 0);
    pid = fork();
    if (pid != 0) {
        close(there[1]);
        CHECK_INT(read(there[0], &byte, 1), 1);
        close(there[0]);
        return pid;
    }
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    coil_coro_create(unwind_outermost, (void *)wait_for_ever, NULL, &coro);
    coil_coro_resume(coro, NULL);
    _exit(1);
}

/*
 * Read a backtrace of the process from gdb. Demangling is off: without debug data, gdb
 * mistakes coil__coro_main for an Ada function, and prints coil.coro_main.
 */
static void read_backtrace(pid_t pid, char *text, size_t size)
{
    char command[128];
    FILE *gdb;
    size_t n;

    snprintf(command, sizeof command,
             "gdb -nx -batch -iex 'set debuginfod enabled off' "
             "-iex 'set print demangle off' -p %d -ex bt 2>&1",
             (int)pid);
    gdb = popen(command, "r");
    n = gdb != NULL ? fread(text, 1, size - 1, gdb) : 0;
    text[n] = '\0';
    if (gdb != NULL)
        pclose(gdb);
}

/*
 * Return true if the backtrace contains these functions in this order, and no frame after
 * the last one.
 */
static bool shows(const char *backtrace_text)
{
    static const char *const names[] = {"wait_for_ever",   "unwind_innermost",
                                        "unwind_middle",   "unwind_outermost",
                                        "coil__coro_main", "switch_entry"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        backtrace_text = strstr(backtrace_text, names[i]);
        if (backtrace_text == NULL)
            return false;
    }
    return strstr(backtrace_text, "\n#") == NULL;
}

TEST(gdb_shows_the_frames_of_a_coroutine)
{
    static char text[65536];
    pid_t pid;

    if (test_under_valgrind() || emulated())
        test_skip("gdb would see the emulator");
    if (system("command -v gdb >/dev/null 2>&1") != 0)
        test_skip("gdb is missing");
    pid = start_waiting();
    read_backtrace(pid, text, sizeof text);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (strstr(text, "#0") == NULL)
        test_skip("gdb is not allowed to attach here");
    CHECK(shows(text));
    CHECK(strstr(text, "corrupt") == NULL);
    CHECK(strstr(text, "Backtrace stopped") == NULL);
    if (!shows(text))
        fputs(text, stderr);
}

/* ---- a coroutine that is suspended ------------------------------------------------- */

static COIL__NOINLINE int suspend_here(void)
{
    coil_coro_suspend(NULL);
    __asm__ volatile("");
    return 0;
}

static void collect_frames(void *arg)
{
    void **frames = arg;

    frames[0] = (void *)(intptr_t)backtrace(frames + 1, 63);
}

#ifdef __OPTIMIZE__
#define NOT_INLINED (COIL__TSAN || COIL__ASAN)
#else
#define NOT_INLINED 6
#endif

TEST(unwinder_walks_a_suspended_coroutine)
{
    coil__coro *coro, *root = coil__coro_current();
    coil_coro *body;
    void *frames[64];
    intptr_t n;

    CHECK_INT(coil_coro_create(unwind_outermost, (void *)suspend_here, NULL, &body), 0);
    coil_coro_resume(body, NULL);
    coro = (coil__coro *)body; /* its first member */
    coil__switch_look(coro->sp, collect_frames, frames);
    n = (intptr_t)frames[0];
    /*
     * The expected frames are collect_frames(), the check, suspend_here(), three
     * functions of the test, two of coil, perhaps the switch, and the entry. There may be
     * a frame that notifies TSan, and frames of functions that are not inlined at -O1 or
     * -O0. An endless walk would fill the whole array.
     */
    CHECK(n >= 8 && n <= 12 + COIL__TSAN + NOT_INLINED);
    CHECK_PTR(coil__coro_current(), root);
    coil_coro_resume(body, NULL);
    CHECK(coil_coro_done(body));
    coil_coro_destroy(body);
}
