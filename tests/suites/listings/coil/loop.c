/* loop.c - compiles and runs the examples in include/coil/loop.h. */
#include "listings.h"

#include "loop.h/1"

int main(void)
{
#include "loop.h/2"
    return 0;
}
