/* needs: coil-posix */
/* posix.c - compiles and runs the examples in include/coil/posix.h. */
#include "listings.h"

#include <coil/posix.h>

static int ran;

static int app(void *arg)
{
    (void)arg;
    ran++;
    return 0;
}

static void parse_with_rust(void)
{
}

static int run_with_thread_keys(void)
{
    int rc;
#include "posix.h/2"
    return rc;
}

/*
 * The example gets NULL instead of hooks, because this program does not define
 * thread-local variables.
 */
static int run_with_thread_locals(void)
{
    int rc;
#include "posix.h/3"
    return rc;
}

static void GC_malloc(void)
{
}

/* The call in the example fails here, because this program itself defines GC_malloc(). */
static int exclude_collector(void)
{
    int rc;
#include "posix.h/4"
    return rc;
}

int main(void)
{
    if (exclude_collector() >= 0)
        return 1;
    return run_with_thread_keys() != 0 || run_with_thread_locals() != 0 || ran != 2;
}
