/*
 * test_server_requests.c - connections that are idle when their server stops.
 */
#include "sockets.h"

#include "../../harness/harness.h"

struct place {
    coil_listener *listener;
    coil_server *server;
    char port[8];
};

static int answer(coil_stream *stream)
{
    char order;
    ssize_t n = coil_read(stream, &order, 1);

    if (n <= 0)
        return n < 0 ? (int)n : -ENODATA;
    if (order == 's')
        coil_sleep(COIL_MSEC(50));
    order = coil_server_is_stopping(coil_server_current()) ? 'S' : 'r';
    n = coil_write(stream, &order, 1);
    return n < 0 ? (int)n : 0;
}

static int handle(coil_stream *stream, void *arg)
{
    int rc;

    (void)arg;
    while ((rc = coil_server_wait_request(stream)) == 0)
        if ((rc = answer(stream)) < 0)
            break;
    test_trace("%s ", rc == -ESHUTDOWN ? "idle" : rc == -ENODATA ? "closed" : "cut");
    return rc == -ESHUTDOWN || rc == -ENODATA ? 0 : rc;
}

static struct place start_server(int64_t grace_ns)
{
    coil_server_opts opts = {.grace_ns = grace_ns};
    struct place p = {NULL, NULL, ""};

    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &p.listener), 0);
    snprintf(p.port, sizeof p.port, "%u", coil_listener_port(p.listener));
    CHECK_INT(coil_server_create(p.listener, handle, NULL, &opts, &p.server), 0);
    return p;
}

static void destroy_server(struct place *p)
{
    coil_server_destroy(p->server);
    coil_listener_destroy(p->listener);
}

static coil_stream *connect_to(const struct place *p)
{
    coil_stream *stream = NULL;

    CHECK_INT(coil_connect("127.0.0.1", p->port, &stream), 0);
    return stream;
}

static char ask(coil_stream *stream, const char *order)
{
    char byte = 0;

    CHECK_INT(coil_write(stream, order, 1), 1);
    CHECK_INT(coil_read(stream, &byte, 1), 1);
    return byte;
}

static int stop(void *arg)
{
    struct place *p = arg;

    CHECK(!coil_server_is_stopping(p->server));
    return coil_server_stop(p->server);
}

NET_TEST(server_ends_idle_connections_when_it_stops)
{
    struct place p = start_server(COIL_SEC(600));
    coil_stream *a = connect_to(&p), *b = connect_to(&p);
    int64_t begun = coil_now();
    char byte;

    CHECK_INT(ask(a, "x"), 'r');
    CHECK_INT(ask(b, "x"), 'r');
    CHECK_INT(ask(a, "x"), 'r');
    CHECK_INT(coil_server_stop(p.server), 0);
    CHECK(coil_server_is_stopping(p.server));
    CHECK(coil_now() - begun < COIL_SEC(300));
    CHECK_INT(coil_read(a, &byte, 1), 0);
    CHECK_INT(coil_read(b, &byte, 1), 0);
    CHECK_TRACE("idle idle ");
    coil_stream_destroy(a);
    coil_stream_destroy(b);
    destroy_server(&p);
}

NET_TEST(server_lets_busy_connections_finish_when_it_stops)
{
    struct place p = start_server(COIL_SEC(600));
    coil_stream *stream = connect_to(&p);
    coil_task *stopper;
    char byte = 0;

    CHECK_INT(ask(stream, "x"), 'r');
    CHECK_INT(coil_write(stream, "s", 1), 1);
    coil_sleep(COIL_MSEC(20));
    stopper = test_spawn(stop, &p);
    CHECK_INT(coil_read(stream, &byte, 1), 1);
    CHECK_INT(byte, 'S');
    CHECK_INT(coil_read(stream, &byte, 1), 0);
    CHECK_INT(test_join(stopper), 0);
    CHECK_TRACE("idle ");
    coil_stream_destroy(stream);
    destroy_server(&p);
}

NET_TEST(server_answers_a_request_that_has_arrived_when_it_stops)
{
    struct place p = start_server(COIL_SEC(600));
    coil_stream *stream = connect_to(&p);
    coil_task *stopper;
    char bytes[3];

    CHECK_INT(coil_write(stream, "sxx", 3), 3); /* two more requests are queued */
    coil_sleep(COIL_MSEC(20));
    stopper = test_spawn(stop, &p);
    CHECK_INT(coil_read_exact(stream, bytes, 3), 3);
    CHECK_INT(bytes[2], 'S');
    CHECK_INT(coil_read(stream, bytes, 1), 0);
    CHECK_INT(test_join(stopper), 0);
    CHECK_TRACE("idle ");
    coil_stream_destroy(stream);
    destroy_server(&p);
}

NET_TEST(server_request_ends_with_the_client)
{
    struct place p = start_server(0);
    coil_stream *stream = connect_to(&p);

    CHECK_INT(ask(stream, "x"), 'r');
    coil_stream_destroy(stream);
    while (coil_server_connections(p.server) > 0)
        coil_sleep(COIL_MSEC(1));
    CHECK_TRACE("closed ");
    CHECK_INT(coil_server_stop(p.server), 0);
    destroy_server(&p);
}

/* Destroying a server is not a graceful stop, and cancels its handlers. */
NET_TEST(server_request_of_a_destroyed_server_is_cancelled)
{
    struct place p = start_server(COIL_SEC(600));
    coil_stream *stream = connect_to(&p);
    char byte;

    CHECK_INT(ask(stream, "x"), 'r');
    destroy_server(&p);
    CHECK_INT(coil_read(stream, &byte, 1), 0);
    coil_stream_destroy(stream);
    coil_sleep(COIL_MSEC(1));
}

NET_TEST(server_request_outside_of_a_handler)
{
    coil_stream *ends[2];

    CHECK_PTR(coil_server_current(), NULL);
    CHECK_INT(coil_stream_pair(ends), 0);
    CHECK_INT(coil_server_wait_request(ends[0]), -EINVAL);
    destroy_streams(ends);
}

static int wait_without_memory(coil_stream *stream, void *arg)
{
    int *tried = arg, rc = -ENOMEM;

    /*
     * The tested call returns at once, because a byte is ready. So no other task can
     * allocate memory during the call.
     */
    CHECK_INT(coil_stream_wait_readable(stream), 0);
    for (int n = 1; rc == -ENOMEM; n++, ++*tried) {
        test_fail_allocation(n);
        rc = coil_server_wait_request(stream);
        test_fail_allocation(0);
    }
    return rc == 0 ? answer(stream) : rc;
}

NET_TEST(server_request_bears_failing_allocations)
{
    struct place p = {NULL, NULL, ""};
    coil_stream *client = NULL;
    char byte = '?';
    int tried = 0;

    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &p.listener), 0);
    snprintf(p.port, sizeof p.port, "%u", coil_listener_port(p.listener));
    CHECK_INT(
        coil_server_create(p.listener, wait_without_memory, &tried, NULL, &p.server), 0);
    client = connect_to(&p);
    CHECK_INT(coil_write(client, "q", 1), 1);
    CHECK_INT(coil_read(client, &byte, 1), 1);
    CHECK_INT(byte, 'r');
    CHECK(tried >= 2);
    coil_stream_destroy(client);
    destroy_server(&p);
    coil_sleep(COIL_MSEC(1));
}
