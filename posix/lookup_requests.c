/*
 * lookup_requests.c - gai_suspend(3), and getaddrinfo_a(3) with GAI_WAIT.
 *
 * glibc looks up the names on its own threads, and wakes only threads that wait inside
 * glibc. Therefore the task checks the requests at growing intervals. getaddrinfo_a()
 * starts the requests with GAI_NOWAIT. glibc's gai_suspend() cannot be used for the
 * check, because with a time-out of 0 it fails with EAI_SYSTEM.
 */
#include "waiting.h"

static int count_pending(const struct gaicb *const *list, int n)
{
    int count = 0;

    for (int i = 0; i < n; i++)
        count += list[i] != NULL && gai_error((struct gaicb *)list[i]) == EAI_INPROGRESS;
    return count;
}

/* Wait until one of the requests completes. Fails with EAI_INTR if the task is
 * cancelled. */
static int suspend_in_task(const struct gaicb *const *list, int n, int64_t deadline)
{
    int before = count_pending(list, n);
    int64_t nap = 0;

    if (before == 0)
        return EAI_ALLDONE;
    posix__fairly();
    while (count_pending(list, n) == before) {
        if (posix__left(deadline) == 0)
            return EAI_AGAIN;
        if (posix__nap(&nap, deadline) < 0)
            return EAI_INTR;
    }
    return 0;
}

INTERPOSE int gai_suspend(const struct gaicb *const list[], int n,
                          const struct timespec *timeout)
{
    if (!IN_TASK() || !posix__is_span(timeout) || !posix__may_wait())
        return NEXT(gai_suspend)(list, n, timeout);
    return suspend_in_task(list, n, posix__deadline(timeout));
}

INTERPOSE int getaddrinfo_a(int mode, struct gaicb *list[], int n,
                            struct sigevent *restrict event)
{
    int64_t nap = 0;
    int rc;

    if (mode != GAI_WAIT || !IN_TASK() || !posix__may_wait())
        return NEXT(getaddrinfo_a)(mode, list, n, event);
    rc = NEXT(getaddrinfo_a)(GAI_NOWAIT, list, n, NULL);
    posix__fairly();
    for (int i = 0; i < n; i++)
        while (list[i] != NULL && gai_error(list[i]) == EAI_INPROGRESS)
            if (posix__nap(&nap, COIL_NEVER) < 0)
                return EAI_INTR; /* the task was cancelled */
    return rc;
}
