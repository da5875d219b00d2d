/*
 * raw_io_uring.c - the lower bound for io_uring: an echo server that uses a ring
 * directly.
 *
 * Each connection has one multishot receive, for which the kernel takes buffers from a
 * ring. The server sends the bytes from the buffer in which they arrived, and then
 * returns the buffer to the ring. One io_uring_enter() submits all sends and fetches all
 * completions. Because of DEFER_TASKRUN, the kernel works on sends and completions only
 * in that call. A connection has at most one send in flight; further sends are queued.
 * The server needs Linux 6.1.
 */
#include <arpa/inet.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BUFFERS = 2048, /* a power of two */
    BUFFER = 2048,
    STRIDE = BUFFER + 64, /* keeps buffers from sharing cache lines */
    BACKLOG = 4096,
    ENTRIES = 1024,
    NONE = BUFFERS
};

enum { ACCEPT, RECEIVE, SEND, CANCEL };

struct client {
    int fd;
    unsigned first, last; /* queue of buffers to send; the first is in flight */
    bool receiving, broken;
};

static struct buffer {
    unsigned next, from, to;
} buffers[BUFFERS];

static struct io_uring ring;
static struct io_uring_buf_ring *buf_ring;
static char *memory;
static unsigned buf_tail, free_buffers;
/* clients whose receive ended because the buffers ran out */
static struct client **starved;
static size_t starved_count, starved_size;
static int listen_fd;

/* Return a free submission entry. If the queue is full, submit the queue first. */
static struct io_uring_sqe *entry(int kind, void *client)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

    while (sqe == NULL) {
        io_uring_submit(&ring);
        sqe = io_uring_get_sqe(&ring);
    }
    sqe->user_data = (uintptr_t)client | (unsigned)kind;
    return sqe;
}

static void give_back(unsigned id)
{
    struct io_uring_buf *slot = &buf_ring->bufs[buf_tail++ & (BUFFERS - 1)];

    slot->addr = (uintptr_t)memory + (size_t)id * STRIDE;
    slot->len = BUFFER;
    slot->bid = (unsigned short)id;
    free_buffers++;
}

static void receive(struct client *client)
{
    struct io_uring_sqe *sqe = entry(RECEIVE, client);
    uint64_t data = sqe->user_data;

    io_uring_prep_recv(sqe, client->fd, NULL, 0, 0);
    sqe->ioprio = IORING_RECV_MULTISHOT;
    sqe->flags = IOSQE_BUFFER_SELECT;
    sqe->user_data = data;
    client->receiving = true;
}

static void send_first(struct client *client)
{
    struct buffer *b = &buffers[client->first];
    struct io_uring_sqe *sqe = entry(SEND, client);
    uint64_t data = sqe->user_data;

    io_uring_prep_send(sqe, client->fd, memory + (size_t)client->first * STRIDE + b->from,
                       b->to - b->from, MSG_NOSIGNAL | MSG_WAITALL);
    sqe->user_data = data;
}

static void drop(struct client *client)
{
    client->broken = true;
    if (client->receiving)
        shutdown(client->fd, SHUT_RDWR); /* ends the receive */
    if (client->receiving || client->first != NONE)
        return;
    for (size_t i = 0; i < starved_count; i++)
        if (starved[i] == client)
            starved[i] = starved[--starved_count];
    close(client->fd);
    free(client);
}

static void accepted(int fd, unsigned flags)
{
    struct client *client = fd >= 0 ? calloc(1, sizeof *client) : NULL;
    int yes = 1;

    if (!(flags & IORING_CQE_F_MORE)) {
        struct io_uring_sqe *sqe = entry(ACCEPT, NULL);

        io_uring_prep_multishot_accept(sqe, listen_fd, NULL, NULL, SOCK_CLOEXEC);
        sqe->user_data = ACCEPT;
    }
    if (client == NULL) {
        if (fd >= 0)
            close(fd);
        return;
    }
    client->fd = fd;
    client->first = NONE;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    receive(client);
}

static void wait_for_buffers(struct client *client)
{
    if (starved_count == starved_size) {
        starved_size = starved_size * 2 + 64;
        starved = realloc(starved, starved_size * sizeof(struct client *));
    }
    starved[starved_count++] = client;
}

static void received(struct client *client, int n, unsigned flags)
{
    unsigned id = flags >> IORING_CQE_BUFFER_SHIFT;

    if (!(flags & IORING_CQE_F_MORE))
        client->receiving = false;
    if (flags & IORING_CQE_F_BUFFER) {
        free_buffers--;
        if (client->broken || n <= 0) {
            give_back(id);
        } else {
            buffers[id] = (struct buffer){NONE, 0, (unsigned)n};
            if (client->first == NONE) {
                client->first = client->last = id;
                send_first(client);
            } else {
                client->last = buffers[client->last].next = id;
            }
        }
    }
    if (n == -ENOBUFS && !client->broken)
        wait_for_buffers(client);
    else if (n <= 0 || client->broken)
        drop(client);
    else if (!client->receiving)
        receive(client);
}

static void sent(struct client *client, int n)
{
    struct buffer *b = &buffers[client->first];
    unsigned id = client->first;

    if (n > 0)
        b->from += (unsigned)n;
    if (n > 0 && b->from < b->to && !client->broken) {
        send_first(client);
        return;
    }
    client->first = b->next;
    give_back(id);
    while ((n <= 0 || client->broken) && client->first != NONE) {
        id = client->first;
        client->first = buffers[id].next;
        give_back(id);
    }
    if (n <= 0 || client->broken)
        drop(client);
    else if (client->first != NONE)
        send_first(client);
}

static void deal_with(const struct io_uring_cqe *cqe)
{
    struct client *client = (struct client *)(uintptr_t)(cqe->user_data & ~UINT64_C(7));

    switch (cqe->user_data & 7) {
    case ACCEPT:
        accepted(cqe->res, cqe->flags);
        break;
    case RECEIVE:
        received(client, cqe->res, cqe->flags);
        break;
    default:
        sent(client, cqe->res);
        break;
    }
}

static bool open_ring(void)
{
    struct io_uring_params params = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                 IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE,
        .cq_entries = 8 * ENTRIES,
    };
    struct io_uring_buf_reg registration = {.ring_entries = BUFFERS};
    size_t ring_bytes = BUFFERS * sizeof(struct io_uring_buf);

    buf_ring = mmap(NULL, ring_bytes + (size_t)BUFFERS * STRIDE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buf_ring == MAP_FAILED)
        return false;
    memory = (char *)buf_ring + ring_bytes;
    registration.ring_addr = (uintptr_t)buf_ring;
    if (io_uring_queue_init_params(ENTRIES, &ring, &params) < 0 ||
        io_uring_register_ring_fd(&ring) < 0 ||
        io_uring_register_buf_ring(&ring, &registration, 0) < 0)
        return false;
    for (unsigned id = 0; id < BUFFERS; id++)
        give_back(id);
    return true;
}

static bool listen_anywhere(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listen_fd, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(listen_fd, BACKLOG) < 0 ||
        getsockname(listen_fd, (struct sockaddr *)&address, &length) < 0)
        return false;
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    return true;
}

int main(void)
{
    if (!open_ring() || !listen_anywhere()) {
        perror("raw_io_uring");
        return 1;
    }
    accepted(-1, 0);
    for (;;) {
        struct io_uring_cqe *cqe;
        unsigned head, count = 0;

        io_uring_smp_store_release(&buf_ring->tail, (unsigned short)buf_tail);
        io_uring_submit_and_wait(&ring, 1);
        io_uring_for_each_cqe(&ring, head, cqe)
        {
            deal_with(cqe);
            count++;
        }
        io_uring_cq_advance(&ring, count);
        while (starved_count > 0 && free_buffers > BUFFERS / 4)
            receive(starved[--starved_count]);
    }
}
