/*
 * simulated.c - a backend whose network is simulated inside the process.
 *
 *                 submit, watch                      events: packets that arrive
 *                      |                                        |
 *     a simulated socket: ops, watchers <--- changed() --- connections, datagrams
 *     all other descriptors: the poll backend
 *
 * Whenever a socket changes, its waiting operations are tried again. Watchers are
 * level-triggered: each poll of the backend checks all of them.
 *
 * The other files, in order (each uses only earlier ones):
 *
 *     simulated_events.c    the state; the queue of future events; random numbers
 *     simulated_address.c   addresses; the log
 *     simulated_cut.c       hosts that are cut off
 *     simulated_socket.c    sockets: descriptors and names
 *     simulated_flow.c      the bytes of a connection
 *     simulated_tcp.c       making and ending connections
 *     simulated_udp.c       datagrams
 *     simulated_op.c        operations that tasks await
 *     simulated_calls.c     all other calls on sockets
 *
 * Invariants
 * 1. A call on one socket never changes another socket directly, but only by sending
 *    packets. When a packet is due, the loop runs a timer, which makes the packet arrive.
 *    So packets never arrive while a task is running.
 * 2. While packets are on their way, a timer is set for the first of them; in_use counts
 *    only the kernel's descriptors. So if no timer is set and in_use is 0, nothing can
 *    wake the waiting tasks, and the loop reports a deadlock.
 * 3. Random numbers are drawn in the same order in each run of the same program. So
 *    sockets are traversed in the order of their descriptors, not of their memory
 *    addresses.
 *
 * Start reading at coil__sim_submit() in simulated_op.c, then simulated_flow.c.
 */
#include "simulated.h"

/* The options for new loops of this thread. Each loop has its own copy. */
static COIL__THREAD_LOCAL bool wanted;
static COIL__THREAD_LOCAL coil_network_opts wanted_opts;

void coil__sim_want(const coil_network_opts *opts)
{
    wanted = opts != NULL;
    wanted_opts = opts != NULL ? *opts : (coil_network_opts){0};
}

bool coil__sim_is_wanted(void)
{
    return wanted;
}

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
    sim->opts = wanted_opts;
    sim->retry_ops = coil__sim_retry_ops;
    coil__list_init(&sim->watched);
    coil__list_init(&sim->connections);
    coil__list_init(&sim->datagrams);
    sim->next_port = 32768;
    coil__sim_events_init(sim);
    *out = &sim->backend;
    return 0;
}

/* Free the remaining sockets. Unlike close_socket(), this function sends no packets. */
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

/*
 * Adjust this backend's in_use after a call of the poll backend, whose in_use was
 * `before` before the call.
 */
static void update_in_use(struct coil__sim *sim, size_t before)
{
    sim->backend.in_use += sim->real->in_use - before;
}

/* ---- operations -------------------------------------------------------------------- */

static ssize_t submit(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__sim *sim = coil__sim_of(backend);
    size_t before = sim->real->in_use;
    ssize_t result;

    if (op->fd >= COIL__FIRST_SIMULATED)
        return coil__sim_submit(sim, op);
    result = sim->real->class->submit(sim->real, op);
    update_in_use(sim, before);
    return result;
}

static ssize_t attempt(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__sim *sim = coil__sim_of(backend);
    size_t before = sim->real->in_use;
    ssize_t result;

    if (op->fd >= COIL__FIRST_SIMULATED)
        return coil__sim_attempt(sim, op);
    result = sim->real->class->attempt(sim->real, op);
    update_in_use(sim, before);
    return result;
}

static void cancel(struct coil__backend *backend, struct coil__op *op)
{
    struct coil__sim *sim = coil__sim_of(backend);
    size_t before = sim->real->in_use;

    if (op->fd >= COIL__FIRST_SIMULATED) {
        coil__sim_cancel(sim, op);
        return;
    }
    sim->real->class->cancel(sim->real, op);
    update_in_use(sim, before);
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

static void detach(struct coil__backend *backend, int fd)
{
    struct coil__sim *sim = coil__sim_of(backend);
    struct coil__sim_socket *socket = coil__sim_find(sim, fd);
    size_t before = sim->real->in_use;

    if (fd < COIL__FIRST_SIMULATED) {
        sim->real->class->detach(sim->real, fd);
        update_in_use(sim, before);
    } else if (socket != NULL && socket->use == COIL__ATTACHED) {
        coil__sim_end_ops(sim, socket);
        socket->use = COIL__UNUSED;
    }
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

/*
 * Put the watchers of ready sockets into the loop's queue. Returns true if any socket was
 * ready.
 */
static bool call_watchers(struct coil__sim *sim)
{
    bool called = false;

    COIL__LIST_EACH (link, &sim->watched) {
        struct coil__sim_socket *socket =
            COIL__CONTAINER(link, struct coil__sim_socket, watched);
        unsigned ready = coil__sim_ready(socket);

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
    update_in_use(sim, before);
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
