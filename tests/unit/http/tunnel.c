/* tunnel.c - see tunnel.h. (CONNECT: RFC 9110, 9.3.6; SOCKS 5: RFC 1928) */
#include "tunnel.h"

#include "../../harness/harness.h"

#include <arpa/inet.h>

/* ---- what the client asks for ------------------------------------------------------ */

/*
 * Read a CONNECT request. Returns 0 and sets proxy->target, or returns a negative value.
 */
static int read_connect(struct tunnel_proxy *proxy, coil_stream *client)
{
    char head[2048];
    size_t n = 0;

    while (n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4) != 0) {
        if (n == sizeof head - 1 || coil_read_exact(client, head + n, 1) != 1)
            return -EPROTO;
        n++;
    }
    head[n] = '\0';
    return sscanf(head, "CONNECT %63s HTTP/1.1", proxy->target) == 1 ? 0 : -EPROTO;
}

enum { SOCKS_NAME = 3, SOCKS_IPV6 = 4 }; /* 1: IPv4 */

/*
 * Read a SOCKS request, which consists of the bytes 5, 1 (connect) and 0, a host name or
 * an address, and a port.
 */
static int read_socks_target(struct tunnel_proxy *proxy, coil_stream *client)
{
    unsigned char head[4], text[256] = {0}, port[2], length;
    char host[64] = "";

    if (coil_read_exact(client, head, 4) != 4 || head[0] != 5 || head[1] != 1)
        return -EPROTO;
    length = head[3] == SOCKS_IPV6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);
    if (head[3] == SOCKS_NAME && coil_read_exact(client, &length, 1) != 1)
        return -EPROTO;
    if (coil_read_exact(client, text, length) != length ||
        coil_read_exact(client, port, 2) != 2)
        return -EPROTO;
    if (head[3] == SOCKS_NAME)
        snprintf(host, sizeof host, "%.*s", length, (char *)text);
    else
        inet_ntop(head[3] == SOCKS_IPV6 ? AF_INET6 : AF_INET, text, host, sizeof host);
    snprintf(proxy->target, sizeof proxy->target, "%.55s:%d", host,
             port[0] << 8 | port[1]);
    return 0;
}

static int read_socks(struct tunnel_proxy *proxy, coil_stream *client)
{
    unsigned char greeting[2], methods[255];

    if (coil_read_exact(client, greeting, 2) != 2 || greeting[0] != 5 ||
        coil_read_exact(client, methods, greeting[1]) != greeting[1] ||
        coil_write(client, "\5\0", 2) != 2)
        return -EPROTO;
    return read_socks_target(proxy, client);
}

static int say_that_it_stands(const struct tunnel_proxy *proxy, coil_stream *client)
{
    static const char socks[] = "\5\0\0\1\0\0\0\0\0";
    static const char connect[] = "HTTP/1.1 200 Connection established\r\n\r\n";
    ssize_t n = proxy->socks ? coil_write(client, socks, sizeof socks)
                             : coil_write(client, connect, sizeof connect - 1);

    return n < 0 ? (int)n : 0;
}

/* ---- the tunnel -------------------------------------------------------------------- */

struct direction {
    coil_stream *from, *to;
};

static int relay(void *arg)
{
    struct direction *d = arg;
    char buf[16384];
    ssize_t n;

    while ((n = coil_read(d->from, buf, sizeof buf)) > 0)
        if (coil_write(d->to, buf, (size_t)n) < 0)
            return 0;
    coil_stream_shutdown_write(d->to);
    return 0;
}

static void relay_both_ways(coil_stream *client, coil_stream *server)
{
    struct direction there = {client, server}, back = {server, client};
    coil_group group;

    coil_group_enter(&group);
    CHECK_INT(coil_group_spawn(&group, relay, &back, NULL, NULL), 0);
    coil_group_exit(&group, relay(&there));
}

/*
 * Connect to the target's port on localhost. The target's address is ignored, because it
 * may be one of this machine's addresses on which the target does not listen.
 */
static int connect_to_target(const struct tunnel_proxy *proxy, coil_stream **server)
{
    return coil_connect("localhost", strrchr(proxy->target, ':') + 1, server);
}

static void serve_client(struct tunnel_proxy *proxy, coil_stream *client)
{
    coil_stream *server = NULL;
    int rc = proxy->socks ? read_socks(proxy, client) : read_connect(proxy, client);

    if (rc == 0)
        rc = connect_to_target(proxy, &server);
    if (rc == 0)
        rc = say_that_it_stands(proxy, client);
    if (rc == 0) {
        proxy->tunnels++;
        relay_both_ways(client, server);
    }
    coil_stream_destroy(server);
}

static int serve(void *arg)
{
    struct tunnel_proxy *proxy = arg;
    coil_stream *client;
    int rc = coil_accept(proxy->listener, &client);

    if (rc < 0)
        return rc;
    coil_group_spawn(&proxy->group, serve, proxy, NULL, NULL);
    serve_client(proxy, client);
    coil_stream_destroy(client);
    return 0;
}

void tunnel_start(struct tunnel_proxy *proxy, bool socks)
{
    *proxy = (struct tunnel_proxy){.socks = socks};
    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &proxy->listener), 0);
    coil_group_enter(&proxy->group);
    coil_group_spawn(&proxy->group, serve, proxy, NULL, NULL);
}

void tunnel_stop(struct tunnel_proxy *proxy)
{
    coil_group_exit(&proxy->group, -ECANCELED);
    coil_listener_destroy(proxy->listener);
}
