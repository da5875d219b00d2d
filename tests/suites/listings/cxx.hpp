/*
 * cxx.hpp - functions called by the first example in coil.hpp and docs/manual/cxx.md, and
 * a web server for it on a simulated network.
 */
#ifndef LISTINGS_CXX_HPP
#define LISTINGS_CXX_HPP

#include "listings.h"

#include <coil.hpp>

static inline void send_all(coil::stream &peer)
{
    coil::check(coil_write(peer, "a question\n", 11));
}

static inline void receive_all(coil::stream &peer)
{
    char bytes[100];

    while (coil::check(coil_read(peer, bytes, sizeof bytes)) > 0)
        continue;
}

static inline int answer_one(void *)
{
    coil::listener listener;
    coil::stream stream;
    char line[100];

    coil::check(coil_listen(nullptr, "80", 0, listener.out()));
    coil::check(coil_accept(listener, stream.out()));
    coil::check(coil_read_line(stream, line, sizeof line));
    coil::check(coil_write(stream, "an answer\n", 10));
    return 0;
}

/* Start the server to which the example connects. Must be called in a task. */
static inline void open_server()
{
    coil_resolver_opts names = {};

    names.hosts_file = "hosts";
    coil::check(coil_resolver_configure(&names));
    coil::check(coil_spawn(answer_one, nullptr, nullptr, nullptr));
    coil::check(coil_yield());
}

#define coil_connect(host, port, out) (open_server(), (coil_connect)(host, port, out))
#define main listing_main

#endif
