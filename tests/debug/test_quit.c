/*
 * test_quit.c - Ctrl-\: all tasks are printed, the program goes on.
 */
#include "../harness/harness.h"

#include <coil.h>

#include <time.h>
#include <unistd.h>

static void run_to_its_end(coil_task_fn fn)
{
    int rc = coil_run(fn, NULL, NULL);

    fprintf(stderr, "ended with %d", rc);
    fflush(stderr);
    abort();
}

static int ask_and_sleep(void *arg)
{
    (void)arg;
    raise(SIGQUIT);
    return coil_sleep(COIL_MSEC(10));
}

/* A shell that has put the tests into the background may have it ignored. */
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
    test_dies(ask_once, NULL, "coil: 1 task\n- main waits 0.");
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

/* Two seconds of the processor's or of waiting in the kernel, as the caller likes. */
static int block(void *arg)
{
    struct timespec left = {.tv_sec = 2};

    raise(SIGQUIT);
    while (nanosleep(&left, &left) < 0)
        ;
    (void)arg;
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
              "coil: the loop has not turned for a second: task 'main' runs\n    0x");
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
