/*
 * stacks.c - replace two functions that the harness calls, because the shared libcoil
 * does not export them.
 */
#include "../../../src/coro/stack.h"

size_t coil__stack_count(void)
{
    return 0;
}

void coil__stack_drain(void)
{
}
