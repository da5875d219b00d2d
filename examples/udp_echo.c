/*
 * udp_echo.c - a UDP server that answers from the address that the client used.
 *
 *     udp_echo [PORT]
 *
 * A machine may have several addresses, and a client ignores an answer from any address
 * except the one to which it sent its request. So DNS and QUIC servers, for example, have
 * to answer from this address. If the client used a broadcast address, the kernel chooses
 * the answer's address.
 */
#include <coil.h>

#include <stdio.h>

static ssize_t answer(coil_datagram *socket, const char *bytes, size_t n,
                      const coil_address *to, coil_datagram_info *info)
{
    ssize_t rc = coil_send_info(socket, bytes, n, &to->any, to->length, info);

    if (rc == -EINVAL || rc == -ENETUNREACH) { // not an address of this machine
        info->local.length = 0;
        rc = coil_send_info(socket, bytes, n, &to->any, to->length, info);
    }
    return rc;
}

static int app(void *arg)
{
    COIL_AUTO(coil_datagram) socket = NULL;
    coil_address name, from;
    coil_datagram_info info;
    char bytes[2048];
    ssize_t n = coil_datagram_open("0.0.0.0", arg, COIL_DATAGRAM_INFO, &socket);

    if (n == 0)
        n = coil_datagram_name(socket, &name);
    if (n < 0)
        return (int)n;
    printf("listening on port %u\n", coil_address_port(&name));
    fflush(stdout);
    for (;;) {
        n = coil_receive_info(socket, bytes, sizeof bytes, &from, &info);
        if (n == -EMSGSIZE)
            continue;
        if (n < 0)
            return (int)n;
        n = answer(socket, bytes, (size_t)n, &from, &info);
        if (n == -ECANCELED)
            return (int)n; // other failures affect only this client
    }
}

int main(int argc, char **argv)
{
    int rc = coil_run(app, argc > 1 ? argv[1] : "0", NULL); // until Ctrl-C

    return rc != -EINTR && rc != 0;
}
