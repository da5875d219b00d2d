/*
 * test_channel_none.c - in a build without c-ares, look-ups use the C library, and c-ares
 * cannot be configured.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <stdlib.h>
#include <sys/socket.h>

TASK_TEST(resolver_without_c_ares)
{
    static const coil_resolver_opts cares = {.engine = "c-ares"};
    static const coil_resolver_opts servers = {.servers = "192.0.2.53"};
    static const coil_resolver_opts lane = {.engine = "getaddrinfo", .no_cache = true};
    struct addrinfo v6 = {.ai_family = AF_INET6, .ai_socktype = SOCK_STREAM}, *list;

    CHECK_STR(coil_resolver_name(), "getaddrinfo");
    CHECK_INT(coil_resolver_configure(&cares), -EOPNOTSUPP);
    CHECK_INT(coil_resolver_configure(&servers), -EINVAL);
    CHECK_INT(coil_resolver_configure(&lane), 0);
    CHECK_INT(coil_resolver_configure(NULL), 0);
    CHECK_STR(coil_resolver_name(), "getaddrinfo");
    /* resolved without a look-up */
    CHECK_INT(coil_getaddrinfo("my.localhost", "80", &v6, &list), 0);
    freeaddrinfo(list);
    coil_resolver_flush();
}

/* Look-ups fail, unless they need no resolver. */
TASK_TEST(resolver_asked_for_c_ares_by_the_environment)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;

    setenv("COIL_RESOLVER", "c-ares", 1);
    CHECK_INT(coil_getaddrinfo("127.0.0.1", "80", &hints, &list), 0);
    freeaddrinfo(list);
    CHECK_INT(coil_getaddrinfo("localhost", "80", &hints, &list), -EOPNOTSUPP);
    CHECK_STR(coil_error_message(coil_last_error()),
              "COIL_RESOLVER: coil was built without c-ares");
}
