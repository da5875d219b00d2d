/* inside.c - registers libcoil-testing with libcoil. */
#include "inside.h"

const struct coil__inside *_Atomic coil__inside;

void coil__testing_begin(void)
{
    static const struct coil__build build = COIL__THIS_BUILD;
    static const struct coil__loop_hooks hooks = {
        .backend = &coil__backend_simulated,
        .backend_is_wanted = coil__sim_is_wanted,
        .shuffle_begin = coil__shuffle_begin,
        .shuffle = coil__shuffle_batch,
    };

    if (coil__inside == NULL)
        coil__inside = coil__testing_register(&build, &hooks);
}
