/*
 * coil/datagram.h - datagrams: UDP and local sockets.
 *
 *     coil_datagram *d;
 *     coil_address from;
 *     rc = coil_datagram_open(NULL, "5353", 0, &d);
 *     while (rc >= 0 && (rc = coil_receive_from(d, buf, sizeof buf, &from)) >= 0)
 *         rc = coil_send_to(d, buf, rc, &from.any, from.length);      // echo
 *     coil_datagram_destroy(d);
 *
 * Each call transfers one whole datagram. A result of 0 means an empty datagram, not the
 * end of a stream. Any number of tasks may send and receive; in each direction they are
 * served in the order of their calls. UDP may lose and reorder datagrams; local
 * sockets do neither. (asyncio: create_datagram_endpoint, sock_sendto, sock_recvfrom)
 *
 * A cancelled call transfers nothing. A call that need not wait returns its result, even
 * if the task was cancelled.
 */
#ifndef COIL_DATAGRAM_H
#define COIL_DATAGRAM_H

#include <coil/address.h>
#include <coil/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_datagram coil_datagram;

/* ---- opening ----------------------------------------------------------------------- */

#define COIL_DATAGRAM_BROADCAST 1u  /* allow broadcasts (SO_BROADCAST) */
#define COIL_DATAGRAM_REUSE_PORT 2u /* let other sockets use the port (SO_REUSEPORT) */
#define COIL_DATAGRAM_V6_ONLY 4u    /* IPv6 sockets do not receive IPv4 datagrams */
#define COIL_DATAGRAM_INFO 8u       /* see coil_receive_info() */

/*
 * Open a socket bound to a host (NULL for all addresses, IPv6 and IPv4) and a port (NULL
 * or "0" for a free one). The socket is bound to the host's first address that works.
 *
 * Suspends only to look up names. The caller owns *out. Fails like bind(2) and
 * coil_getaddrinfo(), or with -EINVAL for an unknown flag, -EMFILE, or -ENOMEM.
 */
COIL_SUSPENDS COIL_CHECKED int coil_datagram_open(const char *host, const char *port,
                                                  unsigned flags, coil_datagram **out);

/*
 * Open a connected socket: coil_send() sends to this host and port, and only datagrams
 * from there are received.
 *
 * If ICMP later reports that no socket is bound at the peer, the next call in either
 * direction fails with -ECONNREFUSED and transfers nothing. Later calls work again. Fails
 * like connect(2) and coil_datagram_open().
 */
COIL_SUSPENDS COIL_CHECKED int coil_datagram_connect(const char *host, const char *port,
                                                     coil_datagram **out);

/*
 * Open or connect a socket with an IPv4 address, an IPv6 address, or the address of a
 * local socket. No name is looked up.
 *
 * coil_datagram_name(), coil_receive_from(), coil_address_of_numbers() and
 * coil_address_of_path() produce such addresses. Fail with -EINVAL if the address is
 * incomplete, or if flags are given for a local socket. Fail with -EAFNOSUPPORT for any
 * other address family; otherwise like coil_datagram_open() and coil_datagram_connect().
 */
COIL_API COIL_CHECKED int coil_datagram_open_address(const coil_address *at,
                                                     unsigned flags, coil_datagram **out);
COIL_SUSPENDS COIL_CHECKED int coil_datagram_connect_address(const coil_address *to,
                                                             coil_datagram **out);

/*
 * Open or connect a local socket (unix(7)). The name of such a socket is a path, or
 * "@name" in the abstract namespace.
 *
 * Opening a path creates a file, which the caller removes with unlink(2). NULL opens a
 * socket without a name, which can only send. A connected socket gets an abstract name,
 * so that the peer can reply. Fail like bind(2), connect(2) and coil_address_of_path().
 */
COIL_API COIL_CHECKED int coil_datagram_open_unix(const char *path, coil_datagram **out);
COIL_API COIL_CHECKED int coil_datagram_connect_unix(const char *path,
                                                     coil_datagram **out);

/*
 * Make a coil_datagram from a socket. The coil_datagram then owns the socket, which
 * becomes non-blocking. Fails with -ENOTSOCK, -EBADF or -ENOMEM, or with -EPROTOTYPE if
 * the socket is not a datagram socket. After a failure the caller still owns the
 * descriptor.
 */
COIL_API COIL_CHECKED int coil_datagram_adopt(int fd, coil_datagram **out);

/*
 * Close, or close and free, like coil_stream_close() and coil_stream_destroy(). Calls in
 * progress fail with -EBADF.
 */
COIL_API int coil_datagram_close(coil_datagram *datagram);
COIL_API void coil_datagram_destroy(coil_datagram *datagram);

/* Return the descriptor, borrowed; -1 when closed. */
COIL_API int coil_datagram_fd(const coil_datagram *datagram);

/*
 * Return the socket's own address, or the address of the connected peer. Fail with -EBADF
 * if the socket is closed, or with -ENOTCONN if it has no peer.
 */
COIL_API int coil_datagram_name(const coil_datagram *datagram, coil_address *out);
COIL_API int coil_datagram_peer(const coil_datagram *datagram, coil_address *out);

/* Set an option with setsockopt(2), for example IP_MULTICAST_TTL or SO_RCVBUF. */
COIL_API int coil_datagram_set_option(coil_datagram *datagram, int level, int name,
                                      const void *value, socklen_t value_bytes);

/*
 * Join or leave a multicast group, such as "239.1.2.3" or "ff02::fb": start or stop
 * receiving its datagrams. `interface` is a name such as "eth0"; NULL lets the kernel
 * choose.
 *
 * Fail with -EINVAL if `group` is not a multicast address, -ENODEV for an unknown
 * interface, -EADDRNOTAVAIL, or like setsockopt(2).
 */
COIL_API int coil_datagram_join(coil_datagram *datagram, const char *group,
                                const char *interface);
COIL_API int coil_datagram_leave(coil_datagram *datagram, const char *group,
                                 const char *interface);

/* ---- one at a time ----------------------------------------------------------------- */

/*
 * Send n bytes as one datagram, suspending while the kernel's buffer or a local
 * receiver's queue is full.
 *
 * Returns n. Fails like sendto(2): -EMSGSIZE for a datagram that is too large, or
 * -EDESTADDRREQ for coil_send() without a connected peer. Also fails with -EBADF or
 * -ECANCELED.
 */
COIL_SUSPENDS ssize_t coil_send(coil_datagram *datagram, const void *buf, size_t n);
COIL_SUSPENDS ssize_t coil_send_to(coil_datagram *datagram, const void *buf, size_t n,
                                   const struct sockaddr *to, socklen_t to_bytes);

/*
 * Wait for a datagram and return its size, which may be 0. If `from` is not NULL, *from
 * receives the sender's address, whose length is 0 for a local socket without a name.
 *
 * If the datagram is larger than the buffer, the call fails with -EMSGSIZE. In that case
 * the buffer contains the first n bytes, the other bytes are lost, and
 * coil_datagram_size() returns the full size. Also fails like recvmsg(2), or with -EBADF
 * or -ECANCELED.
 */
COIL_SUSPENDS COIL_CHECKED ssize_t coil_receive(coil_datagram *datagram, void *buf,
                                                size_t n);
COIL_SUSPENDS COIL_CHECKED ssize_t coil_receive_from(coil_datagram *datagram, void *buf,
                                                     size_t n, coil_address *from);

/* Return the full size of the datagram that was received last. */
COIL_API size_t coil_datagram_size(const coil_datagram *datagram);

/* ---- the address at this machine ---------------------------------------------------- */

/*
 * The local address and the interface of a datagram. For a received datagram: the address
 * to which it was sent, and the interface at which it arrived. For a datagram to send:
 * the source address, and the interface through which it is sent.
 *
 * If a machine has several addresses and a socket is bound to all of them, the socket
 * answers from the address that the routing table chooses. A client that has sent its
 * request to another address drops such an answer. To answer from the right address, a
 * server passes the info of the request:
 *
 *     coil_datagram_info info;
 *     n = coil_receive_info(d, buf, sizeof buf, &from, &info);
 *     if (n >= 0)
 *         n = coil_send_info(d, buf, n, &from.any, from.length, &info);
 */
typedef struct coil_datagram_info {
    coil_address local; /* a length of 0 means unknown, or any */
    unsigned interface; /* interface index (if_nametoindex(3)); 0: unknown, or any */
} coil_datagram_info;

/*
 * Like coil_receive_from(), but also returns the datagram's info. `from` may be NULL.
 * (IP_PKTINFO in ip(7), RFC 3542: IPV6_RECVPKTINFO)
 *
 * The address has the socket's family: for IPv4, an IPv6 socket gets an address such as
 * ::ffff:192.0.2.7. The port of the address is the socket's own. For a broadcast or
 * multicast datagram, the address is the broadcast or group address: set its length to 0
 * before you reply.
 *
 * With COIL_DATAGRAM_INFO the kernel saves the info of every datagram. Without this flag
 * the first call requests the info, which may be missing for datagrams that arrived
 * earlier. The info is empty on local sockets. The info is also empty if other options of
 * the socket request so much control data that it does not fit.
 */
COIL_SUSPENDS COIL_CHECKED ssize_t coil_receive_info(coil_datagram *datagram, void *buf,
                                                     size_t n, coil_address *from,
                                                     coil_datagram_info *info);

/*
 * Like coil_send_to(), but send from the address info->local and through the interface.
 * The port of info->local is ignored. If `info` is NULL, the call is the same as
 * coil_send_to(). If `to` is NULL, the datagram is sent to the connected peer.
 *
 * An IPv6 socket also accepts an IPv4 address. Also fails with -EINVAL or -ENETUNREACH if
 * info->local does not belong to this machine, -ENODEV for an unknown interface,
 * -EAFNOSUPPORT for an address of another family, or -EOPNOTSUPP for a local socket.
 */
COIL_SUSPENDS ssize_t coil_send_info(coil_datagram *datagram, const void *buf, size_t n,
                                     const struct sockaddr *to, socklen_t to_bytes,
                                     const coil_datagram_info *info);

/* ---- many at a time ---------------------------------------------------------------- */

typedef struct coil_message {
    void *data;
    size_t size; /* size of the datagram to send, or of the receive buffer */
    /* size of the received datagram; if above `size`, the rest is lost */
    size_t received;
    coil_address address;     /* receiver (length 0: the connected peer) or sender */
    coil_datagram_info *info; /* as in coil_send_info() or coil_receive_info(); or NULL */
} coil_message;

/*
 * Send the messages in order, many with each system call, suspending as often as
 * necessary. (sendmmsg)
 *
 * Returns how many messages were sent: all of them, or the messages before the first
 * failure. If the first message fails, its error is returned.
 */
COIL_SUSPENDS int coil_send_batch(coil_datagram *datagram, coil_message *messages,
                                  int count);

/*
 * Wait for a datagram, and receive up to `count` datagrams that have arrived, many with
 * each system call. (recvmmsg)
 *
 * Returns how many datagrams were received, at least 1. Fails like coil_receive(), but
 * never with -EMSGSIZE. Fails with -EINVAL if `count` is less than 1.
 */
COIL_SUSPENDS COIL_CHECKED int coil_receive_batch(coil_datagram *datagram,
                                                  coil_message *messages, int count);

#ifdef __cplusplus
}
#endif

#endif
