/*
 * stacks.c - the harness asks libcoil for its stacks, which the shared one does not tell.
 */
#include "../../src/coro/stack.h"

size_t coil__stack_count(void)
{
    return 0;
}

void coil__stack_drain(void)
{
}
