/* signals.c - see signals.h */
#include "signals.h"

#include <coil/poll.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* These variables are global because the signal handler needs them. */
static struct reports *_Atomic reports_at_signal; /* NULL once the reports are closed */
static atomic_int signal_count;
static int signal_fd = -1; /* readable after the first signal */

static void on_signal(int signo)
{
    int error = errno;

    if (atomic_fetch_add(&signal_count, 1) == 0) {
        uint64_t one = 1;
        ssize_t n = write(signal_fd, &one, sizeof one);

        (void)n; /* the write cannot fail, because the eventfd's counter is 0 */
        errno = error;
        return;
    }
    if (reports_at_signal != NULL)
        reports_flush_in_handler(reports_at_signal);
    signal(signo, SIG_DFL);
    raise(signo); /* delivered when this handler returns */
}

int signals_catch(struct reports *reports)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;

    if (signal_fd < 0)
        signal_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (signal_fd < 0) {
        fprintf(stderr, "coil-crawl: cannot wait for signals: %s\n", strerror(errno));
        return -errno;
    }
    reports_at_signal = reports;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaddset(&action.sa_mask, signals[i]);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* writing to a closed pipe must fail with EPIPE */
    return 0;
}

void signals_forget_reports(void)
{
    reports_at_signal = NULL;
}

bool signals_were_caught(void)
{
    return atomic_load(&signal_count) > 0;
}

int signals_cancel_task(void *arg)
{
    struct pollfd wanted = {.fd = signal_fd, .events = POLLIN};
    int rc = coil_poll(&wanted, 1, COIL_NEVER);

    if (rc > 0)
        coil_task_cancel(arg, "a signal");
    return rc < 0 ? rc : 0;
}
