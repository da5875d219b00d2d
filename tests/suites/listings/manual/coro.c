/* coro.c - compiles and runs the examples in docs/manual/coro.md. */
#include "listings.h"

#include "coro.md/coroutines-and-their-stacks"

int main(void)
{
    CHECK(count() == 0);
    return 0;
}
