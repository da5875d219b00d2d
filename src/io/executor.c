/* executor.c - lanes that the program creates, and the thread limits of all lanes. */
#include "lane.h"

#include "../loop/leak.h"

int coil_executor_set_limit(coil_lane number, unsigned max_threads)
{
    if ((size_t)number >= COIL__LANE_COUNT || max_threads < 1 ||
        max_threads > COIL__LANE_THREADS_MAX)
        return coil__failed(-EINVAL);
    coil__lanes_set_up();
    if (!coil__lane_set_limit(&coil__lanes[number], max_threads))
        return coil__failed(-EINVAL);
    return 0;
}

int coil_executor_create(const char *name, unsigned max_threads, coil_lane *out)
{
    COIL__REQUIRE(name, "a name");
    COIL__REQUIRE(out, "an output pointer");
    static const struct coil__leak_kind kind = {"an executor", NULL, "destroyed"};

    *out = (coil_lane)-1; /* not a lane: coil_blocking() aborts if it gets this value */
    if (max_threads > COIL__LANE_THREADS_MAX)
        return coil__failed(-EINVAL);
    coil__lanes_set_up();
    for (size_t i = COIL_LANE_CPU + 1; i < COIL__LANE_COUNT; i++) {
        if (coil__lane_claim(&coil__lanes[i], name, max_threads)) {
            coil__leak_note(&kind, &coil__lanes[i], 0, name);
            *out = (coil_lane)i;
            return 0;
        }
    }
    return coil__failed(-EMFILE);
}

void coil_executor_destroy(coil_lane number)
{
    struct coil__lane *lane =
        &coil__lanes[(size_t)number < COIL__LANE_COUNT ? number : 0];

    coil__lanes_set_up();
    if (lane <= &coil__lanes[COIL_LANE_CPU] || !lane->exists)
        coil__misuse("coil_executor_destroy: lane %d was not created by the program, or "
                     "was destroyed",
                     (int)number);
    coil__leak_forget(lane);
    coil__lane_end(lane);
}
