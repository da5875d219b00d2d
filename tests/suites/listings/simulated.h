/*
 * simulated.h - runs a listing on a simulated network, where every port is free and
 * example.org is 192.0.2.1. A context that includes this file begins with `needs:
 * coil-testing`.
 */
#ifndef LISTINGS_SIMULATED_H
#define LISTINGS_SIMULATED_H

#include "listings.h"

/*
 * Use a simulated network without failures for all loops that this thread creates from
 * now on.
 */
static inline void use_simulated_network(void)
{
    coil_testing_network(&(coil_network_opts){0});
}

/*
 * Resolve host names with the hosts file that tests/suites/listings/run wrote. Must be
 * called in a task.
 */
static inline void use_known_hosts(void)
{
    int rc = coil_resolver_configure(&(coil_resolver_opts){.hosts_file = "hosts"});

    CHECK(rc == 0);
}

/* A server to which the listing connects. */
struct host {
    coil_listener *listener;
    coil_server *server;
};

static inline void open_host(struct host *host, const char *port, coil_handler fn,
                             void *arg)
{
    CHECK(coil_listen(NULL, port, 0, &host->listener) == 0);
    CHECK(coil_server_create(host->listener, fn, arg, NULL, &host->server) == 0);
}

static inline void close_host(struct host *host)
{
    CHECK(coil_server_stop(host->server) == 0);
    coil_server_destroy(host->server);
    coil_listener_destroy(host->listener);
}

/* Run fn(arg) on a simulated network with a virtual clock. fn() must return 0. */
#define RUN_SIMULATED(fn, arg)                                                           \
    do {                                                                                 \
        use_simulated_network();                                                         \
        CHECK(coil_testing_run(fn, arg) == 0);                                           \
    } while (0)

#endif
