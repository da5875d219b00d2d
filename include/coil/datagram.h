/*
 * coil/datagram.h - datagrams: UDP, and those of local sockets.
 *
 *     coil_datagram *d;
 *     coil_address from;
 *     rc = coil_datagram_open(NULL, "5353", 0, &d);
 *     while (rc >= 0 && (rc = coil_receive_from(d, buf, sizeof buf, &from)) >= 0)
 *         rc = coil_send_to(d, buf, rc, &from.any, from.length);      // echo
 *     coil_datagram_destroy(d);
 *
 * Each call moves one whole datagram: a result of 0 is an empty datagram, not an end. Any
 * number of tasks may send and receive; each direction has a line, first come, first
 * served. UDP may lose and reorder datagrams; local sockets do neither.
 * (asyncio: create_datagram_endpoint, sock_sendto, sock_recvfrom)
 *
 * A cancelled call has moved nothing. A call that need not wait returns its result.
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

#define COIL_DATAGRAM_BROADCAST 1u  /* may send to broadcast addresses (SO_BROADCAST) */
#define COIL_DATAGRAM_REUSE_PORT 2u /* others may have the port too (SO_REUSEPORT) */
#define COIL_DATAGRAM_V6_ONLY 4u    /* a socket of IPv6 is not for IPv4 too */

/*
 * A socket bound to a host (NULL for all addresses, IPv6 and IPv4) and a port (NULL or
 * "0" for a free one). The first of the host's addresses that works is taken.
 *
 * Suspends for names only. Fails as bind(2), as coil_getaddrinfo(), with -EINVAL for an
 * unknown flag, -EMFILE, -ENOMEM. *out is the caller's.
 */
COIL_SUSPENDS int coil_datagram_open(const char *host, const char *port, unsigned flags,
                                     coil_datagram **out);

/*
 * A connected socket: coil_send() sends to this peer, and only datagrams from it are
 * received. If ICMP reports later that no socket is bound there, the next call of either
 * direction is -ECONNREFUSED and has moved nothing; the one after it works again. Fails
 * as connect(2), else as coil_datagram_open().
 */
COIL_SUSPENDS int coil_datagram_connect(const char *host, const char *port,
                                        coil_datagram **out);

/*
 * The same with an address, of IPv4, IPv6 or a local socket: as coil_datagram_name(),
 * coil_receive_from(), coil_address_of_numbers() or coil_address_of_path() made it. No
 * name is looked up. Local sockets have no flags (-EINVAL). -EINVAL for an address that
 * is not whole, -EAFNOSUPPORT for one of another family; else as above.
 */
COIL_API int coil_datagram_open_address(const coil_address *at, unsigned flags,
                                        coil_datagram **out);
COIL_SUSPENDS int coil_datagram_connect_address(const coil_address *to,
                                                coil_datagram **out);

/*
 * The same with a local socket, unix(7): path, or "@name" in the abstract namespace. Open
 * makes a file that is the caller's to unlink(2); NULL for one without a name, which can
 * only send. One that is connected gets an abstract name, so that it can be answered.
 * Fail as bind(2) and connect(2), and as coil_address_of_path().
 */
COIL_API int coil_datagram_open_unix(const char *path, coil_datagram **out);
COIL_API int coil_datagram_connect_unix(const char *path, coil_datagram **out);

/*
 * Make one of a socket, which it then owns; it is made non-blocking. Fails with
 * -EPROTOTYPE for one of another type, -ENOTSOCK, -EBADF, -ENOMEM; the descriptor remains
 * the caller's then.
 */
COIL_API int coil_datagram_adopt(int fd, coil_datagram **out);

/* As coil_stream_close() and coil_stream_destroy(): tasks in a call get -EBADF. */
COIL_API int coil_datagram_close(coil_datagram *datagram);
COIL_API void coil_datagram_destroy(coil_datagram *datagram);

/* The descriptor, borrowed; -1 when closed. */
COIL_API int coil_datagram_fd(const coil_datagram *datagram);

/* Its own address, and that of the peer it is connected to. Fail with -EBADF when closed,
   -ENOTCONN. */
COIL_API int coil_datagram_name(const coil_datagram *datagram, coil_address *out);
COIL_API int coil_datagram_peer(const coil_datagram *datagram, coil_address *out);

/* setsockopt(2): IP_MULTICAST_TTL, SO_RCVBUF and so on. */
COIL_API int coil_datagram_set_option(coil_datagram *datagram, int level, int name,
                                      const void *value, socklen_t value_bytes);

/*
 * Receive what is sent to a multicast group from now on, or no longer: "239.1.2.3",
 * "ff02::fb". `interface` is a name, "eth0"; NULL: the kernel chooses. Fails with -EINVAL
 * for what is no address of a group, -ENODEV for an unknown interface, -EADDRNOTAVAIL, or
 * as setsockopt(2).
 */
COIL_API int coil_datagram_join(coil_datagram *datagram, const char *group,
                                const char *interface);
COIL_API int coil_datagram_leave(coil_datagram *datagram, const char *group,
                                 const char *interface);

/* ---- one at a time ----------------------------------------------------------------- */

/*
 * Send n bytes as one datagram, waiting where the kernel has no room for it, or a local
 * receiver has too many waiting. Returns n. Fails as sendto(2): -EMSGSIZE for one that is
 * too large, -EDESTADDRREQ for coil_send() on one that is not connected; -EBADF,
 * -ECANCELED.
 */
COIL_SUSPENDS ssize_t coil_send(coil_datagram *datagram, const void *buf, size_t n);
COIL_SUSPENDS ssize_t coil_send_to(coil_datagram *datagram, const void *buf, size_t n,
                                   const struct sockaddr *to, socklen_t to_bytes);

/*
 * Wait for a datagram; returns its size, which may be 0. Who sent it is in *from, if that
 * is not NULL: of length 0 for a local socket without a name.
 *
 * One that is larger than the buffer is -EMSGSIZE: its first n bytes are in the buffer,
 * the others are lost, and coil_datagram_size() says how large it was. Fails as
 * recvmsg(2), -EBADF, -ECANCELED.
 */
COIL_SUSPENDS ssize_t coil_receive(coil_datagram *datagram, void *buf, size_t n);
COIL_SUSPENDS ssize_t coil_receive_from(coil_datagram *datagram, void *buf, size_t n,
                                        coil_address *from);

/* The size of the datagram received last, all of it. */
COIL_API size_t coil_datagram_size(const coil_datagram *datagram);

/* ---- many at a time ---------------------------------------------------------------- */

typedef struct coil_message {
    void *data;
    size_t size;          /* to send: of the datagram; to receive: of the buffer */
    size_t received;      /* the size of what came: above `size`, the rest is lost */
    coil_address address; /* to whom (length 0: the peer), or from whom */
} coil_message;

/*
 * Send the messages in order, waiting as often as needed. Returns how many were sent: all
 * of them, or those before the first that failed; that failure is returned if it is the
 * first. One system call sends many. (sendmmsg)
 */
COIL_SUSPENDS int coil_send_batch(coil_datagram *datagram, coil_message *messages,
                                  int count);

/*
 * Wait for a datagram and take along what else has come, up to `count`. Returns how many,
 * at least 1, or fails as coil_receive(), but for -EMSGSIZE. One or two system calls
 * receive many. (recvmmsg)
 */
COIL_SUSPENDS int coil_receive_batch(coil_datagram *datagram, coil_message *messages,
                                     int count);

#ifdef __cplusplus
}
#endif

#endif
