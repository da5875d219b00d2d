/*
 * test_slow.c - in debug mode, coil names the code that blocks the loop.
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"

#include <coil.h>

#include <dirent.h>
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLOW COIL_MSEC(20)

/*
 * All reports so far. On a busy machine, other steps may be reported as slow in addition
 * to the expected one.
 */
static char reports[16 * 1024];

static void note_report(const coil_exception *exception, void *arg)
{
    size_t n = strlen(reports);

    (void)arg;
    snprintf(reports + n, sizeof reports - n, "%s\n", exception->message);
}

static void watch_for_slow_things(void)
{
    reports[0] = '\0';
    coil_set_exception_handler(note_report, NULL);
    coil_set_slow_callback_ns(SLOW);
    coil_set_debug(true);
    coil_yield(); /* the next step is the first one that is timed */
}

static void block(int64_t ns)
{
    struct timespec left = {.tv_nsec = ns};

    while (nanosleep(&left, &left) < 0)
        ;
}

static int block_in_a_task(void *arg)
{
    (void)arg;
    block(2 * SLOW);
    return 0;
}

static void block_in_a_callback(void *arg)
{
    (void)arg;
    block(2 * SLOW);
}

static bool has_symbols(void)
{
    return strstr(reports, " at ") != NULL;
}

/*
 * Check that a report begins with `beginning` and contains "took" with at least 0.040
 * seconds.
 */
static void check_reported(const char *beginning)
{
    const char *found = reports, *took;
    double seconds = 0;

    while (seconds < 0.04 && (found = strstr(found, beginning)) != NULL) {
        found += strlen(beginning);
        took = strstr(found, " took ");
        seconds = took != NULL ? atof(took + strlen(" took ")) : 0;
    }
    CHECK(seconds >= 0.04);
    if (seconds < 0.04)
        fputs(reports, stderr);
}

TASK_TEST(debug_names_a_slow_step)
{
    coil_spawn_opts opts = {.name = "sloth"};
    coil_task *task;

    watch_for_slow_things();
    coil_spawn(block_in_a_task, NULL, &opts, &task);
    coil_task_await(task);
    coil_task_release(task);
    check_reported("Executing task 'sloth', spawned by ");
    CHECK(!has_symbols() || strstr(reports, test_place("")) != NULL);
}

TASK_TEST(debug_names_a_slow_callback)
{
    watch_for_slow_things();
    coil_call_soon(block_in_a_callback, NULL, NULL);
    coil_sleep(COIL_MSEC(1));
    check_reported("Executing ");
    CHECK(strstr(reports, ", requested by ") != NULL);
    if (has_symbols())
        check_reported(test_place("Executing block_in_a_callback"));
}

/*
 * The duration differs from that in block_in_a_callback(), because the compiler may merge
 * functions with the same code.
 */
static void block_when_done(coil_future *future, void *arg)
{
    (void)future, (void)arg;
    block(3 * SLOW);
}

TASK_TEST(debug_names_a_slow_done_callback_and_a_slow_timer)
{
    coil_future *future;
    coil_timer timer;

    watch_for_slow_things();
    coil_future_create(&future);
    coil_future_add_callback(future, block_when_done, NULL);
    coil_future_set(future, 0, NULL, NULL);
    coil_sleep(COIL_MSEC(1));
    check_reported("Executing ");
    if (has_symbols())
        check_reported("Executing block_when_done at ");
    coil_future_release(future);
    reports[0] = '\0';
    coil_timer_init(&timer, block_in_a_callback, NULL);
    coil_timer_start(&timer, coil_in(COIL_MSEC(1)));
    coil_sleep(COIL_MSEC(2));
    check_reported("Executing ");
    if (has_symbols())
        check_reported("Executing block_in_a_callback at ");
}

TASK_TEST(debug_is_silent_about_what_is_fast_and_when_it_is_off)
{
    coil_task *task;

    watch_for_slow_things();
    coil_set_slow_callback_ns(COIL_SEC(1000));
    reports[0] = '\0';
    coil_call_soon(block_in_a_callback, NULL, NULL);
    coil_sleep(COIL_MSEC(1));
    CHECK_STR(reports, "");
    coil_set_debug(false);
    CHECK(!coil_debug());
    coil_yield();
    coil_set_slow_callback_ns(0);
    coil_spawn(block_in_a_task, NULL, NULL, &task);
    coil_task_await(task);
    coil_task_release(task);
    CHECK_STR(reports, "");
}

/* ---- sampled stacks ---------------------------------------------------------------- */

/* Return false if a sanitizer replaces functions of the C library. */
static bool calls_are_the_librarys(void)
{
    return !COIL__ASAN && !COIL__TSAN;
}

/*
 * Run the task repeatedly until a report names the place: on a busy machine, the sampler
 * may miss a blocking call.
 */
static void run_until_reported(coil_task_fn body, const char *place)
{
    for (int i = 0; i < 200 && strstr(reports, place) == NULL; i++) {
        coil_task *task;

        reports[0] = '\0';
        coil_spawn(body, NULL, NULL, &task);
        coil_task_await(task);
        coil_task_release(task);
    }
    CHECK(strstr(reports, place) != NULL);
    if (strstr(reports, place) == NULL)
        fputs(reports, stderr);
}

static int sleep_in_a_task(void *arg)
{
    (void)arg;
    CHECK_INT(nanosleep(&(struct timespec){.tv_nsec = 3 * SLOW}, NULL), 0);
    return 0;
}

static int poll_in_a_task(void *arg)
{
    (void)arg;
    CHECK_INT(poll(NULL, 0, 60), 0);
    return 0;
}

static COIL__NOINLINE void compute(void)
{
    int64_t end = coil_now() + 3 * SLOW;

    while (coil_now() < end)
        for (volatile int i = 0; i < 100 * 1000; i++)
            ;
    __asm__ volatile("");
}

static int compute_in_a_task(void *arg)
{
    (void)arg;
    compute();
    return 0;
}

static void skip_without_sampler(void)
{
    if (test_under_valgrind())
        test_skip("under Valgrind the position of a thread is unknown");
}

IO_TEST(debug_names_the_call_that_blocks_and_does_not_interrupt_it)
{
    skip_without_sampler();
    watch_for_slow_things();
    if (calls_are_the_librarys()) {
        run_until_reported(sleep_in_a_task, " seconds, in nanosleep in libc");
        run_until_reported(poll_in_a_task, " seconds, in poll in libc");
    } else {
        run_until_reported(sleep_in_a_task, " seconds, in ");
        run_until_reported(poll_in_a_task, " seconds, in ");
    }
    if (has_symbols() && calls_are_the_librarys())
        run_until_reported(poll_in_a_task, test_place("called by poll_in_a_task"));
}

IO_TEST(debug_names_the_function_that_computes)
{
    skip_without_sampler();
    if (COIL__TSAN)
        test_skip("TSan delays signals while a thread makes no calls");
    watch_for_slow_things();
    run_until_reported(compute_in_a_task, " seconds, in ");
    if (has_symbols() && calls_are_the_librarys())
        run_until_reported(compute_in_a_task, test_place("compute"));
}

void block_in_a_large_frame(void);

/*
 * A function with a frame of 60 KiB, which is larger than the 16 KiB of stack that the
 * sampler copies. There is no frame pointer, so the unwinder computes the frame's end
 * from the stack pointer.
 */
#if defined(__x86_64__)
__asm__(".text\n"
        ".type block_in_a_large_frame, @function\n"
        "block_in_a_large_frame:\n"
        ".cfi_startproc\n"
        "subq $61448, %rsp\n"
        ".cfi_def_cfa_offset 61456\n"
        "movl $60000, %edi\n"
        "call usleep@plt\n"
        "addq $61448, %rsp\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size block_in_a_large_frame, . - block_in_a_large_frame\n");
#else
COIL__NOINLINE void block_in_a_large_frame(void)
{
    volatile char frame[60 * 1024];

    frame[0] = 0;
    usleep(60000);
    frame[1] = frame[0];
}
#endif

static int block_in_a_large_frame_in_a_task(void *arg)
{
    (void)arg;
    block_in_a_large_frame();
    return 0;
}

/*
 * Fill the memory next to the sampler's copy of the stack with garbage: if the sampler
 * read a return address from there, it would crash.
 */
IO_TEST(debug_samples_a_stack_whose_frames_are_larger_than_the_copy)
{
    enum { BLOCKS = 64, BLOCK_BYTES = 8 * 1024 };
    coil_spawn_opts opts = {.stack_bytes = 256 * 1024};
    void *blocks[BLOCKS];
    coil_task *task;

    skip_without_sampler();
    watch_for_slow_things();
    for (int i = 0; i < BLOCKS; i++)
        memset(blocks[i] = malloc(BLOCK_BYTES), 0x5a, BLOCK_BYTES);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(coil_spawn(block_in_a_large_frame_in_a_task, NULL, &opts, &task), 0);
        coil_task_await(task);
        coil_task_release(task);
    }
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    CHECK(strstr(reports, "Executing ") != NULL);
}

/*
 * Redirect standard error to a pipe, and continue this step until the pipe contains a
 * report about the step.
 */
static int read_until_reported(void *arg)
{
    int fds[2], kept = dup(STDERR_FILENO);
    size_t n = 0;
    ssize_t got;

    (void)arg;
    CHECK_INT(pipe(fds), 0);
    dup2(fds[1], STDERR_FILENO);
    do {
        got = read(fds[0], reports + n, sizeof reports - 1 - n);
        n += got > 0 ? (size_t)got : 0;
    } while (got > 0 && memchr(reports, '\n', n) == NULL);
    reports[n] = '\0';
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(fds[0]);
    close(fds[1]);
    return 0;
}

IO_TEST(debug_names_a_step_that_does_not_end)
{
    coil_spawn_opts opts = {.name = "stuck"};
    coil_task *task;
    char text[sizeof reports];

    skip_without_sampler();
    watch_for_slow_things();
    coil_set_exception_handler(NULL, NULL);
    coil_set_slow_callback_ns(COIL_SEC(1));
    coil_spawn(read_until_reported, NULL, &opts, &task);
    coil_yield();
    memcpy(text, reports, sizeof text);
    coil_task_await(task);
    coil_task_release(task);
    CHECK(strstr(text, "coil: Executing task 'stuck', spawned by ") == text);
    CHECK(strstr(text, " so far, in ") != NULL);
    if (calls_are_the_librarys())
        CHECK(strstr(text, " so far, in read in libc") != NULL);
}

static int samplers(void)
{
    DIR *threads = opendir("/proc/self/task");
    struct dirent *entry;
    char path[300], name[32];
    int n = 0;

    while ((entry = readdir(threads)) != NULL) {
        FILE *file;

        snprintf(path, sizeof path, "/proc/self/task/%.200s/comm", entry->d_name);
        file = fopen(path, "r");
        if (file != NULL && fgets(name, sizeof name, file) != NULL)
            n += strcmp(name, "coil-sampler\n") == 0;
        if (file != NULL)
            fclose(file);
    }
    closedir(threads);
    return n;
}

/* Wait until the sampler's thread runs, and has set its name. */
static void wait_for_sampler(void)
{
    while (samplers() == 0)
        coil_sleep(COIL_MSEC(1));
}

/*
 * Wait until the sampler's thread is gone. A joined thread may still be listed in /proc
 * for a moment.
 */
static void wait_without_sampler(void)
{
    while (samplers() > 0)
        usleep(1000);
}

static int have_a_sampler_in_debug_mode(void *arg)
{
    (void)arg;
    coil_yield();
    CHECK_INT(samplers(), 0);
    coil_set_debug(true);
    coil_yield();
    coil_yield();
    wait_for_sampler();
    coil_set_debug(false);
    wait_without_sampler();
    coil_set_debug(true);
    coil_yield();
    coil_yield();
    wait_for_sampler();
    return 0;
}

TEST(only_debug_mode_starts_a_sampler)
{
    coil_run_opts opts = {.no_signals = true};

    skip_without_sampler();
    CHECK_INT(coil_run(have_a_sampler_in_debug_mode, NULL, &opts), 0);
    wait_without_sampler();
}

static int wait_for_nothing(void *arg)
{
    coil_future *future;
    int rc;

    (void)arg;
    coil_future_create(&future);
    rc = coil_await(future);
    coil_future_release(future);
    return rc;
}

static void ignore(const coil_exception *exception, void *arg)
{
    (void)exception, (void)arg;
}

static int wait_for_nothing_quietly(void *arg)
{
    coil_set_exception_handler(ignore, NULL);
    return wait_for_nothing(arg);
}

TEST(debug_modes_own_thread_does_not_hide_a_deadlock)
{
    coil_run_opts opts = {.loop.debug = true, .no_signals = true};

    if (COIL__TSAN)
        test_skip("TSan's own thread might post");
    CHECK_INT(coil_run(wait_for_nothing_quietly, NULL, &opts), -EDEADLK);
}

static int note_mode(void *arg)
{
    *(bool *)arg = coil_debug();
    return 0;
}

TEST(debug_mode_comes_from_the_options_or_the_environment)
{
    coil_run_opts opts = {.loop.debug = true, .no_signals = true};
    bool mode;

    CHECK(!coil_debug()); /* no loop */
    CHECK_INT(coil_run(note_mode, &mode, &opts), 0);
    CHECK(mode);
    setenv("COIL_DEBUG", "1", 1);
    CHECK_INT(coil_run(note_mode, &mode, NULL), 0);
    CHECK(mode);
    setenv("COIL_DEBUG", "0", 1);
    CHECK_INT(coil_run(note_mode, &mode, NULL), 0);
    CHECK(!mode);
    unsetenv("COIL_DEBUG");
}

static int append(void *arg)
{
    for (int i = 0; i < 3; i++) {
        test_trace("%s%d ", (char *)arg, i);
        coil_yield();
    }
    return 0;
}

TASK_TEST(debug_mode_changes_no_order)
{
    coil_set_debug(true);
    coil_spawn(append, "a", NULL, NULL);
    coil_spawn(append, "b", NULL, NULL);
    for (int i = 0; i < 4; i++)
        coil_yield();
    CHECK_TRACE("a0 b0 a1 b1 a2 b2 ");
}

IO_TEST(debug_mode_with_a_real_clock)
{
    coil_task *task;

    coil_set_debug(true);
    coil_set_slow_callback_ns(COIL_SEC(1000));
    coil_spawn(append, "a", NULL, &task);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    CHECK_INT(coil_task_await(task), 0);
    CHECK_TRACE("a0 a1 a2 ");
    coil_task_release(task);
}

static int leave_the_thread(void *arg)
{
    coil_yield(); /* starts the sampler */
    pthread_exit(arg);
}

/*
 * Wait until the child ends, and return its wait status. If the child does not end, kill
 * it.
 */
static int status_of_end(pid_t child)
{
    int status = -1;

    for (int i = 0; i < 1000 && waitpid(child, &status, WNOHANG) == 0; i++)
        usleep(10000);
    if (status == -1) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    return status;
}

TEST(debug_modes_own_thread_ends_with_the_thread_of_its_loop)
{
    coil_run_opts opts = {.loop.debug = true};
    pid_t child;

    if (COIL__ASAN || COIL__TSAN)
        test_skip("the sanitizer ends the process itself");
    fflush(NULL);
    child = _Fork();
    if (child == 0) {
        coil_run(leave_the_thread, NULL, &opts);
        _exit(1);
    }
    CHECK_INT(status_of_end(child), 0);
}
