/*
 * calls.c - calls each interposed function that may wait, in a task. During the wait,
 * other tasks must run, and the kind of wait must be the one that posix/functions.h and
 * the manual state.
 *
 *     calls          all of them; prints those that do not
 *
 * Compiled with PRELOADED, the program does not refer to libcoil-posix.
 */
#define _GNU_SOURCE
#include "tails.h"

struct call {
    const char *name;
    int (*fn)(void);
    bool on_lane, at_intervals;
};

#define FUNCTION(name, call)                                                             \
    static int call_##name(void)                                                         \
    {                                                                                    \
        return (int)(call);                                                              \
    }
CALLS(FUNCTION)
CALLS_FOR_ONCE(FUNCTION)

#define SUSPENDS(name, call) {#name, call_##name, false, false},
#define ON_LANE(name, call) {#name, call_##name, true, false},
#define AT_INTERVALS(name, call) {#name, call_##name, false, true},
static const struct call calls[] = {CALLS_THAT_SUSPEND(SUSPENDS) CALLS_OF_C23(SUSPENDS)
                                        CALLS_ON_LANES(ON_LANE) CALLS_FOR_ONCE(ON_LANE)
                                            CALLS_AT_INTERVALS(AT_INTERVALS)};

/* Return true if the task's kind of wait was the one in the table. */
static bool waited_so(const struct call *c)
{
    bool on_lane = strncmp(waited_for, "blocking.", strlen("blocking.")) == 0;

    return c->on_lane == on_lane &&
           (!c->at_intervals || strcmp(waited_for, "sleep") == 0);
}

static int make(void *arg)
{
    const struct call *c = arg;

    begin();
    c->fn();
    if (waited_for != NULL && waited_so(c))
        return 0;
    fprintf(stderr, "waits for: %s\n",
            waited_for != NULL ? waited_for : "nothing: no other task has run");
    _exit(1);
}

static void report(const void *arg, int status)
{
    const struct call *c = arg;

    printf("%s(): status %d\n", c->name, status);
}

int main(void)
{
    const int count = sizeof calls / sizeof *calls;
    int wrong;

#ifndef PRELOADED
    if (!coil_posix_active())
        puts("libcoil-posix is not active");
#endif
    prepare_queues();
    wrong =
        run_alone((struct work){make, (char *)calls, sizeof *calls, count, NULL}, report);
    remove_queues();
    printf("%d calls, %d wrong\n", count, wrong);
    return wrong > 0;
}
