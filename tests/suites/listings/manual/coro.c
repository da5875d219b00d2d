/* coro.c - the program around the listing of docs/manual/coro.md. */
#include "listings.h"

#include "coro.md/coroutines-and-their-stacks"

int main(void)
{
    CHECK(count() == 0);
    return 0;
}
