/*
 * test_quit.c - Ctrl-\ prints all tasks, and the program continues.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- captured output --------------------------------------------------------------- */

static int printed = -1, usual_stderr;

/*
 * Redirect standard error to a file, which the test reads later, and copies to the
 * previous standard error.
 */
static void keep_what_is_said(void)
{
    usual_stderr = dup(STDERR_FILENO);
    printed = memfd_create("printed", MFD_CLOEXEC);
    dup2(printed, STDERR_FILENO);
}

static bool was_said(const char *words)
{
    char text[8192];
    ssize_t n = pread(printed, text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    return strstr(text, words) != NULL;
}

static void pass_on_what_was_said(void)
{
    char text[8192];
    ssize_t n = printed >= 0 ? pread(printed, text, sizeof text, 0) : 0;

    if (n > 0)
        n = write(usual_stderr, text, (size_t)n);
}

/* ---- runs -------------------------------------------------------------------------- */

static void run_to_its_end(coil_task_fn fn)
{
    int rc = coil_run(fn, NULL, NULL);

    fprintf(stderr, "ended with %d", rc);
    fflush(stderr);
    pass_on_what_was_said();
    abort();
}

static int ask_and_sleep(void *arg)
{
    (void)arg;
    raise(SIGQUIT);
    return coil_sleep(COIL_MSEC(10));
}

/*
 * Run with the default action of SIGQUIT: if a shell runs the tests in the background, it
 * may have made them ignore the signal.
 */
static void run_with_default(coil_task_fn fn)
{
    signal(SIGQUIT, SIG_DFL);
    run_to_its_end(fn);
}

static void ask_once(void *arg)
{
    (void)arg;
    run_with_default(ask_and_sleep);
}

TEST(sigquit_prints_all_tasks_and_the_program_goes_on)
{
    test_dies(ask_once, NULL, "coil: 1 task\n- main waits ");
    test_dies(ask_once, NULL, "ended with 0");
}

static int ask_twice_slowly(void *arg)
{
    raise(SIGQUIT);
    coil_sleep(COIL_MSEC(1100));
    return ask_and_sleep(arg);
}

static void ask_and_ask(void *arg)
{
    (void)arg;
    run_with_default(ask_twice_slowly);
}

TEST(sigquit_again_after_a_second_prints_again)
{
    test_dies(ask_and_ask, NULL, "ended with 0");
}

static int ask_twice(void *arg)
{
    raise(SIGQUIT);
    raise(SIGQUIT);
    (void)arg;
    return 0;
}

static void ask_twice_at_once(void *arg)
{
    (void)arg;
    run_with_default(ask_twice);
}

TEST(sigquit_twice_within_a_second_ends_the_program)
{
    test_dies_by_signal(ask_twice_at_once, NULL, SIGQUIT, "");
}

static const char said_of_a_block[] = "coil: the loop has not run for a second";

/*
 * Send SIGQUIT, and block the thread with system calls until the report has been printed.
 */
static int block(void *arg)
{
    (void)arg;
    keep_what_is_said();
    raise(SIGQUIT);
    while (!was_said(said_of_a_block))
        usleep(100000);
    return 0;
}

static void block_a_task(void *arg)
{
    (void)arg;
    run_with_default(block);
}

TEST(sigquit_names_the_task_that_blocks_the_loop)
{
    test_dies(block_a_task, NULL,
              "coil: the loop has not run for a second: task 'main' runs\n    0x");
    test_dies(block_a_task, NULL, "coil: 0 tasks\nended with 0");
}

static void block_in_a_callback(void *arg)
{
    block(arg);
}

static int call_back(void *arg)
{
    coil_call_soon(block_in_a_callback, arg, NULL);
    return coil_sleep(COIL_MSEC(1));
}

static void block_a_callback(void *arg)
{
    (void)arg;
    run_with_default(call_back);
}

TEST(sigquit_names_the_callback_that_blocks_the_loop)
{
    test_dies(block_a_callback, NULL, "a second: a callback runs, 0x");
}

#if defined(__x86_64__)

/* Block in code that uses the frame pointer's register for something else. */
static void block_without_a_frame_pointer(void *arg)
{
    struct timespec nap = {.tv_nsec = 100000000};
    long rc;

    (void)arg;
    keep_what_is_said();
    raise(SIGQUIT);
    while (!was_said(said_of_a_block))
        __asm__ volatile("mov %%rbp, %%rbx\n\t"
                         "mov %[frame], %%rbp\n\t"
                         "syscall\n\t"
                         "mov %%rbx, %%rbp"
                         : "=a"(rc)
                         : "0"((long)SYS_nanosleep), "D"(&nap),
                           "S"(NULL), [frame] "r"((uintptr_t)16)
                         : "rbx", "rcx", "r11", "memory");
}

static int call_back_without_a_frame_pointer(void *arg)
{
    coil_call_soon(block_without_a_frame_pointer, arg, NULL);
    return coil_sleep(COIL_MSEC(1));
}

static void block_a_callback_without_a_frame_pointer(void *arg)
{
    (void)arg;
    run_with_default(call_back_without_a_frame_pointer);
}

TEST(sigquit_follows_no_frame_pointer_that_lies_outside_of_the_stack)
{
    test_dies(block_a_callback_without_a_frame_pointer, NULL,
              "a second: a callback runs, 0x");
    test_dies(block_a_callback_without_a_frame_pointer, NULL, "ended with 0");
}

#endif

static void on_quit_of_ours(int signo)
{
    (void)signo;
    fputs("ours ", stderr);
}

static void ask_with_a_handler(void *arg)
{
    (void)arg;
    signal(SIGQUIT, on_quit_of_ours);
    run_to_its_end(ask_and_sleep);
}

TEST(sigquit_is_left_alone_where_somebody_has_taken_it)
{
    test_dies(ask_with_a_handler, NULL, "ours ended with 0");
}

static int do_nothing(void *arg)
{
    (void)arg;
    return 0;
}

static void ask_after_the_run(void *arg)
{
    (void)arg;
    coil_run(do_nothing, NULL, NULL);
    raise(SIGQUIT);
}

TEST(sigquit_is_given_back)
{
    test_dies_by_signal(ask_after_the_run, NULL, SIGQUIT, "");
}
