/*
 * stacks.c - empty versions of two functions that the test harness needs, but that the
 * shared libcoil does not export.
 */
#include "../../../src/coro/stack.h"

size_t coil__stack_count(void)
{
    return 0;
}

void coil__stack_drain(void)
{
}
