/*
 * connect.c - to a host and a port, address after address.
 */
#include "socket.h"
#include "stream.h"

#include <coil/addrinfo.h>

#include <sys/socket.h>

static int connect_to(const struct addrinfo *address, coil_stream **out)
{
    int fd = coil__socket_open(coil__loop_require("coil_connect"), address->ai_family,
                               address->ai_socktype, address->ai_protocol);
    coil_stream *stream;
    int rc;

    if (fd < 0)
        return fd;
    rc = coil__stream_open_socket(fd, "coil_connect", &stream);
    if (rc < 0)
        return rc;
    rc = coil__stream_connect(stream, address->ai_addr, address->ai_addrlen);
    if (rc < 0)
        coil_stream_destroy(stream);
    else
        *out = stream;
    return rc;
}

int coil_connect(const char *host, const char *port, coil_stream **out)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    int rc = coil_getaddrinfo(host, port, &hints, &list);

    if (rc < 0)
        return rc;
    rc = -ENOENT;
    for (struct addrinfo *a = list; a != NULL && rc < 0 && rc != -ECANCELED;
         a = a->ai_next)
        rc = connect_to(a, out);
    freeaddrinfo(list);
    return rc;
}
