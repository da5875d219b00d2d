/*
 * datagram_batch.c - sends or receives several datagrams with one system call.
 *
 * sendmmsg(2) and recvmmsg(2) are called without waiting. A task that must wait waits in
 * an operation on one datagram, and then sends or receives more datagrams with one system
 * call. A simulated network has neither call, and handles one datagram at a time.
 */
#include "datagram.h"

#include "../io/socket.h"

#include "../base/fault.h"

#include <sys/uio.h>

#define AT_ONCE 16

/*
 * The arguments of one sendmmsg(2) or recvmmsg(2). A batch is small, because stacks are
 * small.
 */
struct message_batch {
    struct mmsghdr headers[AT_ONCE];
    struct iovec parts[AT_ONCE];
    struct coil__control controls[AT_ONCE];
};

/*
 * Fill in the headers of the next messages. Returns their number. If a message has
 * invalid info, returns the number of messages before it, or the error if it is the first
 * message.
 */
static int fill_headers(const coil_datagram *d, struct message_batch *batch,
                        coil_message *messages, int count, bool to_send)
{
    int n = count < AT_ONCE ? count : AT_ONCE, rc = 0;

    for (int i = 0; i < n; i++) {
        coil_message *m = &messages[i];
        bool named = !to_send || m->address.length > 0;

        batch->parts[i] = (struct iovec){m->data, m->size};
        batch->headers[i] = (struct mmsghdr){
            .msg_hdr = {.msg_name = named ? &m->address.storage : NULL,
                        .msg_namelen = !named    ? 0
                                       : to_send ? m->address.length
                                                 : (socklen_t)sizeof m->address.storage,
                        .msg_iov = &batch->parts[i],
                        .msg_iovlen = 1}};
        if (to_send)
            rc = coil__info_write(d, m->info, &batch->controls[i],
                                  &batch->headers[i].msg_hdr);
        else if (m->info != NULL)
            coil__info_prepare(d, &batch->controls[i], &batch->headers[i].msg_hdr);
        if (rc < 0)
            return i > 0 ? i : rc;
    }
    return n;
}

static bool is_simulated(const coil_datagram *d)
{
    return coil__socket_is_simulated(d->endpoint.loop, d->endpoint.fd);
}

/* ---- sending ----------------------------------------------------------------------- */

/* True if errno means that a non-blocking call would have to wait. */
static bool would_wait(void)
{
    return errno == EAGAIN || errno == EINTR;
}

/*
 * Send without waiting. Returns the number of datagrams sent, which may be 0, or the
 * error of the first datagram.
 */
static int send_some(coil_datagram *d, coil_message *messages, int count)
{
    struct message_batch batch;
    int n;

    if (count < 2 || d->endpoint.fd < 0 || is_simulated(d))
        return 0;
    n = fill_headers(d, &batch, messages, count, true);
    if (n < 0)
        return n;
    n = COIL__CALL(ENOBUFS, sendmmsg(d->endpoint.fd, batch.headers, (unsigned)n,
                                     MSG_DONTWAIT | MSG_NOSIGNAL));
    return n < 0 && would_wait() ? 0 : n < 0 ? coil__failed(-errno) : n;
}

static ssize_t send_one(coil_datagram *d, const coil_message *m)
{
    const struct sockaddr *to = m->address.length > 0 ? &m->address.any : NULL;

    return coil__datagram_send(d, m->data, m->size, to, m->address.length, m->info);
}

static int send_all(coil_datagram *d, coil_message *messages, int count)
{
    ssize_t rc = 0;
    int done = 0;

    while (done < count && rc >= 0) {
        int n = 0;

        rc = coil__endpoint_spend(&d->endpoint);
        if (rc == 0)
            rc = n = send_some(d, messages + done, count - done);
        if (rc == 0) {
            rc = send_one(d, &messages[done]);
            n = 1;
        }
        if (rc >= 0)
            done += n;
    }
    return done > 0 ? done : (int)rc;
}

int coil_send_batch(coil_datagram *datagram, coil_message *messages, int count)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    COIL__REQUIRE_IF(count > 0, messages, "an array");
    int rc = coil__datagram_enter(datagram, COIL__OUT, "coil_send_batch");

    if (rc < 0)
        return rc;
    rc = count < 0 ? coil__failed(-EINVAL) : send_all(datagram, messages, count);
    coil__datagram_leave(datagram, COIL__OUT);
    return rc;
}

/* ---- receiving --------------------------------------------------------------------- */

/*
 * Receive without waiting. Returns the number of datagrams received, which may be 0. An
 * error, such as that of an ICMP message, is stored for the next call.
 */
static int receive_some(coil_datagram *d, coil_message *messages, int count)
{
    struct message_batch batch;
    int n;

    if (count == 0 || d->endpoint.fd < 0 || is_simulated(d))
        return 0;
    n = fill_headers(d, &batch, messages, count, false);
    n = COIL__CALL(ENOMEM, recvmmsg(d->endpoint.fd, batch.headers, (unsigned)n,
                                    MSG_DONTWAIT | MSG_TRUNC, NULL));
    if (n < 0 && !would_wait())
        d->held_error = -errno;
    for (int i = 0; i < n; i++) {
        messages[i].received = batch.headers[i].msg_len;
        messages[i].address.length = batch.headers[i].msg_hdr.msg_namelen;
        if (messages[i].info != NULL)
            coil__info_read(d, &batch.headers[i].msg_hdr, messages[i].info);
    }
    return n > 0 ? n : 0;
}

static int request_info(coil_datagram *d, const coil_message *messages, int count)
{
    for (int i = 0; i < count; i++)
        if (messages[i].info != NULL)
            return coil__info_request(d);
    return 0;
}

static int receive_all(coil_datagram *d, coil_message *messages, int count)
{
    ssize_t size = request_info(d, messages, count);
    int done = 1, n;

    if (size == 0)
        size = coil__datagram_receive(d, messages[0].data, messages[0].size,
                                      &messages[0].address, messages[0].info);
    if (size < 0)
        return (int)size;
    messages[0].received = (size_t)size;
    do {
        n = receive_some(d, messages + done, count - done);
        done += n;
    } while (n == AT_ONCE);
    d->size = messages[done - 1].received;
    return done;
}

int coil_receive_batch(coil_datagram *datagram, coil_message *messages, int count)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    COIL__REQUIRE_IF(count > 0, messages, "an array");
    int rc = coil__datagram_enter(datagram, COIL__IN, "coil_receive_batch");

    if (rc < 0)
        return rc;
    rc = count < 1 ? coil__failed(-EINVAL) : receive_all(datagram, messages, count);
    coil__datagram_leave(datagram, COIL__IN);
    return rc;
}
