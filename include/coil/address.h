/*
 * coil/address.h - where a socket is: host and port, or a path.
 *
 *     coil_address peer;
 *     char text[COIL_ADDRESS_TEXT];
 *     if (coil_stream_peer(stream, &peer) == 0)
 *         puts(coil_address_format(&peer, text, sizeof text));   // "192.0.2.7:51234"
 *
 * It comes from coil_stream_peer() and its like, coil_address_of_numbers(),
 * coil_address_of_path(), or coil_receive_from(), and goes to coil_connect_address(),
 * coil_listen_address(), coil_datagram_open_address() and others.
 *
 * A value to be copied; `length` of its bytes mean something. What connect(2), bind(2)
 * and sendto(2) take is &address.any and address.length.
 */
#ifndef COIL_ADDRESS_H
#define COIL_ADDRESS_H

#include <coil/base.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_address {
    socklen_t length; /* 0: there is none */
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
        struct sockaddr_storage storage;
    };
} coil_address;

/* Enough for the text of any address, with its '\0'. */
#define COIL_ADDRESS_TEXT 128

/*
 * Write it to `text`, cut off at `size`, and return that: "192.0.2.7:80",
 * "[fe80::1%2]:80" (a zone as its number), "/run/socket", "@abstract"; "" for none, as of
 * a local socket that was never bound. A '\0' in an abstract name is written as '@', as in
 * /proc/net/unix.
 */
COIL_API const char *coil_address_format(const coil_address *address, char *text,
                                         size_t size);

/* The port in host byte order; 0 if it has none. */
COIL_API uint16_t coil_address_port(const coil_address *address);

/*
 * The address of a host and a port in host byte order, the host in numbers:
 * "192.0.2.7", "::1", "fe80::1%eth0" (or %2); "0.0.0.0" and "::" are all of this machine,
 * to listen on. Asks nobody and does not suspend: names are coil_getaddrinfo()'s. Fails
 * with -EINVAL for what is no number, -ENODEV for a zone that there is not.
 */
COIL_API int coil_address_of_numbers(const char *host, uint16_t port, coil_address *out);

/*
 * The address of a local socket (unix(7)): a path of at most 107 bytes, or "@name" for a
 * name in the abstract namespace, which is no file. Fails with -ENAMETOOLONG, -EINVAL for
 * an empty path.
 */
COIL_API int coil_address_of_path(const char *path, coil_address *out);

#ifdef __cplusplus
}
#endif

#endif
