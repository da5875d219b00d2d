/* Tasks that a reset sent away may come again; with one more they pass. */
#include "../scenario.h"

static coil_barrier barrier = COIL_BARRIER_INIT(4);

static int party(void *name)
{
    trace("%s: %s", (char *)name, outcome(coil_barrier_wait(&barrier)));
    trace("%s again: %s", (char *)name, outcome(coil_barrier_wait(&barrier)));
    return 0;
}

static int reset(void *arg)
{
    (void)arg;
    return coil_barrier_reset(&barrier);
}

static int last(void *arg)
{
    (void)arg;
    trace("the last: %s", outcome(coil_barrier_wait(&barrier)));
    return 0;
}

SCENARIO(barrier_reset_then_filled_again)
{
    static const char *const names[] = {"a", "b", "c"};

    for (int i = 0; i < 3; i++)
        if (start(party, (void *)names[i]) == NULL)
            return -ENOMEM;
    if (start(reset, NULL) == NULL)
        return -ENOMEM;
    turns(1);
    trace("%zu wait", coil_barrier_waiting(&barrier));
    if (start(last, NULL) == NULL)
        return -ENOMEM;
    turns(3);
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    return 0;
}
