/*
 * io_uring_receive.c - reads: multishot receives, and buffers for bytes received ahead.
 *
 *   small reads that wait ---> armed: the kernel repeatedly receives into buffers of the
 *                              ring, and reports which ones
 *       a read waits --------> the bytes are copied to it, the buffer is returned
 *       no read waits -------> queued; the next read takes it without the kernel;
 *                              at QUEUED_MOST buffers the receive is cancelled
 *   a large read ------------> the receive is cancelled; bytes go to the read directly
 *
 * Until the connection's first small read, a wait for readability (READABLE) is a poll.
 * After that read, such a wait uses the multishot receive.
 *
 * So once a client's connection has a multishot receive, the server needs neither a queue
 * entry nor a system call to get the next request.
 *
 * Invariants
 * 1. Reads take bytes in the order of their arrival. A read never skips queued bytes, and
 *    a plain read is submitted only if there is no multishot receive.
 * 2. The end of file or an error (`end`) is returned once, after all queued bytes.
 * 3. A read that waits for a multishot receive is not itself in the kernel: if it is
 *    cancelled, it ends immediately without having taken bytes.
 * 4. If there are no free buffers (ENOBUFS), plain reads are used.
 *
 * The kernel uses the buffers in the order in which they were offered. If coil offered
 * all buffers, each buffer would have left the processor's caches before its next use. So
 * coil offers only the few buffers that were returned last, and more if these are not
 * enough.
 *
 * Multishot receives are used only for stream sockets, because a datagram must be
 * received as a whole, and not for the first read of a connection, because many
 * connections are read only once. After several large reads a connection uses only plain
 * reads.
 */
#include "io_uring_receive.h"

#include "../../base/fault.h"
#include "../loop.h"

#include <string.h>
#include <sys/mman.h>

/*
 * The stride is not a power of two: otherwise the buffers would compete for the same
 * cache lines.
 */
enum {
    BUFFERS = 512,
    BUFFER_BYTES = 2048,
    BUFFER_STRIDE = 2048 + 64,
    RING_BYTES = BUFFERS * sizeof(struct io_uring_buf),
    MEMORY_BYTES = RING_BYTES + BUFFERS * BUFFER_STRIDE,
    GROUP = 0,
    NONE = BUFFERS,
    OFFER_FIRST = 64,
    FREE_TO_ARM = BUFFERS / 8,
    LARGE_READ = 2 * BUFFER_BYTES + 1,
    QUEUED_MOST = 8,
    READS_TO_ARM = 2,
    CALLED_OFF_MOST = 4 /* after more cancelled receives, use only plain reads */
};

/* ---- the buffers ------------------------------------------------------------------- */

static char *memory_of(const struct coil__uring_buffers *b, unsigned id)
{
    return b->memory + (size_t)id * BUFFER_STRIDE;
}

static void return_buffer(struct coil__uring_buffers *b, unsigned id)
{
    b->state[id].next = (uint16_t)b->spare;
    b->spare = id;
    b->free++;
}

static void offer_buffer(struct coil__uring_buffers *b, unsigned id)
{
    struct io_uring_buf *slot = &b->ring->bufs[b->tail & (BUFFERS - 1)];

    /* Do not set slot->resv: in the first slot this is the ring's tail. */
    slot->addr = (uintptr_t)memory_of(b, id);
    slot->len = BUFFER_BYTES;
    slot->bid = (uint16_t)id;
    b->tail++;
    b->offered++;
}

void coil__uring_offer_buffers(struct coil__uring *u)
{
    struct coil__uring_buffers *b = &u->buffers;

    if (b->ring == NULL)
        return;
    if (b->ran_out && b->offer < BUFFERS)
        b->offer *= 2;
    b->ran_out = false;
    for (; b->offered < b->offer && b->spare != NONE; b->spare = b->state[b->spare].next)
        offer_buffer(b, b->spare);
    io_uring_smp_store_release(&b->ring->tail, b->tail);
}

static void free_memory(struct coil__uring_buffers *b)
{
    munmap(b->ring, MEMORY_BYTES);
    coil__free(b->state);
    b->ring = NULL;
}

/* Map one block for the ring and the buffers. Untouched pages use no memory. */
static bool get_memory(struct coil__uring_buffers *b)
{
    void *memory = MAP_FAILED;

    b->state = coil__alloc(BUFFERS * sizeof *b->state);
    if (b->state == NULL)
        return false;
    if (!coil__call_fails(ENOMEM, "mmap(NULL, MEMORY_BYTES)"))
        memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        coil__free(b->state);
        return false;
    }
    b->ring = memory;
    b->memory = (char *)memory + RING_BYTES;
    return true;
}

static bool get_buffers(struct coil__uring *u)
{
    struct coil__uring_buffers *b = &u->buffers;
    struct io_uring_buf_reg registration = {.ring_entries = BUFFERS, .bgid = GROUP};
    int rc;

    if (b->ring != NULL)
        return true;
    if (b->failed || !get_memory(b)) {
        b->failed = true;
        return false;
    }
    registration.ring_addr = (uintptr_t)b->ring;
    rc = coil__call_fails(ENOMEM, "io_uring_register(IORING_REGISTER_PBUF_RING)")
             ? -ENOMEM
             : io_uring_register_buf_ring(&u->ring, &registration, 0);
    if (rc < 0) {
        free_memory(b);
        b->failed = true;
        return false;
    }
    b->spare = NONE;
    b->offer = OFFER_FIRST;
    for (unsigned id = BUFFERS; id > 0; id--)
        return_buffer(b, id - 1);
    return true;
}

/*
 * If the kernel refuses all calls, it may still write to the buffers, so they stay
 * mapped.
 */
void coil__uring_free_buffers(struct coil__uring *u)
{
    if (u->buffers.ring == NULL)
        return;
    if (u->dead == 0)
        free_memory(&u->buffers);
    else
        coil__free(u->buffers.state);
}

/* ---- bytes received ahead ---------------------------------------------------------- */

static void queue(struct coil__uring *u, struct coil__descriptor *d, unsigned id,
                  unsigned from, unsigned to)
{
    struct coil__uring_buffer *state = u->buffers.state;

    state[id].from = (uint16_t)from;
    state[id].to = (uint16_t)to;
    if (d->queued++ == 0)
        d->first = (uint16_t)id;
    else
        state[d->last].next = (uint16_t)id;
    d->last = (uint16_t)id;
}

static void drop_first(struct coil__uring *u, struct coil__descriptor *d)
{
    unsigned id = d->first;

    d->first = u->buffers.state[id].next;
    d->queued--;
    return_buffer(&u->buffers, id);
}

void coil__uring_drop_queued(struct coil__uring *u, struct coil__descriptor *d)
{
    while (d->queued > 0)
        drop_first(u, d);
}

size_t coil__uring_queued_bytes(const struct coil__uring *u,
                                const struct coil__descriptor *d)
{
    unsigned id = d->first;
    size_t n = 0;

    for (unsigned i = d->queued; i > 0; i--, id = u->buffers.state[id].next)
        n += (size_t)(u->buffers.state[id].to - u->buffers.state[id].from);
    return n;
}

/* Copy up to n queued bytes. If `keep` is true, leave them in the queue (MSG_PEEK). */
static size_t copy_queued(struct coil__uring *u, struct coil__descriptor *d, char *to,
                          size_t n, bool keep)
{
    unsigned id = d->first;
    size_t done = 0;

    for (unsigned i = d->queued; i > 0 && done < n; i--) {
        struct coil__uring_buffer *buffer = &u->buffers.state[id];
        size_t part = (size_t)(buffer->to - buffer->from);
        unsigned next = buffer->next;

        if (part > n - done)
            part = n - done;
        memcpy(to + done, memory_of(&u->buffers, id) + buffer->from, part);
        done += part;
        if (!keep) {
            buffer->from = (uint16_t)(buffer->from + part);
            if (buffer->from == buffer->to)
                drop_first(u, d);
        }
        id = next;
    }
    return done;
}

static ssize_t take_message(struct coil__uring *u, struct coil__descriptor *d,
                            struct msghdr *message, bool keep)
{
    size_t done = 0;

    for (size_t i = 0; i < message->msg_iovlen && d->queued > 0; i++) {
        const struct iovec *part = &message->msg_iov[i];
        size_t n = copy_queued(u, d, part->iov_base, part->iov_len, keep);

        done += n;
        if (n < part->iov_len || keep)
            break;
    }
    message->msg_namelen = 0;
    message->msg_controllen = 0;
    message->msg_flags = 0;
    return (ssize_t)done;
}

static bool has_received_ahead(const struct coil__descriptor *d)
{
    return d->queued > 0 || d->ended;
}

static bool is_peek(const struct coil__op *op)
{
    return op->kind != COIL__OP_READ && (op->flags & MSG_PEEK);
}

static ssize_t take_result(struct coil__uring *u, struct coil__descriptor *d,
                           struct coil__op *op)
{
    if (op->kind == COIL__OP_READABLE)
        return COIL_READABLE;
    if (d->queued > 0)
        return op->kind == COIL__OP_RECVMSG
                   ? take_message(u, d, op->buf, is_peek(op))
                   : (ssize_t)copy_queued(u, d, op->buf, op->len, is_peek(op));
    d->ended = is_peek(op) && d->end == 0;
    return d->end;
}

/* ---- the multishot receive --------------------------------------------------------- */

static bool is_stream(struct coil__descriptor *d, int fd)
{
    int type = 0;
    socklen_t length = sizeof type;

    if (d->type == COIL__URING_TYPE_UNKNOWN && d->is_socket) {
        d->type = COIL__URING_OTHER;
        if (COIL__CALL(ENOBUFS, getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length)) ==
                0 &&
            type == SOCK_STREAM)
            d->type = COIL__URING_STREAM;
    }
    return d->type == COIL__URING_STREAM;
}

/*
 * True if the operation may use a multishot receive: a small read, or a
 * COIL__OP_READABLE.
 */
static bool is_small(const struct coil__op *op)
{
    return op->kind == COIL__OP_READABLE ||
           (op->kind == COIL__OP_RECV && op->flags == 0 && op->len < LARGE_READ);
}

static bool should_arm(struct coil__uring *u, struct coil__descriptor *d,
                       const struct coil__op *op)
{
    if (!coil__uring_has(u, COIL__URING_MULTISHOT) || !is_small(op) ||
        d->called_off > CALLED_OFF_MOST)
        return false;
    if (d->small_reads + 1 < READS_TO_ARM) {
        d->small_reads += op->kind != COIL__OP_READABLE;
        return false;
    }
    return is_stream(d, op->fd) && get_buffers(u) && u->buffers.free >= FREE_TO_ARM;
}

/* Return false if the queue is full. */
static bool arm(struct coil__uring *u, struct coil__descriptor *d, int fd)
{
    struct io_uring_sqe *entry = coil__uring_entry(u);

    if (entry == NULL)
        return false;
    io_uring_prep_recv(entry, fd, NULL, 0, 0);
    entry->ioprio = IORING_RECV_MULTISHOT;
    entry->flags = IOSQE_BUFFER_SELECT;
    entry->buf_group = GROUP;
    entry->user_data = coil__uring_data(fd, COIL__URING_RECEIVE);
    d->receiving = true;
    d->ending = false;
    return true;
}

void coil__uring_receive_plainly(struct coil__descriptor *d)
{
    d->called_off = UINT8_MAX;
}

void coil__uring_call_off(struct coil__uring *u, int fd, struct coil__descriptor *d)
{
    struct io_uring_sqe *entry;

    if (!d->receiving || d->ending)
        return;
    entry = coil__uring_entry(u);
    if (entry == NULL)
        return; /* requested again when more bytes arrive, or by detach() */
    io_uring_prep_cancel64(entry, coil__uring_data(fd, COIL__URING_RECEIVE), 0);
    entry->user_data = coil__uring_data(fd, COIL__URING_CALL_OFF);
    d->ending = true;
    d->small_reads = 0;
}

/*
 * The request fails if the receive was between two steps. In that case the request is
 * repeated when more bytes arrive, or by detach().
 */
void coil__uring_called_off(struct coil__uring *u, int fd, int result)
{
    struct coil__descriptor *d = coil__descriptor_find(&u->backend.descriptors, fd);

    if (result < 0 && d->use == COIL__ATTACHED)
        d->ending = false;
}

/*
 * Perform a plain read with a system call. If there is probably nothing to receive from a
 * socket, poll first. A COIL__OP_READ never polls first: for example, a read of four
 * bytes from an eventfd fails at once even when nothing is ready, and a poll would hide
 * that error.
 */
static ssize_t receive_plainly(struct coil__uring *u, struct coil__descriptor *d,
                               struct coil__op *op)
{
    if (d->more || op->kind == COIL__OP_READ)
        return coil__uring_submit_call(u, d, op);
    coil__uring_enlist(u, d, op, 0);
    return coil__uring_start(u, op);
}

ssize_t coil__uring_receive(struct coil__uring *u, struct coil__descriptor *d,
                            struct coil__op *op)
{
    int rc;

    if (COIL__UNLIKELY(coil__faults_are_counted()) &&
        (rc = coil__uring_injected_failure(op)) < 0)
        return rc;
    if (has_received_ahead(d))
        return take_result(u, d, op);
    if (!d->receiving && should_arm(u, d, op))
        arm(u, d, op->fd);
    if (d->receiving) {
        coil__uring_enlist(u, d, op, COIL__URING_AHEAD);
        if (!is_small(op)) {
            d->called_off += d->called_off < UINT8_MAX;
            coil__uring_call_off(u, op->fd, d);
        }
        return -EINPROGRESS;
    }
    return receive_plainly(u, d, op);
}

/*
 * True if no bytes are queued, but an unhandled completion of the multishot receive may
 * contain some.
 */
bool coil__uring_receive_is_unclear(const struct coil__descriptor *d)
{
    return !has_received_ahead(d) && d->receiving;
}

ssize_t coil__uring_attempt_receive(struct coil__uring *u, struct coil__descriptor *d,
                                    struct coil__op *op)
{
    ssize_t result;

    if (has_received_ahead(d))
        return take_result(u, d, op);
    if (d->receiving)
        return -EINPROGRESS;
    result = coil__descriptor_call(d, op);
    coil__uring_learn(d, op, result);
    return result;
}

/* ---- completions ------------------------------------------------------------------- */

/*
 * Copy received bytes directly to the waiting read. Returns false if no read is waiting,
 * or if the read's buffer does not have room for all of the bytes.
 */
static bool hand_over(struct coil__uring *u, struct coil__descriptor *d, unsigned id,
                      unsigned n)
{
    struct coil__op *op = d->ops[COIL__IN];

    if (op == NULL || d->queued > 0 || op->kind == COIL__OP_RECVMSG ||
        op->kind == COIL__OP_READABLE || n > op->len || is_peek(op))
        return false;
    memcpy(op->buf, memory_of(&u->buffers, id), n);
    return_buffer(&u->buffers, id);
    coil__uring_finish(u, op, (ssize_t)n);
    return true;
}

void coil__uring_received(struct coil__uring *u, int fd, int result, unsigned flags)
{
    struct coil__descriptor *d = coil__descriptor_find(&u->backend.descriptors, fd);
    unsigned id = flags >> IORING_CQE_BUFFER_SHIFT;
    struct coil__op *op;

    if (!(flags & IORING_CQE_F_MORE))
        d->receiving = d->ending = false;
    if (flags & IORING_CQE_F_BUFFER) {
        u->buffers.free--;
        u->buffers.offered--;
        if (result <= 0)
            return_buffer(&u->buffers, id);
        else if (!hand_over(u, d, id, (unsigned)result))
            queue(u, d, id, 0, (unsigned)result);
    }
    if (result == -ENOBUFS) {
        u->buffers.ran_out = true;
    } else if (result <= 0 && result != -ECANCELED && result != -EINTR) {
        d->ended = true;
        d->end = (int16_t)coil__descriptor_result(d, COIL__OP_RECV, result);
    }
    op = d->ops[COIL__IN];
    if (op != NULL && has_received_ahead(d)) {
        coil__uring_finish(u, op, take_result(u, d, op));
    } else if (op != NULL && !d->receiving) {
        coil__uring_set_state(op, coil__uring_state(op) & ~(uintptr_t)COIL__URING_AHEAD);
        coil__uring_again(u, op);
    }
    if (d->queued >= QUEUED_MOST)
        coil__uring_call_off(u, fd, d);
}
