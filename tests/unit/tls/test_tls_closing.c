/*
 * test_tls_closing.c - closing or destroying a TLS stream while a task is in a call: at
 * each step of the handshake, at either end, and in each later call.
 */
#include "certificates.h"
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <coil.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define HUGE ((size_t)(test_simulated() ? 1 : 24) * 1024 * 1024)

struct side {
    coil_stream *stream;
    coil_tls *tls;
    ssize_t (*call)(struct side *side);
    char *bytes; /* HUGE */
    int file;
    ssize_t result;
    bool ended;
};

static struct certificates files;
static struct side client, server;

static void begin(void)
{
    certificates_make(&files);
    client = server = (struct side){.file = -1};
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.ca_file = files.root}, &client.tls), 0);
    CHECK_INT(
        coil_tls_create(&(coil_tls_opts){.certificate_file = files.server}, &server.tls),
        0);
}

static void end(void)
{
    coil_tls_release(client.tls);
    coil_tls_release(server.tls);
    certificates_remove(&files);
}

static void connect_sides(void)
{
    coil_stream *ends[2];

    connect_streams(ends);
    client.stream = ends[0];
    server.stream = ends[1];
}

static int visit(void *arg)
{
    struct side *side = arg;

    side->ended = false;
    side->result = side->call(side);
    side->ended = true;
    return 0;
}

static coil_task *start(struct side *side)
{
    coil_task *task = NULL;

    CHECK_INT(coil_spawn(visit, side, NULL, &task), 0);
    return task;
}

static ssize_t call_start(struct side *side)
{
    return coil_start_tls(side->stream, side->tls, "localhost");
}

static ssize_t call_accept(struct side *side)
{
    return coil_accept_tls(side->stream, side->tls);
}

/* ---- handshakes -------------------------------------------------------------------- */

static void let_pass(int moments)
{
    if (test_simulated())
        coil_sleep(COIL_MSEC(4) * moments);
    else
        coil_sleep(COIL_USEC(150) * moments);
}

/*
 * Close or destroy one end during the handshake, after the given time (see let_pass()).
 * The handshake of this end must fail with -EBADF, unless it has already ended. The other
 * end's handshake must end, too.
 */
static void shake_hands(struct side *closed, struct side *other, int moments,
                        bool destroys)
{
    coil_task *tasks[2];

    connect_sides();
    client.call = call_start;
    server.call = call_accept;
    tasks[0] = start(closed);
    tasks[1] = start(other);
    let_pass(moments);
    if (destroys)
        coil_stream_destroy(closed->stream);
    else
        coil_stream_close(closed->stream);
    finish(tasks[0]);
    finish(tasks[1]);
    CHECK(closed->result == -EBADF || closed->result == 0);
    CHECK(other->result <= 0);
    if (!destroys) {
        CHECK_INT(coil_write(closed->stream, "x", 1), -EBADF);
        CHECK(coil_tls_stop(closed->stream) < 0);
        coil_stream_destroy(closed->stream);
    }
    coil_stream_destroy(other->stream);
}

NET_TEST(tls_handshake_closed_at_every_moment)
{
    begin();
    for (int moments = 0; moments < 16; moments += test_under_valgrind() ? 3 : 1) {
        shake_hands(&client, &server, moments, moments % 2 == 0);
        shake_hands(&server, &client, moments, moments % 2 == 0);
    }
    end();
}

/* ---- calls after it ---------------------------------------------------------------- */

static void talk(void)
{
    coil_task *tasks[2];

    connect_sides();
    client.call = call_start;
    server.call = call_accept;
    tasks[0] = start(&client);
    tasks[1] = start(&server);
    finish(tasks[0]);
    finish(tasks[1]);
    CHECK_INT(client.result, 0);
    CHECK_INT(server.result, 0);
}

static ssize_t call_read_line(struct side *side)
{
    char line[100];

    return coil_read_line(side->stream, line, sizeof line);
}

static ssize_t call_peek(struct side *side)
{
    const void *data;

    return coil_peek(side->stream, &data, 100);
}

/* Send close_notify, and wait for the peer's close_notify. */
static ssize_t call_stop(struct side *side)
{
    return coil_tls_stop(side->stream);
}

static ssize_t call_write(struct side *side)
{
    return coil_write(side->stream, side->bytes, HUGE);
}

static ssize_t call_writev(struct side *side)
{
    struct iovec parts[] = {{side->bytes, HUGE / 2}, {side->bytes, HUGE / 2}};

    return coil_writev(side->stream, parts, 2);
}

static ssize_t call_sendfile(struct side *side)
{
    int64_t offset = 0;

    return coil_sendfile(side->stream, side->file, &offset, SIZE_MAX);
}

static void close_in(struct side *side, ssize_t (*call)(struct side *), bool destroys)
{
    coil_task *task;

    talk();
    side->call = call;
    task = start(side);
    settle();
    CHECK(!side->ended);
    if (destroys)
        coil_stream_destroy(side->stream);
    else
        coil_stream_close(side->stream);
    finish(task);
    CHECK_INT(side->result, -EBADF);
    if (!destroys)
        coil_stream_destroy(side->stream);
    coil_stream_destroy(side == &client ? server.stream : client.stream);
}

NET_TEST(tls_closed_in_each_call)
{
    static ssize_t (*const calls[])(struct side *) = {
        call_read_line, call_peek, call_stop, call_write, call_writev, call_sendfile};

    begin();
    client.bytes = server.bytes = calloc(1, HUGE);
    client.file = server.file = memfd_create("closing", MFD_CLOEXEC);
    CHECK_INT(ftruncate(client.file, (off_t)HUGE), 0);
    for (unsigned i = 0; i < 2 * COUNT(calls); i++) {
        close_in(i % 2 == 0 ? &client : &server, calls[i / 2], i / 2 % 2 == 0);
        close_in(i % 2 == 0 ? &client : &server, calls[i / 2], i / 2 % 2 == 1);
    }
    close(client.file);
    free(client.bytes);
    end();
}

/*
 * Destroy a stream while its reader waits for its blocked writer. A reader waits for the
 * writer after a half-close, or if it has to send a reply.
 */
NET_TEST(tls_destroyed_under_a_reader_and_a_writer)
{
    begin();
    client.bytes = calloc(1, HUGE);
    for (int i = 0; i < 4; i++) {
        struct side reader = {.call = i < 2 ? call_read_line : call_peek};
        coil_task *tasks[2];

        talk();
        reader.stream = client.stream;
        client.call = call_write;
        tasks[0] = start(&client);
        tasks[1] = start(&reader);
        settle();
        if (i % 2 == 0)
            coil_task_cancel(tasks[0], NULL);
        coil_stream_destroy(client.stream);
        finish_cancelled(tasks[0]);
        finish(tasks[1]);
        CHECK_INT(reader.result, -EBADF);
        CHECK(client.result == -EBADF || (i % 2 == 0 && client.result == -ECANCELED));
        coil_stream_destroy(server.stream);
    }
    free(client.bytes);
    end();
}
