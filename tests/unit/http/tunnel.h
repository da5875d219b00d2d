/*
 * tunnel.h - a proxy in the test's own loop: tunnels with CONNECT, or with SOCKS 5.
 */
#ifndef TESTS_HTTP_TUNNEL_H
#define TESTS_HTTP_TUNNEL_H

#include <coil.h>

struct tunnel_proxy {
    coil_listener *listener;
    coil_group group;
    bool socks;
    int tunnels;     /* tunnels opened so far */
    char target[64]; /* the last tunnel's target: "localhost:443" */
};

void tunnel_start(struct tunnel_proxy *proxy, bool socks);
void tunnel_stop(struct tunnel_proxy *proxy);

#endif
