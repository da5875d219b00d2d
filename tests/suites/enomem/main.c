/*
 * main.c - runs scenarios in which a single allocation by OpenSSL, libcurl, c-ares, the C
 * library or coil fails.
 *
 *     coil-enomem FOLDER HTTP_PORT DNS_PORT SAMPLE [SCENARIO [NTH]]
 *
 * Each scenario runs once for each allocation of a sample, in a process in which that
 * allocation fails. The sample consists of SAMPLE evenly spaced allocations, and of the
 * first and the last allocation of each call in this program (by address and caller). If
 * SAMPLE is 0, the sample contains all allocations. The scenario must end by itself, with
 * an error or with its result, and must not leak a descriptor. Prints a line for each
 * scenario, and ends with `N passed, N failed`. With NTH, only allocation NTH fails, in a
 * single run.
 *
 * Two kinds of crashes are bugs of libraries, and are counted, but not as failures:
 *
 * - If the slots of a hash table cannot be allocated, libcurl before 8.2 still divides by
 *   their number (lib/hash.c): SIGFPE at an address in libcurl.
 *
 * - If glibc's getaddrinfo() cannot allocate its copy of nsswitch.conf, it dereferences
 *   NULL or fails an assertion (nss/nss_database.c): SIGSEGV or SIGABRT, with only the C
 *   library between the fault and getaddrinfo().
 */
#include "allocator.h"
#include "scenarios.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 20, WHOLE = 0, FAILED = 3, WRONG = 4, LEAKED = 5, LIBRARYS_OWN = 6 };

struct outcome {
    long allocations;
    int rc;
    char failed_for[128];
    struct allocation_places places; /* if none failed */
};

static struct outcome *outcome; /* written by the child, in shared memory */
static int passed, failed;

static int count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    while (dir != NULL && readdir(dir) != NULL)
        n++;
    if (dir != NULL)
        closedir(dir);
    return n;
}

static void name_code(const void *code, char *name, size_t size)
{
    Dl_info info;

    if (code != NULL && dladdr(code, &info) != 0)
        snprintf(name, size, "%s in %s", info.dli_sname ? info.dli_sname : "?",
                 info.dli_fname);
}

static bool is_curls_own(int signo, const void *at)
{
    char name[256] = "";

    name_code(at, name, sizeof name);
    return signo == SIGFPE && strstr(name, "libcurl") != NULL;
}

/*
 * Return true if all frames between the fault and getaddrinfo() belong to the C library.
 */
static bool is_getaddrinfos_own(int signo)
{
    void *frames[64];
    int n = backtrace(frames, 64);
    Dl_info here, info;

    dladdr((void *)is_getaddrinfos_own, &here);
    for (int i = 2; i < n && signo != SIGFPE; i++) { /* skip this frame and the handler */
        if (dladdr(frames[i], &info) == 0 || info.dli_fbase == here.dli_fbase)
            return false;
        if (info.dli_sname != NULL && strcmp(info.dli_sname, "getaddrinfo") == 0)
            return true;
    }
    return false;
}

static void on_fault(int signo, siginfo_t *info, void *context)
{
    (void)context;
    if (is_curls_own(signo, info->si_addr) || is_getaddrinfos_own(signo))
        _exit(LIBRARYS_OWN);
    signal(signo, SIG_DFL);
    raise(signo);
}

static void catch_faults(void)
{
    static const int signals[] = {SIGFPE, SIGSEGV, SIGABRT};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    void *frame;

    backtrace(&frame, 1); /* backtrace() loads a library when first called */
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

static int run_here(const struct scenario *scenario, long nth)
{
    int before = count_descriptors(), rc;

    alarm(SECONDS);
    catch_faults();
    allocations_begin(nth, nth == 0 ? &outcome->places : NULL);
    rc = coil_run(scenario->run, NULL, NULL);
    outcome->allocations = allocations_end();
    outcome->rc = rc;
    name_code(allocation_failed_for(), outcome->failed_for, sizeof outcome->failed_for);
    if (rc > 0)
        return WRONG;
    if (count_descriptors() != before)
        return LEAKED;
    return rc < 0 ? FAILED : WHOLE;
}

static const char *reason(int status)
{
    static char text[64];

    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return "does not end";
    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "dies of SIG%s", sigabbrev_np(WTERMSIG(status)));
    else if (WEXITSTATUS(status) == WRONG)
        return "is wrong, and says that nothing failed";
    else if (WEXITSTATUS(status) == LEAKED)
        return "leaves descriptors open";
    else
        snprintf(text, sizeof text, "ends with %d", WEXITSTATUS(status));
    return text;
}

/*
 * Run the scenario in a child process in which the nth allocation fails. The libraries'
 * error messages are shown only if `aloud` is true.
 */
static int run_in_child(const struct scenario *scenario, long nth, bool aloud)
{
    int status = -1;
    pid_t child;

    fflush(NULL);
    *outcome = (struct outcome){0};
    child = fork();
    if (child == 0) {
        if (!aloud && freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        _exit(run_here(scenario, nth));
    }
    waitpid(child, &status, 0);
    return status;
}

static void count_one(const struct scenario *scenario, long nth, int status, int *own)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

    *own += code == LIBRARYS_OWN;
    if (code == WHOLE || code == FAILED || code == LIBRARYS_OWN) {
        passed++;
        return;
    }
    failed++;
    printf("FAIL %s: when allocation %ld (%s) fails, it %s; rc %d\n", scenario->name, nth,
           outcome->failed_for, reason(status), outcome->rc);
}

static void choose(bool *wanted, long all, long sample)
{
    const struct allocation_places *places = &outcome->places;

    if (sample == 0 || sample > all)
        sample = all;
    for (long i = 0; i < sample; i++)
        wanted[1 + i * all / sample] = true;
    for (int i = 0; i < places->count; i++)
        wanted[places->at[i].first] = wanted[places->at[i].last] = true;
}

static void run_scenario(const struct scenario *scenario, long sample)
{
    int status = run_in_child(scenario, 0, true), own = 0, tried = 0;
    long all = outcome->allocations;
    bool *wanted;

    if (!WIFEXITED(status) || WEXITSTATUS(status) != WHOLE) {
        failed++;
        printf("FAIL %s: without a failure it %s; rc %d\n", scenario->name,
               reason(status), outcome->rc);
        return;
    }
    wanted = calloc((size_t)all + 1, sizeof *wanted);
    choose(wanted, all, sample);
    for (long nth = 1; nth <= all; nth++)
        if (wanted[nth]) {
            count_one(scenario, nth, run_in_child(scenario, nth, false), &own);
            tried++;
        }
    free(wanted);
    printf("%s: %d of %ld allocations failed", scenario->name, tried, all);
    printf(own > 0 ? ", %d of them with a crash that is a bug of a library\n" : "\n",
           own);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fputs("usage: coil-enomem FOLDER HTTP_PORT DNS_PORT SAMPLE [SCENARIO [NTH]]\n",
              stderr);
        return 2;
    }
    peers_folder = argv[1];
    http_port = argv[2];
    dns_port = argv[3];
    outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < scenario_count; i++) {
        if (argc > 5 && strcmp(argv[5], scenarios[i].name) != 0)
            continue;
        if (argc > 6)
            count_one(&scenarios[i], atol(argv[6]),
                      run_in_child(&scenarios[i], atol(argv[6]), true), &(int){0});
        else
            run_scenario(&scenarios[i], atol(argv[4]));
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
