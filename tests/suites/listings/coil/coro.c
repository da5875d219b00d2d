/* coro.c - compiles and runs the examples in include/coil/coro.h. */
#include "listings.h"

#include "coro.h/1"

static int use(void)
{
#include "coro.h/2"
    return 0;
}

int main(void)
{
    CHECK(use() == 0);
    return 0;
}
