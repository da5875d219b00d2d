/*
 * simulated_tcp.c - connections of the simulated network: how they begin and end.
 *
 *   client                                     server
 *   connect --- attempt (SYN) ----------------> a listener with room: half open
 *      |           `- lost: again after 1, 3,      |        no listener: RST,
 *      |              7, ... s; 127 s: -ETIMEDOUT  |        -ECONNREFUSED
 *   connected <------------------------ HELLO -----'
 *      `--- HELLO ----------------------------> in the queue --- accept ---> connected
 *   close, shutdown --- FIN, or RST ----------> end of stream, or -ECONNRESET
 *
 * Invariants
 * 1. An end is open while a socket or a listener refers to it. A connection is freed when
 *    neither end is open. Packets that are still in transit are dropped, because no
 *    program could receive them.
 * 2. After an end was closed, it still sends its waiting packets and its FIN, and answers
 *    data that arrives later with a reset.
 * 3. While a connection is half open or waits to be accepted, its `listener` is set, and
 *    it is counted in listener->asking.
 */
#include "simulated_tcp.h"

#define ATTEMPTS 7 /* 1 + tcp_syn_retries (6) of tcp(7); the last one waits 64 s */

static struct coil__sim_end *client_of(struct coil__sim_connection *c)
{
    return &c->ends[COIL__SIM_CLIENT];
}

static struct coil__sim_end *server_of(struct coil__sim_connection *c)
{
    return &c->ends[COIL__SIM_SERVER];
}

/* ---- creating and freeing connections ---------------------------------------------- */

/* Remove the connection from its listener, if it has one. */
static void leave_listener(struct coil__sim_connection *c)
{
    if (c->listener == NULL)
        return;
    coil__list_remove(&c->accepting);
    c->listener->asking--;
    c->listener = NULL;
}

void coil__sim_tcp_destroy(struct coil__sim *sim, struct coil__sim_connection *c)
{
    leave_listener(c);
    coil__list_remove(&c->link);
    coil__sim_unschedule(sim, &c->attempt);
    for (int i = 0; i < 2; i++)
        coil__sim_flow_finish(sim, &c->ends[i]);
    coil__inside->free(c);
}

/* Free the connection if neither end is open. */
static void forget_if_closed(struct coil__sim *sim, struct coil__sim_connection *c)
{
    if (!c->ends[0].open && !c->ends[1].open)
        coil__sim_tcp_destroy(sim, c);
}

static void mark_closed(struct coil__sim_end *end)
{
    end->open = false;
    end->socket = NULL;
}

static void fail_end(struct coil__sim *sim, struct coil__sim_end *end, int error)
{
    struct coil__sim_connection *c = end->connection;
    struct coil__sim_socket *socket = end->socket;

    end->dead = true;
    end->error = error;
    coil__sim_flow_drop_waiting(end);
    if (socket != NULL && socket->state == COIL__SIM_CONNECTING) {
        socket->state = COIL__SIM_FRESH;
        socket->error = error;
        socket->end = NULL;
        coil__sim_unschedule(sim, &c->attempt);
        mark_closed(end);
    }
    if (end->connection->listener != NULL && !server_of(c)->established) {
        leave_listener(c);
        mark_closed(server_of(c));
    }
    coil__sim_changed(sim, socket);
    forget_if_closed(sim, c);
}

/* ---- connecting -------------------------------------------------------------------- */

/*
 * Called when a SYN arrives at the server's host or is lost. If a SYN is lost, the next
 * one follows after 1, 2, 4, ... seconds.
 */
static void attempt_arrives(struct coil__sim *sim, struct coil__sim_event *event)
{
    struct coil__sim_connection *c =
        COIL__CONTAINER(event, struct coil__sim_connection, attempt);
    struct coil__sim_end *client = client_of(c), *server = server_of(c);
    struct coil__sim_socket *listener;

    if (c->attempts == ATTEMPTS) {
        coil__sim_log(sim, &client->name, &server->name, "given up");
        fail_end(sim, client, ETIMEDOUT);
        return;
    }
    listener = coil__sim_socket_at(sim, SOCK_STREAM, COIL__SIM_LISTENING, &server->name);
    if (coil__sim_cut_until(sim, &client->name.host, &server->name.host) >
            coil__sim_now() ||
        (listener != NULL && listener->asking > listener->backlog)) {
        int64_t seconds = ((int64_t)1 << ++c->attempts) - 1;

        coil__sim_log(sim, &client->name, &server->name, "attempt lost");
        coil__sim_schedule(sim, &c->attempt,
                           coil__inside->time_add(c->began, COIL_SEC(seconds)));
        return;
    }
    coil__sim_log(sim, &client->name, &server->name, "attempt");
    if (listener == NULL || coil__sim_chance(sim, sim->opts.refuse_ppm)) {
        coil__sim_flow_control(sim, server, COIL__SIM_RST);
        return;
    }
    c->listener = listener;
    listener->asking++;
    server->open = true;
    server->send_limit = listener->send_limit;
    server->receive_limit = listener->receive_limit;
    coil__sim_flow_control(sim, server, COIL__SIM_HELLO);
}

static void greet_server(struct coil__sim *sim, struct coil__sim_end *end)
{
    if (!end->open) {
        coil__sim_flow_control(sim, end, COIL__SIM_RST);
        return;
    }
    end->established = true;
    end->socket->state = COIL__SIM_CONNECTED;
    coil__sim_flow_control(sim, end, COIL__SIM_HELLO);
    coil__sim_changed(sim, end->socket);
}

static void greet(struct coil__sim *sim, struct coil__sim_end *end)
{
    struct coil__sim_connection *c = end->connection;

    if (end == client_of(c)) {
        greet_server(sim, end);
    } else if (c->listener != NULL) {
        end->established = true;
        coil__list_push(&c->listener->accepting, &c->accepting);
        coil__sim_changed(sim, c->listener);
    }
}

static void end_was_reset(struct coil__sim *sim, struct coil__sim_end *end)
{
    struct coil__sim_connection *c = end->connection;

    if (!end->open || end->dead)
        return;
    /* half open: the server has no socket for this connection yet */
    if (end == server_of(c) && !end->established) {
        leave_listener(c);
        mark_closed(end);
        forget_if_closed(sim, c);
        return;
    }
    if (end == client_of(c) && !end->established)
        fail_end(sim, end, ECONNREFUSED);
    else
        fail_end(sim, end, end->fin_received ? EPIPE : ECONNRESET);
}

static const struct coil__sim_connection_class connection_class = {
    .greeted = greet, .was_reset = end_was_reset, .fail = fail_end};

static struct coil__sim_connection *create_connection(struct coil__sim *sim,
                                                      struct coil__sim_socket *socket,
                                                      const struct coil__sim_address *to)
{
    struct coil__sim_connection *c = coil__inside->alloc_zeroed(sizeof *c);

    if (c == NULL)
        return NULL;
    c->class = &connection_class;
    for (int i = 0; i < 2; i++) {
        c->ends[i].connection = c;
        coil__sim_flow_init(&c->ends[i]);
    }
    client_of(c)->name = socket->name;
    client_of(c)->socket = socket;
    client_of(c)->open = true;
    client_of(c)->send_limit = socket->send_limit;
    client_of(c)->receive_limit = socket->receive_limit;
    server_of(c)->name = *to;
    c->attempt.happen = attempt_arrives;
    c->began = coil__sim_now();
    coil__list_init(&c->accepting);
    coil__list_push(&sim->connections, &c->link);
    return c;
}

int coil__sim_tcp_connect(struct coil__sim *sim, struct coil__sim_socket *socket,
                          const struct coil__sim_address *to)
{
    struct coil__sim_connection *c;
    struct coil__sim_address peer = *to;
    int rc;

    if (socket->state == COIL__SIM_CONNECTING)
        return -EALREADY;
    if (socket->state != COIL__SIM_FRESH)
        return -EISCONN;
    if (coil__sim_host_any(&peer.host))
        peer.host = coil__sim_host_facing(&peer.host);
    rc = coil__sim_socket_autobind(sim, socket, &peer.host);
    if (rc < 0)
        return rc;
    c = create_connection(sim, socket, &peer);
    if (c == NULL)
        return -ENOMEM;
    socket->error = 0;
    socket->state = COIL__SIM_CONNECTING;
    socket->peer = peer;
    socket->end = client_of(c);
    coil__sim_schedule(sim, &c->attempt,
                       coil__inside->time_add(c->began, coil__sim_latency(sim)));
    return -EINPROGRESS;
}

/* ---- accepting --------------------------------------------------------------------- */

/* Reset a connection that was not accepted yet. */
static void abandon_server(struct coil__sim *sim, struct coil__sim_connection *c)
{
    leave_listener(c);
    mark_closed(server_of(c));
    server_of(c)->dead = true;
    coil__sim_flow_control(sim, server_of(c), COIL__SIM_RST);
    forget_if_closed(sim, c);
}

/*
 * Create a socket for the server's end. Returns the socket's descriptor or a negative
 * errno.
 */
static int create_accepted(struct coil__sim *sim, struct coil__sim_socket *listener,
                           struct coil__sim_connection *c)
{
    struct coil__sim_end *end = server_of(c);
    int rc = 0;
    struct coil__sim_socket *socket =
        coil__sim_socket_create(sim, listener->family, SOCK_STREAM, &rc);

    if (socket == NULL)
        return rc;
    leave_listener(c);
    socket->state = COIL__SIM_CONNECTED;
    socket->bound = true;
    socket->reuse_address = listener->reuse_address;
    socket->reuse_port = listener->reuse_port;
    socket->v6_only = listener->v6_only;
    socket->resets_on_close = listener->resets_on_close;
    socket->send_limit = end->send_limit;
    socket->receive_limit = end->receive_limit;
    socket->name = end->name;
    socket->peer = client_of(c)->name;
    socket->end = end;
    end->socket = socket;
    return socket->fd;
}

int coil__sim_tcp_accept(struct coil__sim *sim, struct coil__sim_socket *listener,
                         struct sockaddr *address, socklen_t *address_bytes)
{
    struct coil__sim_connection *c;
    int fd;

    if (listener->state != COIL__SIM_LISTENING)
        return -EINVAL;
    if (coil__list_empty(&listener->accepting))
        return -EAGAIN;
    c = COIL__CONTAINER(listener->accepting.next, struct coil__sim_connection, accepting);
    if (coil__sim_chance(sim, sim->opts.accept_limit_ppm))
        return -EMFILE;
    if (coil__sim_chance(sim, sim->opts.accept_abort_ppm)) {
        abandon_server(sim, c);
        return -ECONNABORTED;
    }
    fd = create_accepted(sim, listener, c);
    if (fd >= 0 && address != NULL)
        coil__sim_address_write(listener->family, &client_of(c)->name, address,
                                address_bytes);
    return fd;
}

/* ---- ending ------------------------------------------------------------------------ */

static void send_fin(struct coil__sim *sim, struct coil__sim_end *end)
{
    if (end->fin_sent)
        return;
    end->fin_sent = true;
    coil__sim_flow_control(sim, end, COIL__SIM_FIN);
}

int coil__sim_tcp_shutdown(struct coil__sim *sim, struct coil__sim_socket *socket,
                           int how)
{
    if (socket->state != COIL__SIM_CONNECTED || socket->end->dead)
        return -ENOTCONN;
    if (how != SHUT_WR)
        socket->end->reading_ended = true;
    if (how != SHUT_RD)
        send_fin(sim, socket->end);
    coil__sim_changed(sim, socket);
    return 0;
}

static void close_listener(struct coil__sim *sim, struct coil__sim_socket *socket)
{
    COIL__LIST_EACH (link, &sim->connections) {
        struct coil__sim_connection *c =
            COIL__CONTAINER(link, struct coil__sim_connection, link);

        if (c->listener == socket)
            abandon_server(sim, c);
    }
}

static void close_end(struct coil__sim *sim, struct coil__sim_socket *socket)
{
    struct coil__sim_end *end = socket->end;
    /*
     * A reset tells the peer that data was lost because it was not read (RFC 2525, 2.17).
     */
    bool resets = end->received_bytes > 0 || socket->resets_on_close;

    mark_closed(end);
    if (end->established && !end->dead) {
        end->dead = resets;
        if (resets)
            coil__sim_flow_control(sim, end, COIL__SIM_RST);
        else
            send_fin(sim, end);
    }
    forget_if_closed(sim, end->connection);
}

void coil__sim_tcp_close(struct coil__sim *sim, struct coil__sim_socket *socket)
{
    if (socket->state == COIL__SIM_LISTENING)
        close_listener(sim, socket);
    else if (socket->end != NULL)
        close_end(sim, socket);
}

unsigned coil__sim_tcp_ready(const struct coil__sim_socket *socket)
{
    const struct coil__sim_end *end = socket->end;
    unsigned ready = 0;

    switch (socket->state) {
    case COIL__SIM_FRESH:
        return COIL_READABLE | COIL_WRITABLE;
    case COIL__SIM_LISTENING:
        return coil__list_empty(&socket->accepting) ? 0 : COIL_READABLE;
    case COIL__SIM_CONNECTING:
        return 0;
    default:
        break;
    }
    if (end->dead || end->error != 0)
        return COIL_READABLE | COIL_WRITABLE;
    if (end->received_bytes > 0 || end->fin_received || end->reading_ended)
        ready |= COIL_READABLE;
    if (end->fin_sent || end->unacknowledged < end->send_limit)
        ready |= COIL_WRITABLE;
    return ready;
}
