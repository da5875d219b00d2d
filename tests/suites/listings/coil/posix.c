/* needs: coil-posix */
/* posix.c - the program around the listings of include/coil/posix.h. */
#include "listings.h"

#include <coil/posix.h>

static int ran;

static int app(void *arg)
{
    (void)arg;
    ran++;
    return 0;
}

int main(void)
{
#include "posix.h/2"
    return ran != 1;
}
