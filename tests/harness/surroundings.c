/*
 * surroundings.c - resets the signals, limits and standard streams that coil-tests
 * inherits from its parent process.
 *
 * A shell script starts background jobs with SIGINT and SIGQUIT ignored, and ignored
 * signals remain ignored after exec(2). Signal masks, limits and closed standard streams
 * are inherited, too. Without a reset, test results would depend on how coil-tests was
 * started.
 */
#include "run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Set ignored signals to their default action, and unblock all signals. Handlers are not
 * reset: a handler that exists before main() belongs to a sanitizer.
 */
static void stop_ignoring_signals(void)
{
    struct sigaction action;
    sigset_t none;

    for (int signo = 1; signo < NSIG; signo++)
        if (sigaction(signo, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            signal(signo, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Raise limits to the kernel's defaults, or to the hard limit if that is lower. */
static void raise_limits(void)
{
    static const struct {
        __rlimit_resource_t resource;
        rlim_t usual;
    } limits[] = {
        {RLIMIT_NOFILE, 1024},
        {RLIMIT_STACK, (rlim_t)8 << 20},
        {RLIMIT_MEMLOCK, (rlim_t)8 << 20},
        {RLIMIT_AS, RLIM_INFINITY},
        {RLIMIT_DATA, RLIM_INFINITY},
        {RLIMIT_FSIZE, RLIM_INFINITY},
        {RLIMIT_NPROC, RLIM_INFINITY},
        {RLIMIT_CPU, RLIM_INFINITY},
    };
    struct rlimit limit;

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        rlim_t usual = limits[i].usual;

        if (getrlimit(limits[i].resource, &limit) < 0 || limit.rlim_cur >= usual)
            continue;
        limit.rlim_cur = usual < limit.rlim_max ? usual : limit.rlim_max;
        setrlimit(limits[i].resource, &limit);
    }
}

/*
 * Open the descriptors 0, 1 and 2 if they are closed, so that files that a test opens do
 * not get these numbers.
 */
static void open_standard_streams(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

void test__begin_afresh(void)
{
    stop_ignoring_signals();
    raise_limits();
    open_standard_streams();
    umask(022);
}
