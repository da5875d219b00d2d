/*
 * test_harness.c - tests that the harness reports failed checks, leaks, crashes and
 * timeouts.
 *
 * Each SELFTEST does something that a test must not do, so a normal run skips it. Each
 * TEST runs coil-tests on a SELFTEST, and checks the output.
 */
#include "harness.h"

#include "../../src/base/compiler.h"

#include <coil.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SELFTEST(name) TEST__DEFINE_CASE(name, TEST__PLAIN, true)
#define SELFTEST_TASK(name) TEST__DEFINE_CASE(name, TEST__TASK, true)

/* ---- cases ------------------------------------------------------------------------- */

SELFTEST(selftest_passes)
{
    puts("nobody reads this");
}

SELFTEST(selftest_check)
{
    CHECK(1 + 1 == 3);
}

SELFTEST(selftest_check_int)
{
    CHECK_INT(-ENOENT, -EACCES);
}

SELFTEST(selftest_check_str)
{
    CHECK_STR("abc", NULL);
}

SELFTEST(selftest_trace)
{
    test_trace("one %d", 2);
    CHECK_TRACE("one 3");
}

SELFTEST(selftest_descriptor)
{
    CHECK(open("/dev/null", O_RDONLY) >= 0);
}

SELFTEST(selftest_memory)
{
    coil_loop *loop;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    coil_loop_retain(loop); /* this reference is leaked on purpose */
    coil_loop_close(loop);
}

static __attribute__((noinline)) void lose_memory(void)
{
    for (int i = 0; i < 10; i++)
        *(void *volatile *)malloc(sizeof(void *)) = NULL;
}

SELFTEST(selftest_malloc)
{
    lose_memory();
}

SELFTEST(selftest_loop)
{
    coil_loop *loop;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
}

static int sleep_long(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(100));
}

SELFTEST_TASK(selftest_task)
{
    coil_spawn_opts opts = {.name = "sleeper"};

    CHECK_INT(coil_spawn(sleep_long, NULL, &opts, NULL), 0);
    coil_yield();
}

static void *do_nothing(void *arg)
{
    return arg;
}

SELFTEST(selftest_stack)
{
    coil_coro *coro;

    CHECK_INT(coil_coro_create(do_nothing, NULL, NULL, &coro), 0);
}

TEST__DEFINE_CASE(selftest_seed, TEST__NET, true)
{
    static int runs;

    CHECK(++runs < 3 || !test_simulated());
}

SELFTEST(selftest_crash)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

SELFTEST(selftest_abort)
{
    abort();
}

SELFTEST(selftest_exit)
{
    _exit(5);
}

SELFTEST(selftest_hang)
{
    /* The harness must kill this child when the test times out. */
    if (fork() == 0)
        sleep(1000);
    for (;;)
        pause();
}

static int sleep_for_ever(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(100000));
}

SELFTEST_TASK(selftest_task_hang)
{
    coil_spawn_opts opts = {.name = "lost sheep"};

    CHECK_INT(coil_spawn(sleep_for_ever, NULL, &opts, NULL), 0);
    coil_yield();
    for (;;)
        pause();
}

TEST__DEFINE_CASE(selftest_hangs, TEST__IO, true)
{
    for (;;)
        pause();
}

SELFTEST(selftest_skip)
{
    test_skip("no moon tonight");
}

SELFTEST(selftest_surroundings)
{
    struct sigaction action;
    struct rlimit limit;
    sigset_t blocked;

    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int signo = 1; signo < NSIG; signo++)
        if (sigaction(signo, NULL, &action) == 0) {
            CHECK(action.sa_handler != SIG_IGN);
            CHECK(signo == SIGCHLD || !sigismember(&blocked, signo));
        }
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        CHECK(fcntl(fd, F_GETFD) >= 0);
    getrlimit(RLIMIT_NOFILE, &limit);
    CHECK(limit.rlim_cur >= 1024);
    getrlimit(RLIMIT_STACK, &limit);
    CHECK(limit.rlim_cur >= (rlim_t)8 << 20);
}

static void live(void *arg)
{
    (void)arg;
}

static void die(void *arg)
{
    fprintf(stderr, "dying of %s\n", (char *)arg);
    abort();
}

SELFTEST(selftest_survives)
{
    test_dies(live, NULL, "anything");
}

SELFTEST(selftest_wrong_words)
{
    test_dies(die, "boredom", "of thirst");
}

/* ---- tests ------------------------------------------------------------------------- */

/* Run coil-tests on the SELFTEST `name`, and check the exit status and the output. */
static void expect(const char *flags, const char *name, int exit_status,
                   const char *words)
{
    static char output[16 * 1024];
    char command[512], self[256];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    FILE *pipe;
    int status;

    self[length > 0 ? length : 0] = '\0';
    snprintf(command, sizeof command, "'%s' -s %s %s 2>&1", self, flags, name);
    pipe = popen(command, "r");
    CHECK(pipe != NULL);
    if (pipe == NULL)
        return;
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    status = pclose(pipe);
    CHECK_INT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, exit_status);
    if (strstr(output, words) == NULL) {
        printf("%s said:\n%s", name, output);
        CHECK_STR("(above)", words);
    }
}

TEST(harness_counts_a_passed_test_and_hides_its_output)
{
    expect("-f", "selftest_passes", 0, "1 passed, 0 failed\n");
    expect("-f -v", "selftest_passes", 0, "ok   selftest_passes (");
    expect("", "selftest_passes", 0, "nobody reads this\n1 passed, 0 failed\n");
}

TEST(harness_reports_failed_checks)
{
    expect("-f", "selftest_check", 1, "0 passed, 1 failed\n");
    expect("", "selftest_check", 1, "0 passed, 1 failed\n");
    expect("-f", "selftest_check", 1, "check failed: 1 + 1 == 3");
    expect("-f", "selftest_check_int", 1, "is -2 (-ENOENT), not -13 (-EACCES)");
    expect("-f", "selftest_check_str", 1, "expected: \"(null)\"");
    expect("-f", "selftest_trace", 1, "actual:   \"one 2\"");
}

TEST(harness_reports_what_is_left_behind)
{
    expect("-f", "selftest_descriptor", 1, "leak: descriptor");
    expect("-f", "selftest_descriptor", 1, "(/dev/null)");
    expect("-f", "selftest_memory", 1, "bytes that coil allocated, in 1 blocks");
    expect("-f", "selftest_malloc", COIL__ASAN,
           COIL__ASAN ? "LeakSanitizer: detected memory leaks" : "1 passed");
    expect("-f", "selftest_loop", 1, "leak: a loop is still open");
    expect("-f", "selftest_task", 1, "leak: task sleeper has not ended");
    expect("-f", "selftest_stack", 1, "leak: 1 stacks");
}

TEST(harness_tells_the_seed_that_failed)
{
    expect("-f", "selftest_seed/simulated", 1,
           "failed with seed 3; to repeat: COIL_TEST_SEED=3 coil-tests "
           "'selftest_seed/simulated'");
    expect("-f -n 2", "selftest_seed/simulated", 0, "1 passed, 0 failed\n");
    expect("-f", "selftest_seed/poll", 0, "1 passed, 0 failed\n");
}

TEST(harness_reports_crashes_and_exits)
{
    expect("-f", "selftest_crash", 1, "killed by SIGSEGV");
    expect("-f", "selftest_abort", 1, "killed by SIGABRT");
    expect("-f", "selftest_exit", 1, "exited with 5");
}

TEST(harness_kills_what_takes_too_long)
{
    expect("-f -q -t 1", "selftest_hang", 1, "selftest_hang: not done after 1 s");
}

TEST(harness_shows_where_a_test_hangs)
{
    if (access("/usr/bin/gdb", X_OK) < 0)
        test_skip("there is no gdb");
    if (test_under_valgrind())
        test_skip("gdb would show Valgrind's own stacks");
    expect("-f -t 1", "selftest_hang", 1, "selftest_hang (");
    expect("-f -t 1", "selftest_task_hang", 1, "lost sheep");
}

TEST(harness_stops_when_many_tests_hang)
{
    /*
     * The first five runs hang, on backends that every machine has. After their timeouts,
     * the sixth run must not be started.
     */
    expect("-f -q -t 1 -j 1 -b epoll,poll,select", "'selftest_*hang*' selftest_skip", 1,
           "so 1 were not started");
}

TEST(harness_takes_a_sample)
{
    expect("-l -e 1000", "'selftest_*'", 0, "selftest_passes\n");
}

TEST(harness_counts_skipped_tests)
{
    expect("-f", "selftest_skip", 0, "no moon tonight\n0 passed, 0 failed, 1 skipped\n");
    expect("", "selftest_skip", 0, "no moon tonight\n0 passed, 0 failed, 1 skipped\n");
}

/*
 * coil-tests is started with all signals ignored and blocked, low limits, and closed
 * standard streams.
 */
TEST(harness_starts_tests_from_surroundings_of_their_own)
{
    struct rlimit few;
    sigset_t all;

    for (int signo = 1; signo < NSIG; signo++)
        signal(signo, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* for pclose() */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    getrlimit(RLIMIT_NOFILE, &few);
    few.rlim_cur = 64;
    setrlimit(RLIMIT_NOFILE, &few);
    getrlimit(RLIMIT_STACK, &few);
    few.rlim_cur = (rlim_t)1 << 20;
    setrlimit(RLIMIT_STACK, &few);
    expect("-f", "selftest_surroundings", 0, "1 passed, 0 failed\n");
    expect("", "selftest_surroundings </dev/null", 0, "1 passed, 0 failed\n");
    expect("", "selftest_surroundings <&-", 0, "1 passed, 0 failed\n");
}

TEST(harness_expects_programs_to_die)
{
    test_dies(die, "hunger", "of hunger");
    expect("-f", "selftest_survives", 1, "did not die by SIGABRT");
    expect("-f", "selftest_wrong_words", 1, "died, but did not print \"of thirst\"");
}

TEST(harness_fails_when_no_test_is_selected)
{
    expect("", "selftest_of_nothing", 1, "no such test");
}

TEST(harness_fails_the_allocation_it_was_told_to)
{
    coil_loop *loop;

    test_fail_allocation(1);
    CHECK_INT(coil_loop_create(NULL, &loop), -ENOMEM);
    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    CHECK(test_bytes_held() > 0);
    coil_loop_close(loop);
}

TASK_TEST(harness_gives_tasks_a_virtual_clock)
{
    CHECK_INT(coil_sleep(COIL_SEC(3600)), 0);
    CHECK_INT(coil_now(), COIL_SEC(3600));
}

IO_TEST(harness_runs_io_tests_on_each_backend)
{
    CHECK_STR(coil_backend_name(), test_backend());
}
