/*
 * tunnel.h - a proxy on the test's own loop, which opens tunnels with CONNECT or SOCKS 5.
 */
#ifndef TESTS_HTTP_TUNNEL_H
#define TESTS_HTTP_TUNNEL_H

#include <coil.h>

struct tunnel_proxy {
    coil_listener *listener;
    coil_group group;
    bool socks;
    int tunnels;     /* number of tunnels opened so far */
    char target[64]; /* the last tunnel's target: "localhost:443" */
};

void tunnel_start(struct tunnel_proxy *proxy, bool socks);
void tunnel_stop(struct tunnel_proxy *proxy);

#endif
