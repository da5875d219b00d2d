/* coro.c - what the listing of docs/manual/coro.md stands in. */
#include "listings.h"

#include "coro.md/coroutines-and-their-stacks"

int main(void)
{
    CHECK(count() == 0);
    return 0;
}
