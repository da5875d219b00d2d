/*
 * main.c - selects tests, runs each of them in its own process, and counts the results.
 *
 *     coil-tests                all tests, two at a time
 *     coil-tests NAME           only this test, in the same process, for a debugger
 *     coil-tests 'PREFIX*' ...  tests that match a pattern (fnmatch(3)); an I/O test
 *                               matches with and without its backend: NAME, NAME/epoll
 *
 *     -k TEXT   only tests with TEXT in FILE/NAME; if repeated, with any of the texts
 *     -x TEXT   only tests without TEXT in FILE/NAME; if repeated, with none of the texts
 *     -b NAMES  I/O tests only on these backends, such as `epoll,poll`
 *     -j N      N tests at a time
 *     -t SEC    time limit of each test, 20 by default
 *     -n N      seeds 1 to N for the simulated network; N is 8 by default
 *     -e N      every Nth test of each file: a sample that covers all files
 *     -r SEED   ready tasks in random order: see coil_testing_shuffle()
 *     -f        fork even for a single NAME
 *     -l        list the tests instead of running them
 *     -q        do not print the stacks of a test that has timed out
 *     -v        print a line with times for each test
 *     -s        run the SELFTESTs in test_harness.c, which fail on purpose
 *     -w NAME   run this test before forking, so that Valgrind translates code only once
 *
 * With COIL_TEST_SEED=SEED in the environment, tests use only that seed. -n N also
 * changes the number of seeds of tests with their own loop over seeds: to N/8 of the
 * usual number.
 *
 * Tests start with default signals, limits and standard streams, as if started from a
 * shell, regardless of what coil-tests itself inherited: see surroundings.c.
 *
 * The output of a test is written to an unnamed file, which is shown only if the test
 * fails. Each test runs in a session of its own. When the test has ended or timed out,
 * all processes of its session are killed, so no process outlives the test that started
 * it. If a test times out, its stacks are printed before it is killed: see hang.c. After
 * five timeouts, no more tests are started. The last line is `N passed, N failed`.
 */
#include "run.h"

#include "../../src/base/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Declared in task.h. This declaration is weak, because libcoil.so does not export the
 * variable.
 */
__attribute__((weak)) extern int coil__task_light_mode;

/*
 * Functions of LeakSanitizer, declared weak because only some builds contain
 * LeakSanitizer.
 */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);
__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

/*
 * All I/O tests run on the first four backends. Only network tests run on the last one.
 */
static const char *const backends[] = {"io_uring", "epoll", "poll", "select",
                                       "simulated"};

enum {
    BACKENDS = sizeof backends / sizeof backends[0],
    JOBS_LIMIT = 16,
    TEXTS = 8,
    /* after this many timeouts, start no more tests */
    TIMED_OUT_LIMIT = 5,
};

static struct {
    const char *backends, *warm_up, *parts[TEXTS], *left_out[TEXTS];
    int part_count, left_out_count;
    char **patterns;
    int pattern_count;
    int jobs, limit_s, every;
    bool list, quiet, verbose, fork_always, selftest;
} options = {.jobs = 2, .limit_s = 20, .every = 1};

static struct {
    int passed, failed, skipped;
} sum;

/* ---- selecting tests --------------------------------------------------------------- */

static struct test__case *first_case;
static size_t case_count;

void test__register(struct test__case *test)
{
    test->next = first_case;
    first_case = test;
    case_count++;
}

static int by_place(const void *a, const void *b)
{
    const struct test__run *x = a, *y = b;
    int order = strcmp(x->test->file, y->test->file);

    if (order == 0)
        order = x->test->line - y->test->line;
    if (order == 0 && x->backend != NULL)
        order = strcmp(x->backend, y->backend);
    return order;
}

static bool matches(const struct test__run *run, const char *pattern)
{
    return fnmatch(pattern, run->name, 0) == 0 ||
           fnmatch(pattern, run->test->name, 0) == 0;
}

static bool backend_selected(const char *backend)
{
    size_t n = strlen(backend);

    for (const char *at = options.backends; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, backend, n) == 0 && (at[n] == ',' || at[n] == '\0'))
            return true;
    }
    return options.backends == NULL;
}

static bool has_one(const char *place, const char *const texts[], int count)
{
    for (int i = 0; i < count; i++)
        if (strstr(place, texts[i]) != NULL)
            return true;
    return false;
}

static bool selected(const struct test__run *run)
{
    bool matched = options.pattern_count == 0;
    char place[256];

    for (int i = 0; i < options.pattern_count; i++)
        matched = matched || matches(run, options.patterns[i]);
    snprintf(place, sizeof place, "%s/%s", run->test->file, run->name);
    return matched && run->test->hidden == options.selftest &&
           (options.part_count == 0 ||
            has_one(place, options.parts, options.part_count)) &&
           !has_one(place, options.left_out, options.left_out_count) &&
           (run->backend == NULL || backend_selected(run->backend));
}

static size_t add_run(struct test__run *run, const struct test__case *test,
                      const char *backend)
{
    *run = (struct test__run){.test = test, .backend = backend};
    snprintf(run->name, sizeof run->name, "%s%s%s", test->name, backend ? "/" : "",
             backend ? backend : "");
    return selected(run);
}

/* Return the selected runs, ordered by file and line. */
static struct test__run *select_runs(size_t *count)
{
    struct test__run *runs = calloc(case_count * BACKENDS + 1, sizeof *runs);
    size_t n = 0;

    if (runs == NULL)
        abort();
    for (struct test__case *test = first_case; test != NULL; test = test->next)
        if (test->kind == TEST__PLAIN || test->kind == TEST__TASK)
            n += add_run(&runs[n], test, NULL);
        else
            for (int i = 0; i < BACKENDS - (test->kind == TEST__IO); i++)
                n += add_run(&runs[n], test, backends[i]);
    qsort(runs, n, sizeof *runs, by_place);
    *count = n;
    return runs;
}

/* For -e N: select the first run of each file, and every Nth run after it. */
static size_t take_sample(struct test__run *runs, size_t count)
{
    const char *file = "";
    size_t taken = 0;
    int place = 0;

    for (size_t i = 0; i < count; i++) {
        place = strcmp(file, runs[i].test->file) == 0 ? place + 1 : 0;
        file = runs[i].test->file;
        if (place % options.every == 0)
            runs[taken++] = runs[i];
    }
    return taken;
}

/* Return false and print an error if two tests have the same name. */
static bool names_are_unique(const struct test__run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(runs[i].name, runs[j].name) == 0) {
                fprintf(stderr, "two tests are called %s: %s:%d and %s:%d\n",
                        runs[i].name, runs[j].test->file, runs[j].test->line,
                        runs[i].test->file, runs[i].test->line);
                return false;
            }
    return true;
}

/* ---- a test in a process of its own ------------------------------------------------ */

struct job {
    const struct test__run *run; /* NULL if this slot is free */
    pid_t pid;
    int output;
    int64_t began, deadline;
    bool timed_out;
};

static struct job jobs[JOBS_LIMIT];
static int running, timed_out_count;

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static size_t allocated(void)
{
    return __sanitizer_get_current_allocated_bytes != NULL
               ? __sanitizer_get_current_allocated_bytes()
               : 0;
}

/*
 * Exit from the process of a test. First check for leaks outside coil with LeakSanitizer,
 * but only if memory has grown, and only on one backend, because this check takes longer
 * than most tests. Exit handlers of libraries do not run, because they take time too.
 */
static _Noreturn void end_child(const struct test__run *run, int status, size_t before)
{
    bool is_first = run->backend == NULL || strcmp(run->backend, "epoll") == 0;

    if (is_first && __lsan_do_recoverable_leak_check != NULL && allocated() > before &&
        __lsan_do_recoverable_leak_check() != 0)
        status = TEST__FAILED;
    fflush(NULL);
    _exit(status);
}

/*
 * Read one byte of each page that contains a library's variables. In each test,
 * LeakSanitizer reads the variables of all libraries, including 16 MB of its own. If the
 * parent reads them before it forks, the children take fewer page faults.
 */
COIL__NO_SANITIZE static int read_variables(struct dl_phdr_info *object, size_t size,
                                            void *arg)
{
    (void)size;
    (void)arg;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const volatile char *at = (const char *)(object->dlpi_addr + segment->p_vaddr);

        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0)
            for (size_t n = 0; n < segment->p_memsz; n += 4096)
                (void)at[n];
    }
    return 0;
}

static void run_in_child(const struct test__run *run, int output)
{
    struct rlimit none = {0, 0};
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    size_t before = allocated();
    sigset_t empty;

    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* for test__show_hang() */
    setrlimit(RLIMIT_CORE, &none);
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, NULL);
    dup2(null, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    close(null);
    for (int i = 0; i < JOBS_LIMIT; i++)
        if (jobs[i].run != NULL)
            close(jobs[i].output);
    end_child(run, test__run_here(run), before);
}

static void start_job(const struct test__run *run)
{
    struct job *job = jobs;

    while (job->run != NULL)
        job++;
    *job = (struct job){.run = run, .output = memfd_create("test output", MFD_CLOEXEC)};
    fcntl(job->output, F_SETFL, O_APPEND); /* both gdb and the test write to the file */
    job->began = now_ms();
    job->deadline = job->began + (int64_t)options.limit_s * 1000;
    fflush(NULL);
    job->pid = fork();
    if (job->output < 0 || job->pid < 0) {
        perror("coil-tests");
        exit(2);
    }
    if (job->pid == 0)
        run_in_child(run, job->output);
    running++;
}

/* Print at most `limit` bytes of the test's output, indented. */
static void show_output(int fd, off_t limit)
{
    FILE *file = fdopen(dup(fd), "r");
    bool at_start = true;
    int c;

    if (file == NULL)
        return;
    rewind(file);
    while ((c = getc(file)) != EOF && ftello(file) <= limit) {
        if (at_start)
            fputs("    ", stdout);
        putchar(c);
        at_start = c == '\n';
    }
    if (c != EOF)
        fputs("\n    ...", stdout);
    if (!at_start)
        putchar('\n');
    fclose(file);
}

static void print_failure(const struct job *job, int status)
{
    if (job->timed_out)
        printf("FAIL %s: not done after %d s\n", job->run->name, options.limit_s);
    else if (WIFSIGNALED(status))
        printf("FAIL %s: killed by SIG%s\n", job->run->name,
               sigabbrev_np(WTERMSIG(status)));
    else if (WEXITSTATUS(status) == TEST__FAILED)
        printf("FAIL %s (%s:%d)\n", job->run->name, job->run->test->file,
               job->run->test->line);
    else
        printf("FAIL %s: exited with %d\n", job->run->name, WEXITSTATUS(status));
}

static long in_ms(struct timeval t)
{
    return t.tv_sec * 1000 + t.tv_usec / 1000;
}

static void report_job(const struct job *job, int status, const struct rusage *use)
{
    bool exited = WIFEXITED(status) && !job->timed_out;

    if (exited && WEXITSTATUS(status) == TEST__PASSED) {
        sum.passed++;
        if (options.verbose) /* the duration and the CPU time */
            printf("ok   %s (%ld ms, busy for %ld)\n", job->run->name,
                   (long)(now_ms() - job->began),
                   in_ms(use->ru_utime) + in_ms(use->ru_stime));
    } else if (exited && WEXITSTATUS(status) == TEST__SKIPPED) {
        sum.skipped++;
        printf("skip %s\n", job->run->name);
        show_output(job->output, 512);
    } else {
        sum.failed++;
        print_failure(job, status);
        show_output(job->output, 64 * 1024);
    }
    fflush(stdout);
}

static void end_job(struct job *job, int status, const struct rusage *use)
{
    test__kill_session(job->pid); /* kill processes that the test left behind */
    report_job(job, status, use);
    close(job->output);
    job->run = NULL;
    running--;
}

/*
 * Return how many milliseconds the first thread of the process was ready to run, but had
 * to wait for a processor. A test's time limit is extended by this time. Returns 0 if the
 * kernel does not measure this time.
 */
static int64_t starved_ms(pid_t pid)
{
    long long busy, starved;
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
    file = fopen(path, "re");
    if (file == NULL || fscanf(file, "%lld %lld", &busy, &starved) != 2)
        starved = 0;
    if (file != NULL)
        fclose(file);
    return starved / 1000000;
}

static void kill_overdue(int64_t now)
{
    for (int i = 0; i < JOBS_LIMIT; i++) {
        struct job *job = &jobs[i];

        if (job->run != NULL && !job->timed_out && now >= job->deadline &&
            now >= job->deadline + starved_ms(job->pid)) {
            job->timed_out = true;
            timed_out_count++;
            if (!options.quiet)
                test__show_hang(job->pid, job->output);
            kill(job->pid, SIGKILL);
        }
    }
}

/*
 * Wait until a test ends, at most for a second. Handle the tests that have ended, and
 * kill those that have timed out. SIGCHLD must be blocked.
 */
static void await_jobs(void)
{
    struct timespec second = {.tv_sec = 1};
    struct rusage use;
    sigset_t children;
    int status;

    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigtimedwait(&children, NULL, &second);
    for (int i = 0; i < JOBS_LIMIT; i++)
        if (jobs[i].run != NULL && wait4(jobs[i].pid, &status, WNOHANG, &use) > 0)
            end_job(&jobs[i], status, &use);
    kill_overdue(now_ms());
}

static void warm_up(const struct test__run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(runs[i].name, options.warm_up) == 0 &&
            test__run_here(&runs[i]) != TEST__PASSED)
            exit(2);
}

static void run_forked(const struct test__run *runs, size_t count)
{
    sigset_t children;
    size_t next = 0;

    if (options.warm_up != NULL)
        warm_up(runs, count);
    if (COIL__ASAN)
        dl_iterate_phdr(read_variables, NULL);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    while ((next < count && timed_out_count < TIMED_OUT_LIMIT) || running > 0) {
        while (next < count && running < options.jobs &&
               timed_out_count < TIMED_OUT_LIMIT)
            start_job(&runs[next++]);
        await_jobs();
    }
    if (next < count) {
        printf("FAIL (all): %d tests timed out, so %zu were not started\n",
               timed_out_count, count - next);
        sum.failed++;
    }
}

/* ---- a test in this process -------------------------------------------------------- */

static bool unforked;

static int print_sum(void)
{
    printf("%d passed, %d failed", sum.passed, sum.failed);
    if (sum.skipped > 0)
        printf(", %d skipped", sum.skipped);
    putchar('\n');
    fflush(stdout);
    return sum.failed > 0;
}

static void run_unforked(const struct test__run *run)
{
    unforked = true;
    if (test__run_here(run) == TEST__PASSED)
        sum.passed++;
    else
        sum.failed++;
}

void test__end_skipped(void)
{
    if (unforked) {
        sum.skipped++;
        print_sum();
    }
    fflush(NULL);
    _exit(unforked ? 0 : TEST__SKIPPED);
}

/* ---- the command line -------------------------------------------------------------- */

static void usage(void)
{
    fputs("usage: coil-tests [-flqsv] [-b BACKENDS] [-e N] [-j N] [-k TEXT] [-n SEEDS]\n"
          "                  [-r SEED] [-t SECONDS] [-w NAME] [-x TEXT]... [NAME | "
          "PATTERN...]\n",
          stderr);
    exit(2);
}

static void add_text(const char *texts[], int *count)
{
    if (*count == TEXTS)
        usage();
    texts[(*count)++] = optarg;
}

static void read_options(int argc, char **argv)
{
    int c;

    while ((c = getopt(argc, argv, "b:e:fj:k:ln:qr:st:vw:x:")) != -1) {
        switch (c) {
        case 'b':
            options.backends = optarg;
            break;
        case 'e':
            options.every = atoi(optarg);
            break;
        case 'f':
            options.fork_always = true;
            break;
        case 'j':
            options.jobs = atoi(optarg);
            break;
        case 'k':
            add_text(options.parts, &options.part_count);
            break;
        case 'l':
            options.list = true;
            break;
        case 'n':
            test__seed_count = atoi(optarg);
            break;
        case 'q':
            options.quiet = true;
            break;
        case 'r':
            test__shuffle = strtoull(optarg, NULL, 10);
            break;
        case 's':
            options.selftest = true;
            break;
        case 't':
            options.limit_s = atoi(optarg);
            break;
        case 'v':
            options.verbose = true;
            break;
        case 'w':
            options.warm_up = optarg;
            break;
        case 'x':
            add_text(options.left_out, &options.left_out_count);
            break;
        default:
            usage();
        }
    }
    if (&coil__task_light_mode != NULL && getenv("COIL_TEST_LIGHT") != NULL)
        coil__task_light_mode = strcmp(getenv("COIL_TEST_LIGHT"), "manual") == 0 ? 1 : 2;
    if (getenv("COIL_TEST_SEED") != NULL) {
        test__first_seed = strtoull(getenv("COIL_TEST_SEED"), NULL, 10);
        test__seed_count = 1;
    }
    options.patterns = argv + optind;
    options.pattern_count = argc - optind;
    if (options.jobs < 1 || options.jobs > JOBS_LIMIT || options.limit_s < 1 ||
        test__seed_count < 1 || options.every < 1)
        usage();
}

/*
 * Return true if the test can run in this process, because the only pattern on the
 * command line is its full name, and the option -f is not set.
 */
static bool names_one(const struct test__run *runs, size_t count)
{
    return !options.fork_always && count == 1 && options.pattern_count == 1 &&
           strcmp(options.patterns[0], runs[0].name) == 0;
}

int main(int argc, char **argv)
{
    struct test__run *runs;
    size_t count;
    int rc;

    test__begin_afresh();
    read_options(argc, argv);
    runs = select_runs(&count);
    if (!names_are_unique(runs, count))
        return 2;
    count = take_sample(runs, count);
    if (count == 0) {
        fputs("coil-tests: no such test; -l lists them\n", stderr);
        sum.failed++;
    }
    if (options.list) {
        for (size_t i = 0; i < count; i++)
            puts(runs[i].name);
        free(runs);
        return count == 0;
    }
    if (names_one(runs, count))
        run_unforked(&runs[0]);
    else
        run_forked(runs, count);
    rc = print_sum();
    free(runs);
    return rc;
}
