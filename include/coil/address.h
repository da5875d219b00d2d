/*
 * coil/address.h - addresses of sockets: host and port, or a path.
 *
 *     coil_address peer;
 *     char text[COIL_ADDRESS_TEXT];
 *     if (coil_stream_peer(stream, &peer) == 0)
 *         puts(coil_address_format(&peer, text, sizeof text));   // "192.0.2.7:51234"
 *
 * coil_stream_peer() and similar functions, coil_address_of_numbers(),
 * coil_address_of_path() and coil_receive_from() return addresses.
 * coil_connect_address(), coil_listen_address(), coil_datagram_open_address() and others
 * take one.
 *
 * An address is a value that may be copied; its first `length` bytes are valid. For
 * connect(2), bind(2) and sendto(2) pass &address.any and address.length.
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
    socklen_t length; /* 0 means no address */
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
        struct sockaddr_storage storage;
    };
} coil_address;

/* A buffer size that is sufficient for the text of any address, including its '\0'. */
#define COIL_ADDRESS_TEXT 128

/*
 * Write the address as text to `text`, a buffer of `size` bytes, and return `text`.
 *
 * Examples of such texts are "192.0.2.7:80", "[fe80::1%2]:80" (with a numeric zone),
 * "/run/socket" and "@abstract". The text is "" if there is no address, for example for a
 * local socket that was never bound. A '\0' in an abstract name is written as '@', as in
 * /proc/net/unix.
 */
COIL_API const char *coil_address_format(const coil_address *address, char *text,
                                         size_t size);

/* Return the port in host byte order; 0 for a local socket. */
COIL_API uint16_t coil_address_port(const coil_address *address);

/*
 * Create an address from a numeric host and a port in host byte order. Does not suspend.
 *
 * Examples of hosts are "192.0.2.7", "::1" and "fe80::1%eth0" (or %2). To listen on all
 * addresses of this machine, use "0.0.0.0" or "::". To look up a name, use
 * coil_getaddrinfo(). Fails with -EINVAL if the host is not numeric, or with -ENODEV for
 * an unknown zone.
 */
COIL_API int coil_address_of_numbers(const char *host, uint16_t port, coil_address *out);

/*
 * Create the address of a local socket (unix(7)): a path of at most 107 bytes, or
 * "@name". "@name" is in the abstract namespace, where no file is created. Fails with
 * -ENAMETOOLONG if the path is longer, or with -EINVAL if it is empty.
 */
COIL_API int coil_address_of_path(const char *path, coil_address *out);

#ifdef __cplusplus
}
#endif

#endif
