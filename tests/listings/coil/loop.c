/* loop.c - what the listings of include/coil/loop.h stand in. */
#include "listings.h"

#include "loop.h/1"

int main(void)
{
#include "loop.h/2"
    return 0;
}
