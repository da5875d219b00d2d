/* datagram.h (internal) - struct coil_datagram, and the calls that wait on it. */
#ifndef COIL_SOCKET_DATAGRAM_H
#define COIL_SOCKET_DATAGRAM_H

#include "../stream/endpoint.h"

#include <coil/datagram.h>
#include <coil/lock.h>

struct coil_datagram {
    struct coil__endpoint endpoint;
    coil_lock line[2]; /* one per direction: held by the task whose call is in progress */
    int family;
    /* the second socket of wait_for_room(), or -1 if no task waits there */
    int room_fd;
    bool has_info; /* coil__info_request() has succeeded */
    /* the socket's own port, in network byte order; 0: not known yet */
    in_port_t port;
    size_t size;    /* size of the last datagram received */
    int held_error; /* 0, or the error that the next receiving call returns */
};

/*
 * Wait until all earlier calls in this direction have ended, and begin a call.
 * coil__datagram_leave() ends the call. Fails with -EBADF or -ECANCELED.
 */
int coil__datagram_enter(coil_datagram *datagram, enum coil__direction direction,
                         const char *caller);
void coil__datagram_leave(coil_datagram *datagram, enum coil__direction direction);

/*
 * Send or receive one datagram between coil__datagram_enter() and coil__datagram_leave().
 * Return the size of the whole datagram, even if it was truncated, which is not an error
 * here.
 */
ssize_t coil__datagram_send(coil_datagram *datagram, const void *buf, size_t n,
                            const struct sockaddr *to, socklen_t to_bytes,
                            const coil_datagram_info *info);
ssize_t coil__datagram_receive(coil_datagram *datagram, void *buf, size_t n,
                               coil_address *from, coil_datagram_info *info);

/* ---- datagram_info.c ---------------------------------------------------------------- */

/*
 * Memory for control data: the info, and one or two small items that other options
 * request.
 */
struct coil__control {
    _Alignas(struct cmsghdr) unsigned char bytes[96];
};

/*
 * Make the kernel pass info along with received datagrams. The family must be AF_INET or
 * AF_INET6.
 */
int coil__info_enable(coil_loop *loop, int fd, int family);

/* Call coil__info_enable(), unless info is already enabled or the family has none. */
int coil__info_request(coil_datagram *datagram);

/*
 * coil__info_prepare() prepares a message for receiving info in `control`. Afterwards
 * coil__info_read() reads the info from the received message.
 */
void coil__info_prepare(const coil_datagram *datagram, struct coil__control *control,
                        struct msghdr *message);
void coil__info_read(coil_datagram *datagram, struct msghdr *message,
                     coil_datagram_info *out);

/*
 * Add control data to the message, so that the kernel sends it from the address or
 * interface in `info`. If `info` is NULL, do nothing. Fails with -EAFNOSUPPORT or
 * -EOPNOTSUPP.
 */
int coil__info_write(const coil_datagram *datagram, const coil_datagram_info *info,
                     struct coil__control *control, struct msghdr *message);

#endif
