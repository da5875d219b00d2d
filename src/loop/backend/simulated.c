/*
 * simulated.c - a backend whose network is inside the process.
 *
 *                 submit, watch                      events: packets that arrive
 *                      |                                        |
 *     a simulated socket: ops, watchers <--- changed() --- connections, datagrams
 *     any other descriptor: the poll backend's
 *
 * An operation is tried at once, and again whenever its socket has changed; chance may
 * put the first try off. Watchers are level-triggered: each poll looks at all of them.
 *
 * Invariants
 * 1. Nothing that one socket does changes another at once: it sends packets, which are
 *    events, and these come from the loop's timer, between the steps of tasks.
 * 2. in_use counts the real descriptors only. Whatever happens in the network has a
 * timer, so where there is none, tasks that wait for it wait for ever, and the loop sees
 * it.
 * 3. Chance is asked in an order that follows from the program alone: tables are walked
 * by number, never by address.
 *
 * Start reading at submit(), then simulated_flow.c.
 */
#include "simulated.h"

#include "../../base/fault.h"

/* ---- creating ---------------------------------------------------------------------- */

static int create(struct coil__backend **out)
{
    struct coil__sim *sim = coil__alloc_zeroed(sizeof *sim);
    int rc;

    if (sim == NULL)
        return -ENOMEM;
    rc = coil__backend_poll.create(&sim->real);
    if (rc < 0) {
        coil__free(sim);
        return rc;
    }
    sim->backend.class = &coil__backend_simulated;
    if (coil__network_asked_for() != NULL)
        sim->opts = *coil__network_asked_for();
    coil__list_init(&sim->watched);
    coil__list_init(&sim->connections);
    coil__list_init(&sim->datagrams);
    sim->next_port = 32768;
    coil__sim_events_init(sim);
    *out = &sim->backend;
    return 0;
}

/* Sockets that nobody closed go with it, as with a process. */
static void destroy(struct coil__backend *backend)
{
    struct coil__sim *sim = coil__sim_of(backend);

    COIL__LIST_EACH (link, &sim->connections)
        coil__sim_tcp_destroy(sim,
                              COIL__CONTAINER(link, struct coil__sim_connection, link));
    for (size_t i = 0; i < sim->socket_slots; i++)
        if (sim->sockets[i] != NULL) {
            coil__sim_udp_close(sim->sockets[i]);
            coil__free(sim->sockets[i]);
        }
    COIL__LIST_EACH (link, &sim->datagrams)
        coil__free(COIL__CONTAINER(link, struct coil__sim_datagram, link));
    sim->real->class->destroy(sim->real);
    coil__free(sim->sockets);
    coil__free(sim->cuts);
    coil__free(sim);
}

/* What the poll backend has in use we have. */
static void account(struct coil__sim *sim, size_t before)
{
    sim->backend.in_use += sim->real->in_use - before;
}

/* ---- operations -------------------------------------------------------------------- */

static ssize_t send_message(struct coil__sim *sim, struct coil__sim_socket *socket,
                            const struct msghdr *message)
{
    if (socket->type == SOCK_DGRAM)
        return coil__sim_udp_send(sim, socket, message);
    if (socket->state == COIL__SIM_CONNECTED)
        return coil__sim_flow_send(sim, socket->end, message->msg_iov,
                                   message->msg_iovlen);
    return socket->state == COIL__SIM_CONNECTING ? -EAGAIN : -EPIPE;
}

static ssize_t receive_message(struct coil__sim *sim, struct coil__sim_socket *socket,
                               struct msghdr *message, int flags)
{
    if (socket->type == SOCK_DGRAM)
        return coil__sim_udp_receive(sim, socket, message, flags);
    message->msg_namelen = 0;
    message->msg_controllen = 0;
    message->msg_flags = 0;
    if (socket->state == COIL__SIM_CONNECTED)
        return coil__sim_flow_receive(sim, socket->end, message->msg_iov,
                                      message->msg_iovlen, flags);
    return socket->state == COIL__SIM_CONNECTING ? -EAGAIN : -ENOTCONN;
}

static unsigned ready_for(const struct coil__sim_socket *socket)
{
    return socket->type == SOCK_DGRAM ? coil__sim_udp_ready(socket)
                                      : coil__sim_tcp_ready(socket);
}

static ssize_t connection_state(struct coil__sim_socket *socket)
{
    int error = socket->error;

    if (socket->state == COIL__SIM_CONNECTING)
        return -EAGAIN;
    socket->error = 0;
    return socket->state == COIL__SIM_CONNECTED ? 0 : -error;
}

/* Its result, or -EAGAIN if it has to wait. */
static ssize_t try(struct coil__sim *sim, struct coil__sim_socket *socket,
                   const struct coil__op *op)
{
    struct iovec part = {op->buf, op->len};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    unsigned found;

    switch (op->kind) {
    case COIL__OP_READ:
    case COIL__OP_RECV:
        return receive_message(sim, socket, &message,
                               op->kind == COIL__OP_RECV ? op->flags : 0);
    case COIL__OP_RECVMSG:
        return receive_message(sim, socket, op->buf, op->flags);
    case COIL__OP_WRITE:
    case COIL__OP_SEND:
        return send_message(sim, socket, &message);
    case COIL__OP_WRITEV:
        message.msg_iov = op->buf;
        message.msg_iovlen = op->len;
        return send_message(sim, socket, &message);
    case COIL__OP_SENDMSG:
        return send_message(sim, socket, op->buf);
    case COIL__OP_ACCEPT:
        return coil__sim_tcp_accept(sim, socket, op->addr, op->addrlen);
    case COIL__OP_CONNECT:
        return connection_state(socket);
    default:
        found = ready_for(socket) & op->events;
        return found != 0 ? (ssize_t)found : -EAGAIN;
    }
}

/* What the kernel would have been asked: it can be made to fail as that. */
static bool fails(const struct coil__op *op)
{
    static const struct {
        int error;
        const char *call;
    } calls[] = {
        [COIL__OP_READ] = {EIO, "read(fd, buf, len)"},
        [COIL__OP_WRITE] = {EIO, "write(fd, buf, len)"},
        [COIL__OP_WRITEV] = {EIO, "writev(fd, buf, len)"},
        [COIL__OP_RECV] = {ECONNRESET, "recv(fd, buf, len, flags)"},
        [COIL__OP_SEND] = {ECONNRESET, "send(fd, buf, len, flags)"},
        [COIL__OP_RECVMSG] = {ECONNRESET, "recvmsg(fd, buf, flags)"},
        [COIL__OP_SENDMSG] = {ECONNRESET, "sendmsg(fd, buf, flags)"},
        [COIL__OP_ACCEPT] = {EMFILE, "accept4(fd, addr, addrlen, flags)"},
        [COIL__OP_CONNECT] = {ENETUNREACH, "connect(fd, addr, addrlen)"},
        [COIL__OP_POLL] = {ENOMEM, "poll(fds, 1, 0)"},
    };

    /* Interrupted calls are made again, and nobody sees it. */
    return coil__call_fails(calls[op->kind].error, calls[op->kind].call) &&
           errno != EINTR;
}

static void leave_op(struct coil__sim *sim, struct coil__sim_socket *socket,
                     const struct coil__op *op)
{
    for (int i = 0; i < 2; i++)
        if (socket->ops[i] == op) {
            socket->ops[i] = NULL;
            coil__sim_unschedule(sim, &socket->late[i]);
        }
    if (socket->use == COIL__BORROWED && socket->ops[COIL__IN] == NULL &&
        socket->ops[COIL__OUT] == NULL)
        socket->use = COIL__UNUSED;
}

static void finish_op(struct coil__sim *sim, struct coil__sim_socket *socket,
                      struct coil__op *op, ssize_t result)
{
    leave_op(sim, socket, op);
    op->result = result;
    op->complete(op);
}

static void retry(struct coil__sim *sim, struct coil__sim_socket *socket,
                  enum coil__direction direction)
{
    struct coil__op *op = socket->ops[direction];
    ssize_t result = op != NULL ? try(sim, socket, op) : -EAGAIN;

    if (result != -EAGAIN)
        finish_op(sim, socket, op, result);
}

void coil__sim_changed(struct coil__sim *sim, struct coil__sim_socket *socket)
{
    if (socket == NULL)
        return;
    retry(sim, socket, COIL__IN);
    retry(sim, socket, COIL__OUT);
}

static void in_is_late(struct coil__sim *sim, struct coil__sim_event *event)
{
    retry(sim, COIL__CONTAINER(event, struct coil__sim_socket, late[COIL__IN]), COIL__IN);
}

static void out_is_late(struct coil__sim *sim, struct coil__sim_event *event)
{
    retry(sim, COIL__CONTAINER(event, struct coil__sim_socket, late[COIL__OUT]),
          COIL__OUT);
}

/* Have it wait; `late`: but not for long, it need not wait at all. */
static ssize_t defer(struct coil__sim *sim, struct coil__sim_socket *socket,
                     struct coil__op *op, bool late)
{
    enum coil__direction direction = coil__op_direction(op);
    const int64_t delay[2] = {0, sim->opts.latency_ns[1]};

    if (op->kind != COIL__OP_POLL || op->events & COIL_READABLE)
        direction = op->kind == COIL__OP_POLL ? COIL__IN : direction;
    else
        direction = COIL__OUT;
    socket->ops[direction] = op;
    if (op->kind == COIL__OP_POLL && op->events & COIL_WRITABLE)
        socket->ops[COIL__OUT] = op;
    socket->late[COIL__IN].happen = in_is_late;
    socket->late[COIL__OUT].happen = out_is_late;
    if (late)
        coil__sim_schedule(
            sim, &socket->late[direction],
            coil__time_add(coil__sim_now(), coil__sim_between(sim, delay)));
    return -EINPROGRESS;
}

/* Begin the connection. Both a new one and one that was begun before are waited for. */
static ssize_t begin_connect(struct coil__sim *sim, struct coil__sim_socket *socket,
                             struct coil__op *op)
{
    struct coil__sim_address to;
    int rc = coil__sim_address_read(socket->family, op->addr, *op->addrlen, &to);

    if (rc == 0 && socket->type == SOCK_DGRAM)
        return coil__sim_udp_connect(sim, socket, &to);
    if (rc == 0)
        rc = coil__sim_tcp_connect(sim, socket, &to);
    return rc == -EINPROGRESS || rc == -EALREADY ? defer(sim, socket, op, false) : rc;
}

static ssize_t perform(struct coil__sim *sim, struct coil__sim_socket *socket,
                       struct coil__op *op)
{
    ssize_t result;

    if (fails(op))
        return -errno;
    if (op->kind == COIL__OP_CONNECT)
        return begin_connect(sim, socket, op);
    if (coil__sim_chance(sim, sim->opts.late_ppm))
        return defer(sim, socket, op, true);
    result = try(sim, socket, op);
    return result == -EAGAIN ? defer(sim, socket, op, false) : result;
}

/* It needs no attach(): it borrows a socket that nobody else uses. */
static ssize_t submit_poll(struct coil__sim *sim, struct coil__sim_socket *socket,
                           struct coil__op *op)
{
    ssize_t result;

    if (socket->use != COIL__UNUSED && socket->use != COIL__BORROWED)
        return -EBUSY;
    if ((op->events & COIL_READABLE && socket->ops[COIL__IN] != NULL) ||
        (op->events & COIL_WRITABLE && socket->ops[COIL__OUT] != NULL))
        return -EBUSY;
    result = perform(sim, socket, op);
    if (result == -EINPROGRESS)
        socket->use = COIL__BORROWED;
    return result;
}

static ssize_t submit(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__sim *sim = coil__sim_of(backend);
    struct coil__sim_socket *socket;
    size_t before = sim->real->in_use;
    ssize_t result;

    if (op->fd < COIL__FIRST_SIMULATED) {
        result = sim->real->class->submit(sim->real, op);
        account(sim, before);
        return result;
    }
    socket = coil__sim_find(sim, op->fd);
    if (op->kind > COIL__OP_POLL || op->kind == COIL__OP_SENDFILE)
        return -EOPNOTSUPP;
    if (socket == NULL)
        return -EBADF;
    if (op->kind == COIL__OP_POLL)
        return submit_poll(sim, socket, op);
    if (socket->use != COIL__ATTACHED)
        return -EBADF;
    if (socket->ops[coil__op_direction(op)] != NULL)
        return -EBUSY;
    return perform(sim, socket, op);
}

/* An operation that waits has had no effect: its end is at once. */
static void cancel(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__sim *sim = coil__sim_of(backend);
    size_t before = sim->real->in_use;

    if (op->fd >= COIL__FIRST_SIMULATED) {
        finish_op(sim, coil__sim_find(sim, op->fd), op, -ECANCELED);
        return;
    }
    sim->real->class->cancel(sim->real, op);
    account(sim, before);
}

/* ---- attaching --------------------------------------------------------------------- */

static int attach(struct coil__backend *backend, int fd)
{
    struct coil__sim *sim = coil__sim_of(backend);
    struct coil__sim_socket *socket;

    if (fd < COIL__FIRST_SIMULATED)
        return sim->real->class->attach(sim->real, fd);
    socket = coil__sim_find(sim, fd);
    if (socket == NULL)
        return -EBADF;
    if (socket->use != COIL__UNUSED)
        return -EBUSY;
    socket->use = COIL__ATTACHED;
    return 0;
}

static void end_all(struct coil__sim *sim, struct coil__sim_socket *socket)
{
    for (int i = 0; i < 2; i++)
        if (socket->ops[i] != NULL)
            finish_op(sim, socket, socket->ops[i], -EBADF);
}

static void detach(struct coil__backend *backend, int fd)
{
    struct coil__sim *sim = coil__sim_of(backend);
    struct coil__sim_socket *socket = coil__sim_find(sim, fd);
    size_t before = sim->real->in_use;

    if (fd < COIL__FIRST_SIMULATED) {
        sim->real->class->detach(sim->real, fd);
        account(sim, before);
    } else if (socket != NULL && socket->use == COIL__ATTACHED) {
        end_all(sim, socket);
        socket->use = COIL__UNUSED;
    }
}

void coil__sim_abandon(struct coil__sim *sim, struct coil__sim_socket *socket)
{
    end_all(sim, socket);
    coil__list_remove(&socket->watched);
}

/* ---- watches ----------------------------------------------------------------------- */

static int watch_socket(struct coil__sim *sim, struct coil__sim_socket *socket,
                        enum coil__direction direction, struct coil__runnable *runnable)
{
    if (socket == NULL)
        return runnable != NULL ? -EBADF : 0;
    if (socket->use != COIL__UNUSED && socket->use != COIL__WATCHED)
        return runnable != NULL ? -EBUSY : 0;
    socket->watchers[direction] = runnable;
    coil__list_remove(&socket->watched);
    socket->use = COIL__UNUSED;
    if (socket->watchers[COIL__IN] == NULL && socket->watchers[COIL__OUT] == NULL)
        return 0;
    socket->use = COIL__WATCHED;
    coil__list_push(&sim->watched, &socket->watched);
    return 0;
}

static int watch(struct coil__backend *backend, int fd, enum coil__direction direction,
                 struct coil__runnable *runnable)
{
    struct coil__sim *sim = coil__sim_of(backend);
    size_t before = sim->real->in_use;
    int rc;

    if (fd >= COIL__FIRST_SIMULATED)
        return watch_socket(sim, coil__sim_find(sim, fd), direction, runnable);
    rc = sim->real->class->watch(sim->real, fd, direction, runnable);
    account(sim, before);
    return rc;
}

/* Make the watchers of what is ready ready. Returns whether there were any. */
static bool call_watchers(struct coil__sim *sim)
{
    bool called = false;

    COIL__LIST_EACH (link, &sim->watched) {
        struct coil__sim_socket *socket =
            COIL__CONTAINER(link, struct coil__sim_socket, watched);
        unsigned ready = ready_for(socket);

        for (int i = 0; i < 2; i++) {
            struct coil__runnable *runnable = socket->watchers[i];

            if (runnable == NULL ||
                !(ready & (i == COIL__IN ? COIL_READABLE : COIL_WRITABLE)))
                continue;
            called = true;
            if (coil__list_empty(&runnable->link))
                coil__loop_add_ready(coil_loop_current(), runnable);
        }
    }
    return called;
}

static int poll_once(struct coil__backend *backend, int64_t timeout_ns)
{
    struct coil__sim *sim = coil__sim_of(backend);
    size_t before = sim->real->in_use;
    int rc;

    if (call_watchers(sim))
        timeout_ns = 0;
    rc = sim->real->class->poll(sim->real, timeout_ns);
    account(sim, before);
    return rc;
}

const struct coil__backend_class coil__backend_simulated = {
    .name = "simulated",
    .create = create,
    .destroy = destroy,
    .attach = attach,
    .detach = detach,
    .submit = submit,
    .cancel = cancel,
    .watch = watch,
    .poll = poll_once,
    .network = &coil__sim_network,
};
