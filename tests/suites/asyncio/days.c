/*
 * days.c - runs scenarios on good and bad "days": in a child process, without a fault or
 * with one.
 */
#include "days.h"

#include "../../../src/coro/stack.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_MAX 100
#define SHUFFLES 20

/* ---- bad days ---------------------------------------------------------------------- */

enum kind { GOOD_DAY, ALLOCATION, SYSTEM_CALL, INTERRUPTION, SHUFFLE, KINDS };

/*
 * A run of a scenario, without or with a fault. `nth` is the number of the call that
 * fails, or the seed for the order of tasks.
 */
struct day {
    enum kind kind;
    uint64_t nth;
};

/*
 * The number of possible faults of each kind, counted by the child process on the good
 * day.
 */
struct tally {
    uint64_t of[KINDS];
};

static struct tally *tally;
static enum kind today;

static bool skip_polls;

bool days_begin(bool leave_out_polls)
{
    skip_polls = leave_out_polls;
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                 -1, 0);
    return tally != MAP_FAILED;
}

bool allocation_failed(void)
{
    return today == ALLOCATION && coil_testing_failed() != NULL;
}

static void begin_day(struct day day)
{
    coil_testing_blocks(); /* counting starts here */
    today = day.kind;
    switch (day.kind) {
    case ALLOCATION:
        coil_testing_fail_allocation(day.nth);
        break;
    case SYSTEM_CALL:
        coil_testing_fail_system_call(day.nth, 0);
        break;
    case INTERRUPTION:
        coil_testing_fail_system_call(day.nth, EINTR);
        break;
    case SHUFFLE:
        coil_testing_shuffle(day.nth);
        break;
    default:
        break;
    }
}

static void end_day(void)
{
    tally->of[ALLOCATION] = coil_testing_allocations();
    tally->of[SYSTEM_CALL] = tally->of[INTERRUPTION] = coil_testing_system_calls();
    tally->of[SHUFFLE] = SHUFFLES;
    coil_testing_fail_allocation(0);
    coil_testing_fail_system_call(0, 0);
    coil_testing_shuffle(0);
}

/* ---- one scenario ------------------------------------------------------------------ */

static int run_body(const struct scenario *scenario)
{
    coil_run_opts opts = {.loop = {.virtual_clock = true, .skip_polls = skip_polls},
                          .no_signals = true};

    return scenario->in_task ? coil_run(scenario->body, NULL, &opts)
                             : scenario->body(NULL);
}

static int breathe(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1));
}

static int count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    if (dir == NULL)
        return 0;
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

/* Print a line for each kind of object that was leaked. Returns the number of lines. */
static int complain_of_leaks(int descriptors_before)
{
    long blocks = (long)coil_testing_blocks();
    int descriptors = count_descriptors() - descriptors_before;
    size_t stacks = coil__stack_count();

    if (blocks != 0)
        printf("leaked: %ld blocks\n", blocks);
    if (descriptors != 0)
        printf("leaked: %d descriptors\n", descriptors);
    if (stacks != 0)
        printf("leaked: %zu stacks\n", stacks);
    return (blocks != 0) + (descriptors != 0) + (stacks != 0);
}

/* Exit statuses of the child process. */
enum { WELL = 0, COMPLAINED = 1 };

/*
 * Run the scenario in this process, which is a child. Returns the exit status with which
 * the child should exit.
 */
static int run_here(const struct scenario *scenario, struct day day)
{
    static const struct scenario afterwards = {"afterwards", breathe, true, NULL};
    int descriptors = count_descriptors(), complaints = 0, rc;

    alarm(SECONDS_MAX);
    setvbuf(stdout, NULL, _IOLBF, 0);
    begin_day(day);
    rc = run_body(scenario);
    scenario__end();
    if (rc < 0)
        printf("ends: %s\n", outcome(rc));
    end_day();
    if (day.kind != GOOD_DAY && run_body(&afterwards) != 0)
        complaints += printf("a second program did not run correctly\n");
    complaints += complain_of_leaks(descriptors);
    fflush(stdout);
    return complaints != 0 ? COMPLAINED : WELL;
}

/*
 * Run the scenario in a child process, and return its exit status, or -1 if a signal
 * killed it. Prints a message if a signal or a sanitizer ended the child.
 */
static int run_forked(const struct scenario *scenario, struct day day)
{
    int status;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0)
        _exit(run_here(scenario, day));
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        perror("coil-scenarios");
        exit(1);
    }
    if (!WIFEXITED(status))
        printf("died: %s\n", strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != WELL && WEXITSTATUS(status) != COMPLAINED)
        printf("died: exit status %d\n", WEXITSTATUS(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- bad days, one after the other ------------------------------------------------- */

static const char *const kinds[] = {"good days", "allocations", "system calls",
                                    "interruptions", "shuffles"};

static void show(FILE *file)
{
    int c;

    rewind(file);
    while ((c = getc(file)) != EOF)
        putchar(c);
}

/* Run the scenario on this day. Prints the scenario's output only if it failed. */
static bool survives(const struct scenario *scenario, struct day day)
{
    int out = dup(1), err = dup(2), status;
    FILE *written = tmpfile();

    fflush(stdout);
    if (out < 0 || err < 0 || written == NULL || dup2(fileno(written), 1) < 0 ||
        dup2(fileno(written), 2) < 0)
        exit(1);
    status = run_forked(scenario, day);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    if (status != WELL) {
        printf("FAIL %s (%s, number %lu):\n", scenario->name, kinds[day.kind],
               (unsigned long)day.nth);
        show(written);
    }
    fclose(written);
    return status == WELL;
}

/*
 * Run the good day and all bad days. After a failure, skip the remaining faults of that
 * kind.
 */
bool all_days(const struct scenario *scenario)
{
    bool well = survives(scenario, (struct day){GOOD_DAY, 0});
    struct tally there = *tally;

    printf("%s:", scenario->name);
    for (enum kind kind = ALLOCATION; kind < KINDS; kind++)
        printf(" %lu %s%c", (unsigned long)there.of[kind], kinds[kind],
               kind + 1 < KINDS ? ',' : '\n');
    for (enum kind kind = ALLOCATION; kind < KINDS; kind++)
        for (uint64_t nth = 1; nth <= there.of[kind]; nth++)
            if (!survives(scenario, (struct day){kind, nth})) {
                well = false;
                break;
            }
    return well;
}

/* Return a random number from 1 to limit, from splitmix64. */
static uint64_t choose(uint64_t *seed, uint64_t limit)
{
    uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) % limit + 1;
}

bool some_days(const struct scenario *scenario, uint64_t *seed)
{
    bool well = survives(scenario, (struct day){GOOD_DAY, 0});
    struct tally there = *tally;

    for (enum kind kind = ALLOCATION; kind < KINDS; kind++)
        if (there.of[kind] > 0)
            well &= survives(scenario, (struct day){kind, choose(seed, there.of[kind])});
    return well;
}

bool survives_good_day(const struct scenario *scenario)
{
    return survives(scenario, (struct day){GOOD_DAY, 0});
}

void good_day(const struct scenario *scenario)
{
    printf("scenario %s\n", scenario->name);
    run_forked(scenario, (struct day){GOOD_DAY, 0});
}
