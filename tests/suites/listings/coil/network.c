/* needs: coil-testing */
/* network.c - compiles and runs the examples in include/coil/network.h. */
#include "listings.h"

static int test_of_client_and_server(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1));
}

int main(void)
{
    int rc;

#include "network.h/1"
    CHECK(rc == 0);
    return 0;
}
