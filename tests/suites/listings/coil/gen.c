/* gen.c - the program around the listings of include/coil/gen.h. */
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
