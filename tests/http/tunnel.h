/*
 * tunnel.h - a proxy in the test's own loop: tunnels by CONNECT, or by SOCKS 5.
 */
#ifndef TESTS_HTTP_TUNNEL_H
#define TESTS_HTTP_TUNNEL_H

#include <coil.h>

struct tunnel_proxy {
    coil_listener *listener;
    coil_group group;
    bool socks;
    int tunnels;     /* that were opened */
    char target[64]; /* of the last: "localhost:443" */
};

void tunnel_start(struct tunnel_proxy *proxy, bool socks);
void tunnel_stop(struct tunnel_proxy *proxy);

#endif
