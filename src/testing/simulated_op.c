/*
 * simulated_op.c - operations on simulated sockets.
 *
 * An operation is tried immediately, or sometimes after a random delay (opts.late_ppm).
 * An operation that must wait is tried again whenever its socket changes. A waiting
 * operation has not had any effect.
 */
#include "simulated_op.h"

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

unsigned coil__sim_ready(const struct coil__sim_socket *socket)
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
    unsigned found = coil__sim_ready(socket) & events;

    return found != 0 ? (ssize_t)found : -EAGAIN;
}

/*
 * Try an operation other than connect(). Returns the operation's result, or -EAGAIN if it
 * must wait.
 */
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

void coil__sim_retry_ops(struct coil__sim *sim, struct coil__sim_socket *socket)
{
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

/*
 * Make the operation wait until its socket changes. If `late` is true, the operation has
 * not been tried yet, so it is also tried after a random time. Returns -EINPROGRESS.
 */
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

/*
 * Try an operation, which may also be connect(). Returns the operation's result, or
 * -EAGAIN if it must wait.
 */
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
    /* -EALREADY: an earlier call of connect() has started the attempt. */
    return rc == -EINPROGRESS || rc == -EALREADY ? -EAGAIN : rc;
}

/* Return true and set errno if the operation must fail because a failure is injected. */
static bool has_injected_failure(const struct coil__op *op)
{
    const struct coil__op_row *row = &coil__inside->op_rows[op->kind];

    /*
     * An injected EINTR is ignored, because the other backends repeat the call after it.
     */
    return coil__sim_call_fails(row->error, row->call) && errno != EINTR;
}

static ssize_t perform(struct coil__sim *sim, struct coil__sim_socket *socket,
                       struct coil__op *op)
{
    ssize_t result;

    if (has_injected_failure(op))
        return -errno;
    if (op->kind != COIL__OP_CONNECT && coil__sim_chance(sim, sim->opts.late_ppm))
        return defer_op(sim, socket, op, true);
    result = call_once(sim, socket, op);
    return result == -EAGAIN ? defer_op(sim, socket, op, false) : result;
}

/*
 * Return 0 if the COIL__OP_POLL may begin, or -EBUSY. This kind of operation does not
 * require attach(), but borrows a socket that is not used otherwise.
 */
static int check_poll(const struct coil__sim_socket *socket, const struct coil__op *op)
{
    if (socket->use != COIL__UNUSED && socket->use != COIL__BORROWED)
        return -EBUSY;
    if ((op->events & COIL_READABLE && socket->ops[COIL__IN] != NULL) ||
        (op->events & COIL_WRITABLE && socket->ops[COIL__OUT] != NULL))
        return -EBUSY;
    return 0;
}

/* Return 0 if the operation may begin, or a negative errno. */
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

ssize_t coil__sim_submit(struct coil__sim *sim, struct coil__op *op)
{
    struct coil__sim_socket *socket = coil__sim_find(sim, op->fd);
    ssize_t result = check_op(socket, op);

    if (result < 0)
        return result;
    result = perform(sim, socket, op);
    if (result == -EINPROGRESS && op->kind == COIL__OP_POLL)
        socket->use = COIL__BORROWED;
    return result;
}

ssize_t coil__sim_attempt(struct coil__sim *sim, struct coil__op *op)
{
    struct coil__sim_socket *socket = coil__sim_find(sim, op->fd);
    ssize_t result = check_op(socket, op);

    if (result < 0)
        return result;
    if (has_injected_failure(op))
        return -errno;
    result = call_once(sim, socket, op);
    return result == -EAGAIN ? -EINPROGRESS : result;
}

/* A waiting operation has not had any effect, so it can end immediately. */
void coil__sim_cancel(struct coil__sim *sim, struct coil__op *op)
{
    finish_op(sim, coil__sim_find(sim, op->fd), op, -ECANCELED);
}

void coil__sim_end_ops(struct coil__sim *sim, struct coil__sim_socket *socket)
{
    for (int i = 0; i < 2; i++)
        if (socket->ops[i] != NULL)
            finish_op(sim, socket, socket->ops[i], -EBADF);
}
