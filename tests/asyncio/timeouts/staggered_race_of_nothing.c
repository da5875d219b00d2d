/* A race of nothing is won by nobody. */
#include "../scenario.h"

static void race(const coil_work works[], size_t n, int64_t delay)
{
    size_t winner = 1;

    coil_staggered_race(works, n, delay, &winner, NULL);
    if (winner == n)
        trace("nobody won");
}

SCENARIO(staggered_race_of_nothing)
{
    race(NULL, 0, COIL_NEVER);
    race(NULL, 0, COIL_SEC(1));
    return 0;
}
