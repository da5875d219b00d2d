/* gen.c - compiles and runs the examples in include/coil/gen.h. */
#include "listings.h"

#include "gen.h/1"

static int print_all(void)
{
#include "gen.h/2"
    return 0;
}

int main(void)
{
    CHECK(print_all() == 0);
    return 0;
}
