/*
 * quit.c - Ctrl-\ shows all tasks, and the program goes on.
 *
 * The handler asks the loop for a dump and sets a timer of a second. The loop prints it
 * in its next turn, with symbols, and stops the timer. If it does not come to that, it is
 * the timer's signal that finds the dump still missing: then something has not returned
 * for a second, on this very thread, and the handler prints what can be had without a
 * lock: which task or callback it is, and the addresses of the functions it is in, as far
 * as frame pointers lead.
 */
#include "../base/fault.h"
#include "../base/line.h"
#include "../coro/coroutine.h"
#include "../error/symbol.h"
#include "../task/above.h"
#include "../task/task.h"

#include <coil/debug.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define FRAMES_MAX 32
/* What lies further behind its beginning is a library. */
#define PROGRAM_BYTES_MAX ((uintptr_t)1 << 30)

static struct {
    coil_loop *loop;
    struct coil__runnable runnable;
    struct sigaction previous;
    timer_t timer;
    const char *stack_end; /* of the thread's own stack: above the loop's frames */
    uintptr_t program;     /* where it was loaded */
    _Atomic bool missing;  /* a dump was asked for and not begun */
    _Atomic int64_t pressed_at;
} quit;

/* ---- in the loop ---------------------------------------------------------------------
 */

static void set_timer(int64_t span_ns)
{
    struct itimerspec when = {.it_value.tv_sec = span_ns / COIL_SEC(1)};

    timer_settime(quit.timer, 0, &when, NULL);
}

static void print_dump(struct coil__runnable *runnable)
{
    (void)runnable;
    set_timer(0);
    quit.missing = false;
    coil_dump(stderr);
}

/* ---- in the handler ------------------------------------------------------------------
 */

static uintptr_t interrupted_at(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
    return (uintptr_t)context->uc_mcontext.pc;
#endif
}

/* Offsets are what addr2line(1) takes of a program that is loaded anywhere. */
static void print_address(uintptr_t address)
{
    struct coil__message line = {.length = 0};

    coil__line_add(&line, "    0x");
    coil__line_add_number(&line, address, 16);
    if (address - quit.program < PROGRAM_BYTES_MAX) {
        coil__line_add(&line, " (program + 0x");
        coil__line_add_number(&line, address - quit.program, 16);
        coil__line_add(&line, ")");
    }
    coil__line_add(&line, "\n");
    coil__line_write(&line);
}

/*
 * A frame begins with the address of the one around it and with the return address. Code
 * without frame pointers may keep anything in that register: only what lies above, in
 * the same stack, is believed.
 */
static void print_frames(const char *const *frame, const char *low, const char *high)
{
    for (int i = 0; i < FRAMES_MAX; i++) {
        const char *here = (const char *)frame;

        if (here < low || here + 2 * sizeof *frame > high ||
            (uintptr_t)here % sizeof *frame != 0)
            return;
        if (frame[1] == NULL)
            return;
        print_address((uintptr_t)frame[1]);
        low = here + sizeof *frame;
        frame = (const char *const *)frame[0];
    }
}

static void print_what_runs(void)
{
    const coil_task *task = coil__scheduler.current;
    struct coil__message line = {.length = 0};

    coil__line_add(&line, "coil: the loop has not turned for a second: ");
    if (task != NULL) {
        coil__line_add(&line, "task '");
        coil__line_add(&line, task->name);
        coil__line_add(&line, "' runs");
    } else {
        coil__line_add(&line, "a callback runs, 0x");
        coil__line_add_number(&line, (uintptr_t)quit.loop->callback, 16);
    }
    coil__line_add(&line, "\n");
    coil__line_write(&line);
}

/* The first frame is the handler's own, whose outer one is what was interrupted. */
static void print_where(const ucontext_t *context)
{
    const char *const *own = __builtin_frame_address(0);
    const coil__coro *coro = coil__coro_current();
    bool in_slot = coro->stack.slot != NULL;

    print_what_runs();
    print_address(interrupted_at(context));
    print_frames((const char *const *)own[0],
                 in_slot ? coro->stack.low : (const char *)own[0],
                 in_slot ? coro->stack.high : quit.stack_end);
}

static void on_press(int signo)
{
    int64_t now = coil__clock_monotonic();

    if (quit.pressed_at != 0 && now - quit.pressed_at < COIL_SEC(1)) {
        signal(signo, SIG_DFL);
        raise(signo); /* delivered when the handler returns */
        return;
    }
    quit.pressed_at = now;
    quit.missing = true;
    set_timer(COIL_SEC(1));
    coil__loop_ask_for_dump(quit.loop);
}

static void on_sigquit(int signo, siginfo_t *info, void *context)
{
    int saved = errno;

    if (quit.loop == NULL || quit.loop->pid != getpid()) {
        /* Put aside by a handler set during the run, and restored since. */
        signal(signo, SIG_DFL);
        raise(signo);
    } else if (info->si_code != SI_TIMER)
        on_press(signo);
    else if (quit.missing)
        print_where(context);
    errno = saved;
}

/* ---- taking it, and giving it back ---------------------------------------------------
 */

static bool create_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGQUIT};

    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    return COIL__CALL(EAGAIN, timer_create(CLOCK_MONOTONIC, &event, &quit.timer)) == 0;
}

bool coil__quit_install(coil_loop *loop, const void *body, const void *frame)
{
    struct sigaction action = {.sa_sigaction = on_sigquit,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    Dl_info info;

    if (sigaction(SIGQUIT, NULL, &quit.previous) < 0)
        return false;
    if (quit.previous.sa_sigaction == on_sigquit)
        quit.previous = (struct sigaction){.sa_handler = SIG_DFL};
    if (quit.previous.sa_handler != SIG_DFL || !create_timer())
        return false;
    quit.loop = loop;
    quit.stack_end = frame;
    quit.program = dladdr(body, &info) != 0 ? (uintptr_t)info.dli_fbase : 0;
    quit.missing = false;
    quit.pressed_at = 0;
    coil__runnable_init(&quit.runnable, print_dump);
    loop->on_dump = &quit.runnable;
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
    timer_delete(quit.timer);
    loop->on_dump = NULL;
    coil__list_remove(&quit.runnable.link);
    quit.loop = NULL;
}
