/*
 * random_program.c - a random program of clients and a server, checked against a model.
 *
 * Each of the two ends of a connection has a group with a reading and a writing task: if
 * one fails, the other is cancelled, and the stream is destroyed. The writer sends a
 * pattern with randomly chosen calls, and half-closes the connection. The reader reads to
 * the end, also with randomly chosen calls. So no task waits forever unless coil has a
 * bug. Some seeds add a third task, which cancels one of the two tasks, closes the
 * stream, or stops the server at a random moment. The server is a coil_server, or a task
 * that accepts connections.
 *
 * THE MODEL. The value of a byte is computed from its connection, direction and offset,
 * so each byte can be checked when it arrives. For each direction the model counts the
 * bytes sent and received, and stores how the direction ended. In the end all sent bytes
 * must have been received, unless a network fault or a closed end explains the loss.
 *
 * A client first sends the number of its connection, so that the server finds the
 * connection's model. If the test has prepared TLS, some connections continue with TLS.
 */
#include "random_program.h"
#include "random_tls.h"

#include "../../harness/harness.h"

#include <coil.h>

#include <stdarg.h>
#include <string.h>

enum { CONNECTIONS = 6, HEADER = 4, LONGEST = 6000 };

struct dice {
    uint64_t state;
};

struct way {
    unsigned char salt, number;
    bool has_header;
    size_t sent, received;
    bool ended; /* the writer has half-closed */
    bool eof;   /* the reader has reached the end */
};

struct end {
    struct world *world;
    struct connection *connection;
    struct way *in, *out;
    struct end *peer;
    /* each end has its own random numbers, so that ends do not affect each other */
    struct dice dice;
    coil_stream *stream;
    coil_task *reader, *writer;
    bool is_server;
    bool used, closed; /* `closed`: the stream has been destroyed */
    /* a task of this end was cancelled, or the stream was closed during a call */
    bool disturbed;
    bool broken; /* a call has failed, for example because of a reset */
};

struct connection {
    struct way ways[2];
    struct end ends[2]; /* the client's end, the server's end */
    bool tls;
};

struct world {
    uint64_t seed;
    FILE *log;
    coil_network_opts network;
    struct dice dice;
    bool poor;  /* an allocation fails */
    bool chaos; /* tasks are cancelled, streams closed, the listener destroyed */
    int complaints;
    coil_listener *listener;
    bool listener_closed;
    coil_server *server; /* NULL if `accepting` is the server */
    char host[16], port[8];
    coil_group serving;
    coil_task *accepting;
    bool has_tls;
    coil_tls *tls[2]; /* the clients' and the server's context */
    int count;
    struct connection connections[CONNECTIONS];
};

/* ---- chance ------------------------------------------------------------------------ */

/* splitmix64. */
static uint64_t throw(struct dice * dice)
{
    uint64_t z = dice->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t below(struct dice *dice, size_t n)
{
    return (size_t)(throw(dice) % n);
}

static bool once_in(struct dice *dice, size_t n)
{
    return below(dice, n) == 0;
}

/* Return a random number of bytes, which is usually small. */
static size_t some_bytes(struct dice *dice)
{
    static const size_t limits[] = {4, 50, 500, LONGEST};

    return 1 + below(dice, limits[below(dice, 4)]);
}

/* ---- errors ------------------------------------------------------------------------ */

static int number_of(const struct end *end)
{
    return (int)(end->connection - end->world->connections);
}

static const char *name_of(const struct end *end)
{
    return end->is_server ? "server" : "client";
}

static void complain(struct end *end, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void complain(struct end *end, const char *format, ...)
{
    va_list args;

    end->world->complaints++;
    printf("%s %d: ", name_of(end), number_of(end));
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static void log_result(struct end *end, const char *what, ssize_t result)
{
    fprintf(end->world->log, "%lld %s %d: %s %zd\n", (long long)coil_now(), name_of(end),
            number_of(end), what, result);
}

/* ---- expected failures ------------------------------------------------------------- */

/*
 * Return true if a network fault, a failed allocation or the other end may have broken
 * the connection.
 */
static bool may_be_broken(const struct end *end)
{
    const coil_network_opts *network = &end->world->network;

    if (network->reset_ppm > 0 || end->world->poor || end->peer->closed)
        return true;
    /* A connection may be reset before the server begins to serve it. */
    return end->peer->stream == NULL &&
           (network->accept_abort_ppm > 0 || end->world->listener_closed);
}

static bool is_explained(struct end *end, ssize_t error)
{
    switch (-error) {
    case ECANCELED: /* coil_server_stop() cancels handlers */
        return end->disturbed || (end->world->server != NULL &&
                                  end->world->listener_closed && end->is_server);
    case EBADF:
        return end->disturbed;
    case ECONNRESET:
    case EPIPE:
    case ENOTCONN:
        return may_be_broken(end);
    case ECONNABORTED: /* the connection ended without a close_notify */
        return end->connection->tls && may_be_broken(end);
    case ENOMEM:
    case ENOBUFS:
        return end->world->poor;
    default:
        return false;
    }
}

/*
 * Handle the failure of a call. Returns an error that makes the group cancel the other
 * task of this end.
 */
static int failed(struct end *end, const char *what, ssize_t error)
{
    log_result(end, what, error);
    if (!is_explained(end, error))
        complain(end, "%s: %s, for no reason", what, strerror((int)-error));
    if (error != -ECANCELED && error != -EBADF)
        end->broken = true;
    end->disturbed = true;
    return -EIO; /* not -ECANCELED, because a group ignores a child that was cancelled */
}

/* ---- bytes ------------------------------------------------------------------------- */

static unsigned char byte_of(const struct way *way, size_t i)
{
    if (way->has_header && i < HEADER)
        return way->number;
    return (unsigned char)(i * 2654435761u >> 11 ^ i ^ way->salt);
}

static void fill(const struct way *way, size_t from, unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = byte_of(way, from + i);
}

static void take(struct end *end, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != byte_of(end->in, end->in->received + i)) {
            complain(end, "byte %zu is wrong", end->in->received + i);
            break;
        }
    end->in->received += n;
}

/* ---- reading ----------------------------------------------------------------------- */

static int came_to_end(struct end *end)
{
    log_result(end, "end", (ssize_t)end->in->received);
    end->in->eof = true;
    return 0;
}

static int read_some(struct end *end)
{
    unsigned char bytes[LONGEST];
    ssize_t n = coil_read(end->stream, bytes, some_bytes(&end->dice));

    if (n < 0)
        return (int)n;
    log_result(end, "read", n);
    take(end, bytes, (size_t)n);
    return n == 0 ? came_to_end(end) : 1;
}

static int read_all(struct end *end)
{
    unsigned char bytes[LONGEST];
    ssize_t n = coil_read_exact(end->stream, bytes, some_bytes(&end->dice));

    take(end, bytes, coil_stream_read_transferred(end->stream));
    log_result(end, "read_exact", n);
    if (n == -ENODATA)
        return came_to_end(end);
    return n < 0 ? (int)n : 1;
}

static int look_at_some(struct end *end)
{
    size_t at_least = some_bytes(&end->dice), n;
    const void *bytes;
    ssize_t there = coil_peek(end->stream, &bytes, at_least);

    if (there < 0)
        return (int)there;
    n = (size_t)there < at_least ? (size_t)there : below(&end->dice, (size_t)there + 1);
    take(end, bytes, n);
    coil_stream_consume(end->stream, n);
    log_result(end, "peek", there);
    return (size_t)there < at_least ? came_to_end(end) : 1;
}

enum { SEPARATOR = 7 };

static int read_up_to_separator(struct end *end)
{
    const unsigned char separator = SEPARATOR;
    unsigned char bytes[300], *first;
    size_t moved;
    ssize_t n = coil_read_until(end->stream, &separator, 1, bytes, sizeof bytes);

    log_result(end, "read_until", n);
    if (n == -EMSGSIZE)
        return read_some(end); /* reads the peeked bytes, and perhaps more */
    if (n < 0 && n != -ENODATA)
        return (int)n;
    moved = n > 0 ? (size_t)n : coil_stream_read_transferred(end->stream);
    first = memchr(bytes, SEPARATOR, moved);
    if (n > 0 ? first != bytes + n - 1 : first != NULL)
        complain(end, "coil_read_until() stopped at the wrong place");
    take(end, bytes, moved);
    return n == -ENODATA ? came_to_end(end) : 1;
}

/* Returns 1 to continue, 0 at the end, or a negative errno. */
static int read_step(struct end *end)
{
    switch (below(&end->dice, 7)) {
    case 0:
        return read_all(end);
    case 1:
        return look_at_some(end);
    case 2:
        return read_up_to_separator(end);
    case 3:
        return coil_sleep((int64_t)below(&end->dice, (size_t)COIL_MSEC(50))) < 0
                   ? -ECANCELED
                   : 1;
    default:
        return read_some(end);
    }
}

/*
 * Run the step, sometimes with a time limit. After a timeout, the next step continues
 * where this step stopped.
 */
static int for_a_while(struct end *end, int (*step)(struct end *))
{
    int64_t while_ns = (int64_t)below(&end->dice, (size_t)COIL_MSEC(30));
    coil_scope scope;
    int rc;

    if (!once_in(&end->dice, 4))
        return step(end);
    rc = coil_scope_enter(&scope, coil_in(while_ns));
    if (rc == 0)
        rc = step(end);
    rc = coil_scope_exit(&scope, rc);
    return rc == -ETIMEDOUT ? 1 : rc;
}

static int reader(void *arg)
{
    struct end *end = arg;
    int rc;

    do
        rc = for_a_while(end, read_step);
    while (rc > 0);
    return rc < 0 ? failed(end, "reading", rc) : 0;
}

/* ---- writing ----------------------------------------------------------------------- */

/* Write the bytes with one call, in up to five parts, some of them empty. */
static ssize_t write_parts(struct end *end, unsigned char *bytes, size_t n)
{
    struct iovec parts[5];
    size_t from = 0;

    for (int i = 0; i < 5; i++) {
        size_t part = i < 4 ? below(&end->dice, n - from + 1) : n - from;

        parts[i] = (struct iovec){bytes + from, part};
        from += part;
    }
    return coil_writev(end->stream, parts, 5);
}

static int write_some(struct end *end)
{
    unsigned char bytes[LONGEST];
    size_t n = some_bytes(&end->dice);
    ssize_t result;

    fill(end->out, end->out->sent, bytes, n);
    result = once_in(&end->dice, 2) ? coil_write(end->stream, bytes, n)
                                    : write_parts(end, bytes, n);
    if (result != (ssize_t)n && result >= 0)
        complain(end, "a write of %zu returned %zd", n, result);
    end->out->sent += coil_stream_write_transferred(end->stream);
    log_result(end, "write", result);
    return result < 0 ? (int)result : 1;
}

static int write_step(struct end *end)
{
    if (once_in(&end->dice, 4))
        return coil_sleep((int64_t)below(&end->dice, (size_t)COIL_MSEC(50))) < 0
                   ? -ECANCELED
                   : 1;
    return write_some(end);
}

static int writer(void *arg)
{
    struct end *end = arg;
    size_t steps = below(&end->dice, 12);
    int rc = 1;

    for (size_t i = 0; i < steps && rc > 0; i++)
        rc = for_a_while(end, write_step);
    if (rc > 0)
        rc = coil_stream_shutdown_write(end->stream);
    if (rc < 0)
        return failed(end, "writing", rc);
    log_result(end, "half-close", (ssize_t)end->out->sent);
    end->out->ended = true;
    return 0;
}

/* ---- an end ------------------------------------------------------------------------ */

static int disturber(void *arg)
{
    struct end *end = arg;
    int rc = coil_sleep((int64_t)below(&end->dice, (size_t)COIL_MSEC(300)));

    if (rc < 0)
        return rc;
    end->disturbed = true;
    switch (below(&end->dice, 3)) {
    case 0:
        coil_task_cancel(end->reader, NULL);
        break;
    case 1:
        coil_task_cancel(end->writer, NULL);
        break;
    default:
        end->closed = true;
        coil_stream_close(end->stream);
        break;
    }
    log_result(end, "disturbed", 0);
    return 0;
}

static int use_end(struct end *end, coil_stream *stream)
{
    coil_group group;
    int rc = 0;

    end->stream = stream;
    end->used = true;
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, reader, end, NULL, &end->reader);
    if (rc == 0)
        rc = coil_group_spawn(&group, writer, end, NULL, &end->writer);
    if (rc == 0 && end->world->chaos && once_in(&end->dice, 2))
        rc = coil_group_spawn(&group, disturber, end, NULL, NULL);
    coil_group_exit(&group, rc);
    end->closed = true;
    coil_stream_close(stream);
    log_result(end, "closed", 0);
    return 0;
}

/* ---- TLS --------------------------------------------------------------------------- */

/* Perform the TLS handshake, after the client has sent its connection's number. */
static int shake_hands(struct end *end)
{
    unsigned char header[HEADER];
    int rc;

    if (end->is_server)
        return coil_accept_tls(end->stream, end->world->tls[1]);
    fill(end->out, 0, header, HEADER);
    rc = (int)coil_write(end->stream, header, HEADER);
    end->out->sent += coil_stream_write_transferred(end->stream);
    return rc < 0 ? rc : coil_start_tls(end->stream, end->world->tls[0], "localhost");
}

static int use_tls_end(struct end *end, coil_stream *stream)
{
    int rc;

    end->stream = stream;
    end->used = true;
    rc = shake_hands(end);
    log_result(end, "handshake", rc);
    if (rc == 0)
        return use_end(end, stream);
    failed(end, "handshake", rc);
    end->closed = true;
    coil_stream_close(stream);
    return 0;
}

static int use(struct end *end, coil_stream *stream)
{
    return end->connection->tls ? use_tls_end(end, stream) : use_end(end, stream);
}

/* ---- the client -------------------------------------------------------------------- */

/*
 * Connecting fails if the connection is refused, or if the backlog stays full until the
 * kernel gives up.
 */
static bool connecting_may_fail(const struct world *world, int rc)
{
    if (rc == -ECONNREFUSED)
        return world->network.refuse_ppm > 0 || world->listener_closed;
    if (rc == -ENOMEM)
        return world->poor;
    return rc == -ETIMEDOUT && world->network.cut_ppm > 0;
}

static int client(void *arg)
{
    struct end *end = arg;
    struct world *world = end->world;
    coil_stream *stream;
    int rc = coil_sleep((int64_t)below(&end->dice, (size_t)COIL_MSEC(100)));

    if (rc == 0)
        rc = coil_connect(world->host, world->port, &stream);
    log_result(end, "connect", rc);
    if (rc == 0) {
        rc = use(end, stream);
        coil_stream_destroy(stream);
        return rc;
    }
    end->closed = true;
    if (!connecting_may_fail(world, rc))
        complain(end, "coil_connect(): %s, for no reason", strerror(-rc));
    return 0;
}

/* ---- the server -------------------------------------------------------------------- */

/*
 * Read the connection's number, and return the server's end of the connection, or NULL if
 * the client has closed the connection before it has sent the number.
 */
static struct end *identify(struct world *world, coil_stream *stream)
{
    unsigned char header[HEADER];
    struct end *end;

    if (coil_read_exact(stream, header, HEADER) < 0)
        return NULL;
    for (int i = 0; i < world->count; i++) {
        end = &world->connections[i].ends[1];
        if (header[0] == i && !end->used) {
            take(end, header, HEADER);
            return end;
        }
    }
    printf("a connection came twice, or was never made\n");
    world->complaints++;
    return NULL;
}

static int handle(coil_stream *stream, void *arg)
{
    struct end *end = identify(arg, stream);

    return end != NULL ? use(end, stream) : 0;
}

static int serve(void *arg)
{
    void **parts = arg;

    handle(parts[1], parts[0]);
    coil_stream_destroy(parts[1]);
    return 0;
}

static int accept_all(void *arg)
{
    struct world *world = arg;
    coil_stream *stream;
    int rc;

    do {
        rc = coil_accept(world->listener, &stream);
        if (rc == -EMFILE || (rc == -ENOMEM && world->poor)) {
            rc = coil_sleep(COIL_MSEC(10));
        } else if (rc == 0) {
            void *parts[] = {world, stream};
            coil_spawn_opts opts = {.arg_bytes = sizeof parts};

            if (coil_group_spawn(&world->serving, serve, parts, &opts, NULL) < 0)
                coil_stream_destroy(stream);
        }
    } while (rc == 0);
    if (rc != -EBADF && rc != -ECANCELED) {
        printf("coil_accept(): %s\n", strerror(-rc));
        world->complaints++;
    }
    return 0;
}

/* ---- the whole --------------------------------------------------------------------- */

static int start_serving(struct world *world)
{
    struct dice *dice = &world->dice;
    coil_server_opts opts = {.max_connections = below(dice, 4),
                             .grace_ns = (int64_t)below(dice, (size_t)COIL_MSEC(100))};

    coil_group_enter(&world->serving);
    if (once_in(dice, 2))
        return coil_server_create(world->listener, handle, world, &opts, &world->server);
    return coil_group_spawn(&world->serving, accept_all, world, NULL, &world->accepting);
}

/* Stop the server, or cancel the task that accepts connections, or close the listener. */
static int stop_serving(struct world *world, bool gently)
{
    world->listener_closed = true;
    if (world->server != NULL)
        return coil_server_stop(world->server);
    if (gently && world->accepting != NULL)
        coil_task_cancel(world->accepting, NULL);
    else
        coil_listener_close(world->listener);
    return 0;
}

static int stopper(void *arg)
{
    struct world *world = arg;
    int rc = coil_sleep((int64_t)below(&world->dice, (size_t)COIL_MSEC(200)));

    return rc == 0 ? stop_serving(world, false) : rc;
}

static int run_clients(struct world *world)
{
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (int i = 0; i < world->count && rc == 0; i++)
        rc = coil_group_spawn(&group, client, &world->connections[i].ends[0], NULL, NULL);
    if (rc == 0 && world->chaos && once_in(&world->dice, 4))
        rc = coil_group_spawn(&group, stopper, world, NULL, NULL);
    return coil_group_exit(&group, rc);
}

static void log_exception(const coil_exception *exception, void *arg)
{
    struct world *world = arg;

    fprintf(world->log, "%s: %s\n", exception->message, strerror(-exception->rc));
}

static int run_world(void *arg)
{
    struct world *world = arg;
    int backlog = (int)below(&world->dice, 4);
    bool v6 = once_in(&world->dice, 3);
    int rc;

    coil_set_exception_handler(log_exception, world);
    strcpy(world->host, v6 ? "2001:db8::7" : "192.0.2.7");
    rc = coil_listen(world->host, "0", backlog, &world->listener);
    if (rc < 0)
        return rc;
    snprintf(world->port, sizeof world->port, "%u", coil_listener_port(world->listener));
    rc = start_serving(world);
    if (rc == 0)
        rc = run_clients(world);
    stop_serving(world, once_in(&world->dice, 2));
    rc = coil_group_exit(&world->serving, rc);
    coil_server_destroy(world->server);
    coil_listener_destroy(world->listener);
    return rc;
}

/*
 * Compare the number of bytes sent in one direction with the number received. After a
 * failed allocation either end may have closed early.
 */
static void check_way(struct end *from)
{
    struct end *to = from->peer;
    const struct way *way = from->out;
    bool whole = way->received == way->sent;

    if (way->received > way->sent)
        complain(to, "%zu bytes came, but %zu were sent", way->received, way->sent);
    if (way->eof && !to->broken && !whole)
        complain(to, "the end came after %zu bytes of %zu", way->received, way->sent);
    if (from->world->poor)
        return;
    if (to->used && !way->eof && !to->broken && !to->disturbed)
        complain(to, "the end never came");
    if (!to->used && way->sent >= HEADER && !from->broken && !from->disturbed)
        complain(from, "nobody was at the other end");
}

static void check(struct world *world)
{
    for (int i = 0; i < world->count; i++) {
        check_way(&world->connections[i].ends[0]);
        check_way(&world->connections[i].ends[1]);
    }
}

/*
 * Choose a network at random. One network in three is calm; each of the others has some
 * properties of the hostile network.
 */
static coil_network_opts draw_network(struct dice *dice, uint64_t seed)
{
    coil_network_opts opts =
        once_in(dice, 3) ? coil_network_calm(seed) : coil_network_hostile(seed);

    if (once_in(dice, 2))
        opts.reset_ppm = 0;
    if (once_in(dice, 2))
        opts.cut_ppm = 0;
    if (once_in(dice, 2))
        opts.refuse_ppm = opts.accept_abort_ppm = 0;
    if (once_in(dice, 4))
        opts.latency_ns[0] = opts.latency_ns[1];
    else if (once_in(dice, 4))
        opts.latency_ns[1] = 0;
    if (once_in(dice, 4))
        opts.bytes_per_second = 20000;
    if (once_in(dice, 4))
        opts.receive_buffer_bytes = 256;
    return opts;
}

static void draw_connection(struct world *world, int number)
{
    struct connection *c = &world->connections[number];

    c->tls = world->has_tls && once_in(&world->dice, 2);
    for (int i = 0; i < 2; i++) {
        c->ways[i] = (struct way){.salt = (unsigned char) throw(&world->dice),
                                  .number = (unsigned char)number,
                                  .has_header = i == 0};
        c->ends[i] = (struct end){.world = world,
                                  .connection = c,
                                  .out = &c->ways[i],
                                  .in = &c->ways[!i],
                                  .peer = &c->ends[!i],
                                  .is_server = i == 1,
                                  .dice = {throw(&world->dice)}};
    }
}

int run_random_program(uint64_t seed, uint64_t failing, FILE *log)
{
    struct world *world = calloc(1, sizeof *world);
    int complaints, rc;

    *world = (struct world){.seed = seed, .log = log, .dice = {seed}};
    world->network = draw_network(&world->dice, seed);
    world->network.log = log;
    world->chaos = once_in(&world->dice, 2);
    world->count = 1 + (int)below(&world->dice, CONNECTIONS);
    if (once_in(&world->dice, 8))
        world->has_tls = random_tls_open(seed, &world->tls[1], &world->tls[0]);
    for (int i = 0; i < world->count; i++)
        draw_connection(world, i);
    coil_testing_network(&world->network);
    coil_testing_shuffle(once_in(&world->dice, 2) ? seed : 0);
    world->poor = failing > 0;
    coil_testing_fail_allocation(failing);
    rc = coil_testing_run(run_world, world);
    coil_testing_fail_allocation(0);
    coil_testing_network(NULL);
    coil_testing_shuffle(0);
    if (rc < 0 && !(rc == -ENOMEM && world->poor)) {
        printf("the program failed: %s\n", strerror(-rc));
        world->complaints++;
    }
    if (world->has_tls)
        random_tls_close(world->tls[1], world->tls[0]);
    check(world);
    complaints = world->complaints;
    free(world);
    return complaints;
}
