/*
 * simulated.c - a backend whose network is simulated inside the process.
 *
 *                 submit, watch                      events: packets that arrive
 *                      |                                        |
 *     a simulated socket: ops, watchers <--- changed() --- connections, datagrams
 *     any other descriptor: the poll backend's
 *
 * An operation is tried immediately, and again whenever its socket has changed. The first
 * try is randomly delayed (opts.late_ppm). Watchers are level-triggered: each poll checks
 * all of them.
 *
 * Invariants
 * 1. No call on one socket changes another socket directly. It sends packets; their
 *    arrivals are events, which the loop's timer runs between the steps of tasks.
 * 2. in_use counts the real descriptors only. Every future event of the network has a
 *    timer. So without timers and real descriptors the waiting tasks could never
 *    continue, and the loop reports a deadlock.
 * 3. Random numbers are drawn in an order that depends only on the program: tables are
 *    traversed by descriptor, never by address.
 *
 * Start reading at submit(), then simulated_flow.c.
 */
#include "simulated.h"

/* ---- creating ---------------------------------------------------------------------- */

static int create(struct coil__backend **out)
{
    struct coil__sim *sim = coil__inside->alloc_zeroed(sizeof *sim);
    int rc;

    if (sim == NULL)
        return -ENOMEM;
    rc = coil__inside->backend_poll->create(&sim->real);
    if (rc < 0) {
        coil__inside->free(sim);
        return rc;
    }
    sim->backend.class = &coil__backend_simulated;
    sim->backend.below = sim->real;
    sim->opts = coil__network_wanted_opts();
    coil__list_init(&sim->watched);
    coil__list_init(&sim->connections);
    coil__list_init(&sim->datagrams);
    sim->next_port = 32768;
    coil__sim_events_init(sim);
    *out = &sim->backend;
    return 0;
}

/* Closes the remaining sockets, like the end of a process. */
static void destroy(struct coil__backend *backend)
{
    struct coil__sim *sim = coil__sim_of(backend);

    COIL__LIST_EACH (link, &sim->connections)
        coil__sim_tcp_destroy(sim,
                              COIL__CONTAINER(link, struct coil__sim_connection, link));
    for (size_t i = 0; i < sim->socket_slots; i++)
        if (sim->sockets[i] != NULL) {
            coil__sim_udp_close(sim->sockets[i]);
            coil__inside->free(sim->sockets[i]);
        }
    COIL__LIST_EACH (link, &sim->datagrams)
        coil__inside->free(COIL__CONTAINER(link, struct coil__sim_datagram, link));
    sim->real->class->destroy(sim->real);
    coil__inside->free(sim->sockets);
    coil__inside->free(sim->cuts);
    coil__inside->free(sim);
}

/* Add the change of the poll backend's in_use to ours. */
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

static enum coil__direction direction_of(const struct coil__op *op)
{
    return (enum coil__direction)coil__inside->op_rows[op->kind].direction;
}

static ssize_t poll_socket(const struct coil__sim_socket *socket, unsigned events)
{
    unsigned found = ready_for(socket) & events;

    return found != 0 ? (ssize_t)found : -EAGAIN;
}

/* Returns the operation's result, or -EAGAIN if it has to wait. */
static ssize_t try_op(struct coil__sim *sim, struct coil__sim_socket *socket,
                      const struct coil__op *op)
{
    struct iovec part;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (op->kind >= COIL__OP_READABLE)
        return poll_socket(socket, op->events);
    part = (struct iovec){op->buf, op->len};
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
    default:
        return connection_state(socket);
    }
}

static void finish_op(struct coil__sim *sim, struct coil__sim_socket *socket,
                      struct coil__op *op, ssize_t result)
{
    for (int i = 0; i < 2; i++)
        if (socket->ops[i] == op) {
            socket->ops[i] = NULL;
            coil__sim_unschedule(sim, &socket->late[i]);
        }
    if (socket->use == COIL__BORROWED && socket->ops[COIL__IN] == NULL &&
        socket->ops[COIL__OUT] == NULL)
        socket->use = COIL__UNUSED;
    op->result = result;
    op->complete(op);
}

static void retry_op(struct coil__sim *sim, struct coil__sim_socket *socket,
                     enum coil__direction direction)
{
    struct coil__op *op = socket->ops[direction];
    ssize_t result = op != NULL ? try_op(sim, socket, op) : -EAGAIN;

    if (result != -EAGAIN)
        finish_op(sim, socket, op, result);
}

void coil__sim_changed(struct coil__sim *sim, struct coil__sim_socket *socket)
{
    if (socket == NULL)
        return;
    retry_op(sim, socket, COIL__IN);
    retry_op(sim, socket, COIL__OUT);
}

static void try_late_in(struct coil__sim *sim, struct coil__sim_event *event)
{
    retry_op(sim, COIL__CONTAINER(event, struct coil__sim_socket, late[COIL__IN]),
             COIL__IN);
}

static void try_late_out(struct coil__sim *sim, struct coil__sim_event *event)
{
    retry_op(sim, COIL__CONTAINER(event, struct coil__sim_socket, late[COIL__OUT]),
             COIL__OUT);
}

/* Make the operation wait until its socket changes. If `late`, the operation has not been
 * tried yet, so it waits at most for a random time. */
static ssize_t defer_op(struct coil__sim *sim, struct coil__sim_socket *socket,
                        struct coil__op *op, bool late)
{
    enum coil__direction direction = direction_of(op);
    const int64_t delay[2] = {0, sim->opts.latency_ns[1]};

    if (op->kind != COIL__OP_POLL || op->events & COIL_READABLE)
        direction = op->kind == COIL__OP_POLL ? COIL__IN : direction;
    else
        direction = COIL__OUT;
    socket->ops[direction] = op;
    if (op->kind == COIL__OP_POLL && op->events & COIL_WRITABLE)
        socket->ops[COIL__OUT] = op;
    socket->late[COIL__IN].happen = try_late_in;
    socket->late[COIL__OUT].happen = try_late_out;
    if (late)
        coil__sim_schedule(
            sim, &socket->late[direction],
            coil__inside->time_add(coil__sim_now(), coil__sim_between(sim, delay)));
    return -EINPROGRESS;
}

/* Make the call, which may be connect(). Returns -EAGAIN if the operation has to wait. */
static ssize_t call_once(struct coil__sim *sim, struct coil__sim_socket *socket,
                         struct coil__op *op)
{
    struct coil__sim_address to;
    int rc;

    if (op->kind != COIL__OP_CONNECT)
        return try_op(sim, socket, op);
    rc = coil__sim_address_read(socket->family, op->addr, *op->addrlen, &to);
    if (rc == 0 && socket->type == SOCK_DGRAM)
        return coil__sim_udp_connect(sim, socket, &to);
    if (rc == 0)
        rc = coil__sim_tcp_connect(sim, socket, &to);
    /* An earlier connect() may have begun the attempt. */
    return rc == -EINPROGRESS || rc == -EALREADY ? -EAGAIN : rc;
}

/* True, with errno set, if a failure is injected into the operation. */
static bool is_struck(const struct coil__op *op)
{
    const struct coil__op_row *row = &coil__inside->op_rows[op->kind];

    /* An injected EINTR has no effect: callers of the kernel would repeat the call. */
    return coil__sim_call_fails(row->error, row->call) && errno != EINTR;
}

static ssize_t perform(struct coil__sim *sim, struct coil__sim_socket *socket,
                       struct coil__op *op)
{
    ssize_t result;

    if (is_struck(op))
        return -errno;
    if (op->kind != COIL__OP_CONNECT && coil__sim_chance(sim, sim->opts.late_ppm))
        return defer_op(sim, socket, op, true);
    result = call_once(sim, socket, op);
    return result == -EAGAIN ? defer_op(sim, socket, op, false) : result;
}

/* A poll works without attach(): it borrows a socket that is not used otherwise. */
static int check_poll(const struct coil__sim_socket *socket, const struct coil__op *op)
{
    if (socket->use != COIL__UNUSED && socket->use != COIL__BORROWED)
        return -EBUSY;
    if ((op->events & COIL_READABLE && socket->ops[COIL__IN] != NULL) ||
        (op->events & COIL_WRITABLE && socket->ops[COIL__OUT] != NULL))
        return -EBUSY;
    return 0;
}

/* Return 0 if the operation may be done on the socket, or a negative errno. */
static int check_op(const struct coil__sim_socket *socket, const struct coil__op *op)
{
    if (op->kind > COIL__OP_POLL || op->kind == COIL__OP_SENDFILE)
        return -EOPNOTSUPP;
    if (socket == NULL)
        return -EBADF;
    if (op->kind == COIL__OP_POLL)
        return check_poll(socket, op);
    if (socket->use != COIL__ATTACHED)
        return -EBADF;
    return socket->ops[direction_of(op)] != NULL ? -EBUSY : 0;
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
    result = check_op(socket, op);
    if (result < 0)
        return result;
    result = perform(sim, socket, op);
    if (result == -EINPROGRESS && op->kind == COIL__OP_POLL)
        socket->use = COIL__BORROWED;
    return result;
}

static ssize_t attempt(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__sim *sim = coil__sim_of(backend);
    struct coil__sim_socket *socket;
    size_t before = sim->real->in_use;
    ssize_t result;

    if (op->fd < COIL__FIRST_SIMULATED) {
        result = sim->real->class->attempt(sim->real, op);
        account(sim, before);
        return result;
    }
    socket = coil__sim_find(sim, op->fd);
    result = check_op(socket, op);
    if (result < 0)
        return result;
    if (is_struck(op))
        return -errno;
    result = call_once(sim, socket, op);
    return result == -EAGAIN ? -EINPROGRESS : result;
}

/* A waiting operation has had no effect yet, so it ends immediately. */
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

static void end_all_ops(struct coil__sim *sim, struct coil__sim_socket *socket)
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
        end_all_ops(sim, socket);
        socket->use = COIL__UNUSED;
    }
}

void coil__sim_abandon(struct coil__sim *sim, struct coil__sim_socket *socket)
{
    end_all_ops(sim, socket);
    coil__list_remove(&socket->watched);
}

/* ---- watches ----------------------------------------------------------------------- */

static int watch_socket(struct coil__sim *sim, struct coil__sim_socket *socket,
                        enum coil__direction direction, struct coil__runnable *runnable)
{
    if (socket == NULL)
        return -EBADF;
    if (socket->use != COIL__UNUSED && socket->use != COIL__WATCHED)
        return -EBUSY;
    socket->watchers[direction] = runnable;
    coil__list_remove(&socket->watched);
    socket->use = COIL__UNUSED;
    if (socket->watchers[COIL__IN] == NULL && socket->watchers[COIL__OUT] == NULL)
        return 0;
    socket->use = COIL__WATCHED;
    coil__list_push(&sim->watched, &socket->watched);
    return 0;
}

static int watch(struct coil__backend *backend, int fd, struct coil__descriptor *d,
                 enum coil__direction direction, bool anew)
{
    struct coil__sim *sim = coil__sim_of(backend);

    if (fd < COIL__FIRST_SIMULATED)
        return sim->real->class->watch(sim->real, fd, d, direction, anew);
    return watch_socket(sim, coil__sim_find(sim, fd), direction, d->watchers[direction]);
}

/* Make the watchers of ready sockets ready. True if there was one. */
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
                coil__inside->loop_add_ready(coil_loop_current(), runnable);
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
    .attempt = attempt,
    .cancel = cancel,
    .watch = watch,
    .poll = poll_once,
    .network = &coil__sim_network,
};
