/* A result, a failure and a cancellation go from one future to the next by a callback. */
#include "../scenario.h"

static void copy(coil_future *source, void *target)
{
    coil_future_set(target, coil_future_result(source), NULL, NULL);
    trace("copied: %s", state(target));
}

SCENARIO(callback_copies_its_future_to_another)
{
    static const int rcs[] = {10, -EIO, -ECANCELED};

    for (int i = 0; i < 3; i++) {
        coil_future *source = new_future(), *target = new_future();

        if (target == NULL || coil_future_add_callback(source, copy, target) < 0)
            return -ENOMEM;
        coil_future_set(source, rcs[i], NULL, NULL);
        trace("source %s, target %s", state(source), state(target));
        trace("target: %s", outcome(coil_await(target)));
    }
    return 0;
}
