/*
 * datagram.h (internal) - a datagram socket, and who is in it.
 */
#ifndef COIL_NET_DATAGRAM_H
#define COIL_NET_DATAGRAM_H

#include "endpoint.h"

#include <coil/datagram.h>
#include <coil/lock.h>

struct coil_datagram {
    struct coil__endpoint endpoint;
    coil_lock line[2]; /* by direction: who sends, who receives */
    int family;
    int room_fd; /* by which a sender waits for a local receiver's room; -1: none does */
    size_t size; /* of what was received last */
    int held_error; /* for the next that receives; or 0 */
};

/*
 * A call begins, when all before it in its direction have ended; coil__datagram_leave()
 * ends it. -EBADF, -ECANCELED.
 */
int coil__datagram_enter(coil_datagram *datagram, enum coil__direction direction,
                         const char *caller);
void coil__datagram_leave(coil_datagram *datagram, enum coil__direction direction);

/* One datagram, in such a call: as coil_send_to() and coil_receive_from(), but that one
   which is cut off is no failure; its whole size is returned. */
ssize_t coil__datagram_send(coil_datagram *datagram, const void *buf, size_t n,
                            const struct sockaddr *to, socklen_t to_bytes);
ssize_t coil__datagram_receive(coil_datagram *datagram, void *buf, size_t n,
                               coil_address *from);

#endif
