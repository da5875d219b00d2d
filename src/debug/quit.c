/*
 * quit.c - prints all tasks when the user presses Ctrl-\, and lets the program continue.
 *
 * The SIGQUIT handler requests a dump from the loop and sets a timer of one second. In
 * the loop's next turn, the loop stops the timer and prints all tasks, with symbols. If
 * the loop does not get to its next turn within that second, the timer's signal calls the
 * handler again, on the loop's thread. In that case the handler itself prints what it can
 * read without a lock: the name of the running task or the address of the callback, and
 * the return addresses on the stack, which the handler finds by following the frame
 * pointers.
 */
#include "quit.h"

#include "../coro/coroutine.h"
#include "../error/report.h"
#include "../kernel/registers.h"
#include "../kernel/thread.h"
#include "../task/task.h"

#include <coil/debug.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define FRAMES_MAX 32
/* Addresses that are further from the program's start than this belong to libraries. */
#define PROGRAM_BYTES_MAX ((uintptr_t)1 << 30)

static struct {
    coil_loop *loop;
    struct coil__runnable runnable;
    struct sigaction previous;
    struct coil__thread_alarm alarm;
    /* The end of the printed part of the thread's own stack, above the loop's frames. */
    const char *stack_end;
    /* The address at which the program was loaded. */
    uintptr_t program;
    /* A dump was requested, but the loop has not begun it yet. */
    _Atomic bool missing;
    _Atomic int64_t pressed_at;
} quit;

/* ---- in the loop ------------------------------------------------------------------- */

static void print_dump(struct coil__runnable *runnable)
{
    (void)runnable;
    coil__thread_alarm_set(&quit.alarm, 0);
    quit.missing = false;
    coil_dump(stderr);
}

/* ---- in the handler ---------------------------------------------------------------- */

/* Print an address, and its offset in the program, which addr2line(1) needs. */
static void print_address(struct coil__report *report, uintptr_t address)
{
    coil__report_open(report, NULL, '{');
    coil__report_value(report, "address", "    0x%zx", (size_t)address);
    if (address - quit.program < PROGRAM_BYTES_MAX)
        coil__report_value(report, "offset", " (program + 0x%zx)",
                           (size_t)(address - quit.program));
    coil__report_words(report, "\n");
    coil__report_close(report, '}');
}

/*
 * Print the return addresses in a chain of frames. Each frame begins with the address of
 * the next outer frame, which is followed by the return address. Code that was compiled
 * without frame pointers can store any value in the register, so an address is accepted
 * as a frame's only if it is further out than the last one and on the same stack.
 */
static void print_frame_chain(struct coil__report *report, const char *const *frame,
                              const char *low, const char *high)
{
    for (int i = 0; i < FRAMES_MAX; i++) {
        const char *here = (const char *)frame;

        if (here < low || here + 2 * sizeof *frame > high ||
            (uintptr_t)here % sizeof *frame != 0)
            return;
        if (frame[1] == NULL)
            return;
        print_address(report, (uintptr_t)frame[1]);
        low = here + sizeof *frame;
        frame = (const char *const *)frame[0];
    }
}

static void print_what_runs(struct coil__report *report)
{
    const coil_task *task = coil__scheduler.current;

    coil__report_words(report, "coil: the loop has not run for a second: ");
    if (task != NULL)
        coil__report_value(report, "task", "task '%s' runs\n", coil_task_name(task));
    else
        coil__report_value(report, "callback", "a callback runs, 0x%zx\n",
                           (size_t)(uintptr_t)coil__loop_callback(quit.loop));
}

static void print_where(const void *context)
{
    const struct coil__registers at = coil__registers_of(context);
    const char *const *frame = (const char *const *)at.frame;
    const coil__coro *coro = coil__coro_current();
    bool in_slot = coil__stack_in_slot(&coro->stack);
    struct coil__message line = {.length = 0};
    struct coil__report report;

    coil__report_begin_in_handler(&report, &line, "blocked");
    print_what_runs(&report);
    coil__report_open(&report, "frames", '[');
    print_address(&report, at.pc);
    print_frame_chain(&report, frame, in_slot ? coro->stack.low : (const char *)at.sp,
                      in_slot ? coro->stack.high : quit.stack_end);
    coil__report_close(&report, ']');
    coil__report_end_in_handler(&report);
}

static void on_press(int signo)
{
    int64_t now = coil__clock_monotonic();

    if (quit.pressed_at != 0 && now - quit.pressed_at < COIL_SEC(1)) {
        signal(signo, SIG_DFL);
        raise(signo); /* the signal is delivered when the handler returns */
        return;
    }
    quit.pressed_at = now;
    quit.missing = true;
    coil__thread_alarm_set(&quit.alarm, COIL_SEC(1));
    coil__loop_ask_for_dump(quit.loop);
}

static void on_sigquit(int signo, siginfo_t *info, void *context)
{
    int saved = errno;

    if (quit.loop == NULL || quit.loop->pid != getpid()) {
        /*
         * Either this is a forked child, or the run is over: the program replaced this
         * handler during the run, and restored it afterwards.
         */
        signal(signo, SIG_DFL);
        raise(signo);
    } else if (info->si_code != SI_TIMER)
        on_press(signo);
    else if (quit.missing)
        print_where(context);
    errno = saved;
}

/* ---- installing and removing the handler ------------------------------------------- */

bool coil__quit_install(coil_loop *loop, const void *body, const void *frame)
{
    struct sigaction action = {.sa_sigaction = on_sigquit,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    Dl_info info;

    if (sigaction(SIGQUIT, NULL, &quit.previous) < 0)
        return false;
    if (quit.previous.sa_sigaction == on_sigquit)
        quit.previous = (struct sigaction){.sa_handler = SIG_DFL};
    if (quit.previous.sa_handler != SIG_DFL ||
        !coil__thread_alarm_create(&quit.alarm, SIGQUIT))
        return false;
    quit.loop = loop;
    quit.stack_end = frame;
    quit.program = dladdr(body, &info) != 0 ? (uintptr_t)info.dli_fbase : 0;
    quit.missing = false;
    quit.pressed_at = 0;
    coil__runnable_init(&quit.runnable, print_dump);
    coil__loop_set_on_dump(loop, &quit.runnable);
    if (sigaction(SIGQUIT, &action, NULL) == 0)
        return true;
    coil__quit_uninstall(loop);
    return false;
}

void coil__quit_uninstall(coil_loop *loop)
{
    struct sigaction now;

    if (sigaction(SIGQUIT, NULL, &now) == 0 && now.sa_sigaction == on_sigquit)
        sigaction(SIGQUIT, &quit.previous, NULL);
    coil__thread_alarm_destroy(&quit.alarm);
    coil__loop_set_on_dump(loop, NULL);
    coil__list_remove(&quit.runnable.link);
    quit.loop = NULL;
}
