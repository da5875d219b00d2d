/* needs: coil-testing */
/* addrinfo.c - compiles and runs the examples in include/coil/addrinfo.h. */
#include "simulated.h"

static int found;

static void use(const struct sockaddr *address, socklen_t length)
{
    CHECK(address->sa_family == AF_INET && length > 0);
    found++;
}

static int app(void *arg)
{
    int rc;

    (void)arg;
    use_known_hosts();
#include "addrinfo.h/1"
    return rc;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    CHECK(found > 0);
    return 0;
}
