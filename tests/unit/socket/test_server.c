/*
 * test_server.c - servers run a task for each connection: limits, stopping, and failures.
 */
#include "sockets.h"

#include "../../harness/harness.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char port[8];

static coil_listener *listen_here(void)
{
    coil_listener *listener = NULL;

    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &listener), 0);
    snprintf(port, sizeof port, "%u", coil_listener_port(listener));
    return listener;
}

static coil_stream *connect_here(void)
{
    coil_stream *stream = NULL;

    CHECK_INT(coil_connect("127.0.0.1", port, &stream), 0);
    return stream;
}

/* Check that the server echoes a byte. */
static void check_echo(coil_stream *stream)
{
    char byte = 'x';

    CHECK_INT(coil_write(stream, &byte, 1), 1);
    CHECK_INT(coil_read_exact(stream, &byte, 1), 1);
}

static void check_end(coil_stream *stream)
{
    char byte;
    ssize_t n = coil_read(stream, &byte, 1);

    CHECK(n == 0 || n == -ECONNRESET);
}

/* Return the port of this end of the connection. */
static unsigned own_port(const coil_stream *stream)
{
    coil_address name;

    CHECK_INT(coil_stream_name(stream, &name), 0);
    return coil_address_port(&name);
}

struct reports {
    char first[160], last[160];
    int count, rc;
};

static void count_report(const coil_exception *exception, void *arg)
{
    struct reports *r = arg;

    if (r->count++ == 0)
        snprintf(r->first, sizeof r->first, "%s", exception->message);
    snprintf(r->last, sizeof r->last, "%s", exception->message);
    r->rc = exception->rc;
}

static void expect_reports(struct reports *r)
{
    memset(r, 0, sizeof *r);
    coil_set_exception_handler(count_report, r);
}

/* ---- serving ----------------------------------------------------------------------- */

NET_TEST(server_serves_many_at_a_time)
{
    coil_listener *listener = listen_here();
    coil_stream *clients[50];
    coil_server *server;

    CHECK_INT(coil_server_create(listener, echo_all, NULL, NULL, &server), 0);
    for (int i = 0; i < 50; i++)
        clients[i] = connect_here();
    for (int i = 49; i >= 0; i--)
        check_echo(clients[i]);
    CHECK_INT(coil_server_connections(server), 50);
    for (int i = 0; i < 50; i++)
        coil_stream_destroy(clients[i]);
    while (coil_server_connections(server) > 0)
        coil_sleep(COIL_MSEC(1));
    CHECK_INT(coil_server_stop(server), 0);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
}

struct crowd {
    int now, most, all;
};

static int count_crowd(coil_stream *stream, void *arg)
{
    struct crowd *c = arg;
    int rc;

    c->all++;
    if (++c->now > c->most)
        c->most = c->now;
    rc = echo_all(stream, NULL);
    c->now--;
    return rc;
}

/*
 * Serve with a limit of three connections. With two listeners, one may already have
 * accepted a further connection, which must wait.
 */
static void serve_three_at_a_time(int listener_count)
{
    coil_listener *listeners[2];
    coil_stream *clients[12];
    struct crowd crowd = {0, 0, 0};
    coil_server *server;
    char ports[2][8];

    for (int i = 0; i < listener_count; i++) {
        listeners[i] = listen_here();
        strcpy(ports[i], port);
    }
    CHECK_INT(coil_server_create(listeners[0], count_crowd, &crowd,
                                 &(coil_server_opts){.max_connections = 3}, &server),
              0);
    if (listener_count > 1)
        CHECK_INT(coil_server_add(server, listeners[1]), 0);
    for (int i = 0; i < 12; i++) {
        strcpy(port, ports[i % listener_count]);
        clients[i] = connect_here();
        CHECK_INT(coil_write(clients[i], "x", 1), 1);
    }
    while (crowd.now < 3)
        coil_sleep(COIL_MSEC(1));
    coil_sleep(COIL_MSEC(5));
    CHECK_INT(crowd.now, 3);
    for (int i = 0; i < 12; i++)
        CHECK_INT(coil_stream_shutdown_write(clients[i]), 0);
    for (int i = 0; i < 12; i++) {
        char buf[2];

        CHECK_INT(coil_read_exact(clients[i], buf, 2), -ENODATA);
        CHECK_INT(coil_stream_read_transferred(clients[i]), 1);
        coil_stream_destroy(clients[i]);
    }
    CHECK_INT(crowd.most, 3);
    CHECK_INT(crowd.all, 12);
    coil_server_stop(server);
    coil_server_destroy(server);
    for (int i = 0; i < listener_count; i++)
        coil_listener_destroy(listeners[i]);
}

NET_TEST(server_with_max_connections_leaves_the_rest_waiting)
{
    serve_three_at_a_time(1);
}

NET_TEST(server_with_max_connections_and_two_listeners)
{
    serve_three_at_a_time(2);
}

static int name_thyself(coil_stream *stream, void *arg)
{
    (void)arg;
    return (int)coil_write(stream, coil_task_name(coil_task_current()), 4);
}

NET_TEST(server_names_its_handlers)
{
    coil_listener *listener = listen_here();
    coil_stream *client;
    coil_server *server;
    char name[5] = "", text[5] = "door";

    CHECK_INT(coil_server_create(listener, name_thyself, NULL,
                                 &(coil_server_opts){.name = text}, &server),
              0);
    strcpy(text, "gone");
    client = connect_here();
    CHECK_INT(coil_read_exact(client, name, 4), 4);
    CHECK_STR(name, "door");
    check_end(client); /* the server also destroys the handler's stream */
    coil_stream_destroy(client);
    coil_server_stop(server);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
}

/* ---- failures of handlers ---------------------------------------------------------- */

static int fail_on_x(coil_stream *stream, void *arg)
{
    char byte = 0;

    (void)arg;
    while (coil_read(stream, &byte, 1) == 1 && byte != 'x')
        coil_write(stream, &byte, 1);
    if (byte != 'x')
        return 0;
    coil_stream_close(stream); /* a handler may close its stream */
    return coil_fail(-EPROTO, "an x came");
}

/*
 * A handler that fails after the connection was reset. The report of this failure cannot
 * name the peer, because getpeername(2) fails.
 */
static int fail_on_reset(coil_stream *stream, void *arg)
{
    char byte;
    int rc = (int)coil_read(stream, &byte, 1);

    coil_stream_close(stream);
    return (void)arg, rc;
}

IO_TEST(server_report_names_the_peer_that_has_reset_its_connection)
{
    coil_listener *listener = listen_here();
    struct linger abort_it = {.l_onoff = 1};
    struct reports reports;
    coil_server *server;
    char expected[160];
    coil_stream *bad;

    expect_reports(&reports);
    CHECK_INT(coil_server_create(listener, fail_on_reset, NULL, NULL, &server), 0);
    bad = connect_here();
    snprintf(expected, sizeof expected, "from 127.0.0.1:%u to 127.0.0.1:%s",
             own_port(bad), port);
    CHECK_INT(setsockopt(coil_stream_fd(bad), SOL_SOCKET, SO_LINGER, &abort_it,
                         sizeof abort_it),
              0);
    coil_stream_destroy(bad);
    while (reports.count == 0)
        coil_sleep(COIL_USEC(100));
    CHECK_INT(reports.rc, -ECONNRESET);
    CHECK(strstr(reports.first, expected) != NULL);
    CHECK_INT(coil_server_stop(server), 0);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
}

IO_TEST(server_report_names_the_local_socket)
{
    char path[64], expected[160];
    coil_listener *listener;
    struct reports reports;
    coil_server *server;
    coil_stream *bad;

    snprintf(path, sizeof path, "@coil-test-report-%d", (int)getpid());
    expect_reports(&reports);
    CHECK_INT(coil_listen_unix(path, 0, &listener), 0);
    CHECK_INT(coil_server_create(listener, fail_on_x, NULL, NULL, &server), 0);
    CHECK_INT(coil_connect_unix(path, &bad), 0);
    CHECK_INT(coil_write(bad, "x", 1), 1);
    check_end(bad);
    snprintf(expected, sizeof expected,
             "Unhandled failure in the handler of a connection to %s", path);
    CHECK_STR(reports.first, expected);
    coil_stream_destroy(bad);
    CHECK_INT(coil_server_stop(server), 0);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
}

NET_TEST(server_reports_a_handler_that_fails_and_goes_on)
{
    coil_listener *listener = listen_here();
    coil_stream *good, *bad;
    coil_server *server;
    struct reports reports;
    char expected[160];

    expect_reports(&reports);
    CHECK_INT(coil_server_create(listener, fail_on_x, NULL, NULL, &server), 0);
    good = connect_here();
    bad = connect_here();
    CHECK_INT(coil_write(bad, "x", 1), 1);
    check_end(bad);
    CHECK_INT(reports.count, 1);
    CHECK_INT(reports.rc, -EPROTO);
    snprintf(expected, sizeof expected,
             "Unhandled failure in the handler of a connection from 127.0.0.1:%u to "
             "127.0.0.1:%s",
             own_port(bad), port);
    CHECK_STR(reports.first, expected);
    CHECK_INT(coil_write(good, "y", 1), 1);
    CHECK_INT(coil_read(good, reports.first, 1), 1);
    coil_stream_destroy(bad);
    bad = connect_here();
    CHECK_INT(coil_write(bad, "z", 1), 1);
    CHECK_INT(coil_read(bad, reports.first, 1), 1);
    coil_stream_destroy(bad);
    coil_stream_destroy(good);
    CHECK_INT(coil_server_stop(server), 0);
    CHECK_INT(reports.count, 1);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
}

/* ---- idle connections -------------------------------------------------------------- */

struct seen {
    int rc, calls;
};

static int read_to_the_end(coil_stream *stream, void *arg)
{
    struct seen *seen = arg;
    char bytes[16];
    ssize_t n;

    while ((n = coil_read(stream, bytes, sizeof bytes)) > 0)
        seen->calls++;
    seen->rc = (int)n;
    return (int)n;
}

/*
 * The handler of an idle connection is cancelled without a report. With a virtual clock,
 * the test checks the exact time.
 */
NET_TEST(server_cancels_a_connection_that_is_idle)
{
    coil_server_opts opts = {.idle_ns = COIL_MSEC(40)};
    coil_listener *listener = listen_here();
    struct seen seen = {.rc = 1};
    struct reports reports;
    coil_server *server;
    coil_stream *client;
    int64_t begun;

    expect_reports(&reports);
    CHECK_INT(coil_server_create(listener, read_to_the_end, &seen, &opts, &server), 0);
    client = connect_here();
    begun = coil_now();
    check_end(client);
    CHECK(coil_now() - begun >= COIL_MSEC(40) || !test_simulated());
    CHECK(coil_now() - begun < COIL_MSEC(60) || !test_simulated());
    CHECK_INT(seen.rc, -ECANCELED);
    CHECK_INT(reports.count, 0);
    coil_stream_destroy(client);
    coil_server_stop(server);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
}

/* A connection on which a byte arrives every second is not idle. */
NET_TEST(server_does_not_cancel_a_connection_that_is_not_idle)
{
    coil_server_opts opts = {.idle_ns = COIL_SEC(2)};
    coil_listener *listener;
    struct seen seen = {.rc = 1};
    coil_server *server;
    coil_stream *client;

    if (!test_simulated())
        test_skip("this takes many seconds without a virtual clock");
    listener = listen_here();
    CHECK_INT(coil_server_create(listener, read_to_the_end, &seen, &opts, &server), 0);
    client = connect_here();
    for (int i = 0; i < 20; i++) {
        CHECK_INT(coil_write(client, "x", 1), 1);
        coil_sleep(COIL_SEC(1));
    }
    CHECK_INT(seen.calls, 20);
    CHECK_INT(coil_stream_shutdown_write(client), 0);
    check_end(client);
    CHECK_INT(seen.rc, 0);
    coil_stream_destroy(client);
    coil_server_stop(server);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
}

static int think(coil_stream *stream, void *arg)
{
    struct seen *seen = arg;
    char byte;

    seen->rc = coil_sleep(COIL_MSEC(200));
    if (seen->rc == 0)
        seen->rc = (int)coil_read(stream, &byte, 1);
    return seen->rc;
}

NET_TEST(server_does_not_cancel_a_handler_that_is_busy_elsewhere)
{
    coil_server_opts opts = {.idle_ns = COIL_MSEC(20)};
    coil_listener *listener = listen_here();
    struct seen seen = {.rc = 0};
    coil_server *server;
    coil_stream *client;

    CHECK_INT(coil_server_create(listener, think, &seen, &opts, &server), 0);
    client = connect_here();
    CHECK_INT(coil_write(client, "x", 1), 1);
    check_end(client);
    CHECK_INT(seen.rc, 1);
    coil_stream_destroy(client);
    coil_server_stop(server);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
}

static int write_much(coil_stream *stream, void *arg)
{
    static const char bytes[1 << 20];
    ssize_t n;

    while ((n = coil_write(stream, bytes, sizeof bytes)) > 0)
        continue;
    *(int *)arg = (int)n;
    return (int)n;
}

/* A connection whose peer does not read counts as idle, too. */
IO_TEST(server_cancels_a_connection_whose_peer_does_not_read)
{
    coil_server_opts opts = {.idle_ns = COIL_MSEC(20)};
    coil_listener *listener = listen_here();
    coil_server *server;
    coil_stream *client;
    int rc = 1;

    CHECK_INT(coil_server_create(listener, write_much, &rc, &opts, &server), 0);
    client = connect_here();
    while (rc == 1)
        coil_sleep(COIL_MSEC(1));
    CHECK_INT(rc, -ECANCELED);
    coil_stream_destroy(client);
    coil_server_stop(server);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
}

/* ---- stopping ---------------------------------------------------------------------- */

struct stopping {
    coil_server *server;
    int rc;
    bool ended;
};

static int do_stop(void *arg)
{
    struct stopping *s = arg;

    s->rc = coil_server_stop(s->server);
    s->ended = true;
    return 0;
}

static int do_wait(void *arg)
{
    struct stopping *s = arg;

    s->rc = coil_server_wait(s->server);
    s->ended = true;
    return 0;
}

static coil_task *start(coil_task_fn fn, void *arg)
{
    coil_task *task = NULL;

    CHECK_INT(coil_spawn(fn, arg, NULL, &task), 0);
    settle();
    return task;
}

/* Start a server and a client, and wait until the handler runs. */
static coil_server *serve_one(int64_t grace_ns, coil_listener **listener,
                              coil_stream **client)
{
    coil_server *server = NULL;

    *listener = listen_here();
    CHECK_INT(coil_server_create(*listener, echo_all, NULL,
                                 &(coil_server_opts){.grace_ns = grace_ns}, &server),
              0);
    *client = connect_here();
    check_echo(*client);
    return server;
}

NET_TEST(server_stop_lets_handlers_end)
{
    coil_listener *listener;
    coil_stream *client, *late;
    struct stopping s = {serve_one(COIL_NEVER, &listener, &client), 0, false};
    struct stopping w = s, again = s;
    coil_task *waiter = start(do_wait, &w), *task, *second;

    CHECK(!w.ended);
    task = start(do_stop, &s);
    second = start(do_stop, &again);
    CHECK(!s.ended && !again.ended && !w.ended);
    CHECK_INT(coil_listener_name(listener, &(coil_address){.length = 0}), -EBADF);
    CHECK_INT(coil_connect("127.0.0.1", port, &late), -ECONNREFUSED);
    check_echo(client);
    CHECK_INT(coil_server_add(s.server, listener), -ESHUTDOWN);
    coil_stream_destroy(client);
    finish(task);
    finish(second);
    finish(waiter);
    CHECK(s.rc == 0 && again.rc == 0 && w.rc == 0);
    CHECK_INT(coil_server_stop(s.server), 0);
    CHECK_INT(coil_server_wait(s.server), 0);
    coil_server_destroy(s.server);
    coil_listener_destroy(listener);
}

/*
 * The handler ends only when cancelled, because the client neither reads nor disconnects.
 */
NET_TEST(server_stop_cancels_handlers_after_their_time)
{
    static const int64_t graces[] = {0, COIL_MSEC(3)};

    for (int i = 0; i < 2; i++) {
        coil_listener *listener;
        coil_stream *client;
        coil_server *server = serve_one(graces[i], &listener, &client);
        int64_t begin = coil_now();

        CHECK_INT(coil_server_stop(server), 0);
        CHECK(coil_now() - begin >= graces[i]);
        CHECK_INT(coil_server_connections(server), 0);
        check_end(client);
        coil_stream_destroy(client);
        coil_server_destroy(server);
        coil_listener_destroy(listener);
    }
}

NET_TEST(server_stop_cancelled_stops_all_the_same)
{
    coil_listener *listener;
    coil_stream *client;
    struct stopping s = {serve_one(COIL_NEVER, &listener, &client), 0, false};
    coil_task *task = start(do_stop, &s);

    coil_task_cancel(task, NULL);
    finish(task);
    CHECK_INT(s.rc, -ECANCELED);
    CHECK_INT(coil_server_connections(s.server), 1);
    coil_stream_destroy(client);
    CHECK_INT(coil_server_wait(s.server), 0);
    coil_server_destroy(s.server);
    coil_listener_destroy(listener);
}

static int stop_from_within(coil_stream *stream, void *arg)
{
    coil_server *server = *(coil_server **)arg;

    CHECK_INT(coil_server_wait(server), -EDEADLK);
    CHECK_INT(coil_server_stop(server), 0);
    CHECK_INT(coil_server_stop(server), 0);
    return (int)coil_write(stream, "bye", 3); /* succeeds during the grace time */
}

NET_TEST(server_stopped_by_a_handler)
{
    coil_listener *listener = listen_here();
    coil_stream *client;
    coil_server *server;
    char bye[4] = "";

    CHECK_INT(coil_server_create(listener, stop_from_within, &server,
                                 &(coil_server_opts){.grace_ns = COIL_NEVER}, &server),
              0);
    client = connect_here();
    CHECK_INT(coil_server_wait(server), 0);
    CHECK_INT(coil_read_exact(client, bye, 3), 3);
    CHECK_STR(bye, "bye");
    coil_stream_destroy(client);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
}

static int destroy_from_within(coil_stream *stream, void *arg)
{
    char byte;

    coil_server_destroy(*(coil_server **)arg);
    CHECK_INT(coil_read(stream, &byte, 1), -ECANCELED);
    return -ECANCELED;
}

NET_TEST(server_destroyed_by_a_handler)
{
    coil_listener *listener = listen_here();
    coil_stream *client;
    coil_server *server;

    CHECK_INT(coil_server_create(listener, destroy_from_within, &server, NULL, &server),
              0);
    client = connect_here();
    check_end(client);
    coil_stream_destroy(client);
    coil_listener_destroy(listener);
    settle();
}

NET_TEST(server_destroyed_while_handlers_run)
{
    coil_listener *listener;
    coil_stream *client;
    struct stopping w = {serve_one(COIL_NEVER, &listener, &client), 0, false};
    coil_task *waiter = start(do_wait, &w);

    coil_server_destroy(w.server);
    coil_server_destroy(NULL);
    check_end(client);
    finish(waiter);
    CHECK_INT(w.rc, 0);
    coil_stream_destroy(client);
    coil_listener_destroy(listener);
}

NET_TEST(server_destroyed_at_once)
{
    coil_listener *listener = listen_here();
    coil_server *server;

    CHECK_INT(coil_server_create(listener, echo_all, NULL, NULL, &server), 0);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
    listener = listen_here();
    CHECK_INT(coil_server_create(listener, echo_all, NULL, NULL, &server), 0);
    coil_listener_destroy(listener);
    CHECK_INT(coil_server_stop(server), 0);
    coil_server_destroy(server);
}

/* ---- coil_serve -------------------------------------------------------------------- */

struct serving {
    coil_listener *listener;
    coil_server_opts opts;
    int rc;
};

static int echo_and_say_bye(coil_stream *stream, void *arg)
{
    int rc = echo_all(stream, NULL);
    coil_scope scope;

    ++*(int *)arg; /* `arg` is on the stack of the serving task */
    if (coil_scope_enter_shielded(&scope, COIL_NEVER) == 0) {
        coil_write(stream, "bye", 3);
        coil_scope_exit(&scope, 0);
    }
    return rc;
}

static int do_serve(void *arg)
{
    struct serving *s = arg;
    int ended = 0;

    s->rc = coil_serve(s->listener, echo_and_say_bye, &ended, &s->opts);
    CHECK_INT(ended, 1);
    return 0;
}

NET_TEST(serve_until_cancelled)
{
    for (int grace = 0; grace < 2; grace++) {
        struct serving s = {listen_here(), {.grace_ns = COIL_MSEC(2 * grace)}, 0};
        coil_task *task = start(do_serve, &s);
        coil_stream *client = connect_here();
        char bye[4] = "";

        check_echo(client);
        coil_task_cancel(task, NULL);
        settle();
        coil_task_cancel(task, NULL); /* a second cancellation changes nothing */
        /*
         * the result depends on whether the task was still running when cancelled again
         */
        coil_task_await(task);
        coil_task_release(task);
        CHECK_INT(s.rc, -ECANCELED);
        CHECK_INT(coil_read_exact(client, bye, 3), 3);
        CHECK_STR(bye, "bye");
        coil_stream_destroy(client);
        coil_listener_destroy(s.listener);
    }
}

/* After its last listener was closed, a server ends once all handlers have ended. */
NET_TEST(serve_until_the_listener_is_closed)
{
    struct serving s = {listen_here(), {.grace_ns = 0}, 1};
    coil_task *task = start(do_serve, &s);
    coil_stream *client = connect_here();

    check_echo(client);
    coil_listener_destroy(s.listener);
    coil_sleep(COIL_MSEC(1));
    check_echo(client);
    coil_stream_destroy(client);
    finish(task);
    CHECK_INT(s.rc, 0);
}

/* A server that is not destroyed before its loop closes. */
static coil_server *left_behind;
static coil_listener *left_listener;

static int leave_behind(void *arg)
{
    coil_stream *client;

    (void)arg;
    left_behind = serve_one(COIL_NEVER, &left_listener, &client);
    coil_stream_destroy(client);
    return 0;
}

TEST(server_may_outlive_its_loop)
{
    CHECK_INT(coil_run(leave_behind, NULL, NULL), 0);
    coil_server_destroy(left_behind);
    coil_listener_destroy(left_listener);
}

/* ---- failing calls and allocations ------------------------------------------------- */

/* Connect with a socket that was created before descriptors ran out. */
static void connect_by_hand(int fd)
{
    struct sockaddr_in name = {.sin_family = AF_INET};

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons((uint16_t)atoi(port));
    CHECK_INT(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
}

IO_TEST(server_out_of_descriptors_rests_and_goes_on)
{
    coil_listener *listener = listen_here();
    coil_stream *first, *clients[3];
    coil_server *server;
    struct reports reports;
    char expected[160];
    uint64_t calls;
    int before, fds[3];

    if (test_under_valgrind()) {
        coil_listener_destroy(listener);
        test_skip("valgrind drops connections that it cannot accept");
    }
    expect_reports(&reports);
    CHECK_INT(coil_server_create(listener, echo_all, NULL, NULL, &server), 0);
    first = connect_here();
    check_echo(first);
    for (int i = 0; i < 3; i++)
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    before = limit_descriptors(0);
    for (int i = 0; i < 3; i++)
        connect_by_hand(fds[i]);
    while (reports.count == 0)
        coil_sleep(COIL_USEC(100));
    calls = coil_testing_system_calls();
    coil_sleep(COIL_MSEC(10));
    CHECK(coil_testing_system_calls() - calls < 100); /* the server does not spin */
    snprintf(expected, sizeof expected,
             "A server cannot accept a connection on 127.0.0.1:%s, and pauses", port);
    CHECK_STR(reports.first, expected);
    CHECK_INT(reports.rc, -EMFILE);
    for (int i = 0; i < 3; i++)
        CHECK_INT(coil_stream_adopt(fds[i], &clients[i]), 0);
    coil_stream_destroy(first); /* frees descriptors for two connections */
    check_echo(clients[0]);
    check_echo(clients[1]);
    restore_descriptors(before);
    for (int i = 0; i < 3; i++) {
        check_echo(clients[i]);
        coil_stream_destroy(clients[i]);
    }
    CHECK_INT(coil_server_stop(server), 0);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
}

/* Each connection that ends frees a descriptor, but for only one more connection. */
static int serve_a_crowd(void *reports)
{
    enum { CROWD = 5 };
    coil_listener *listener = listen_here();
    coil_stream *first;
    coil_server *server;
    int before, fds[CROWD];

    expect_reports(reports);
    CHECK_INT(coil_server_create(listener, echo_all, NULL, NULL, &server), 0);
    first = connect_here();
    check_echo(first);
    for (int i = 0; i < CROWD; i++)
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    before = limit_descriptors(0);
    for (int i = 0; i < CROWD; i++)
        connect_by_hand(fds[i]);
    CHECK_INT(coil_sleep(COIL_MSEC(200)), 0);
    CHECK_INT(coil_stream_shutdown_write(first), 0);
    for (int i = 0; i < CROWD; i++) {
        CHECK_INT(coil_sleep(COIL_MSEC(200)), 0);
        CHECK_INT(shutdown(fds[i], SHUT_WR), 0);
    }
    restore_descriptors(before);
    coil_stream_destroy(first);
    CHECK_INT(coil_server_stop(server), 0);
    for (int i = 0; i < CROWD; i++)
        close(fds[i]);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
    return 0;
}

TEST(server_out_of_descriptors_says_so_once_whoever_finds_room)
{
    coil_run_opts opts = {.loop.virtual_clock = true};
    struct reports reports;

    if (test_under_valgrind())
        test_skip("valgrind drops connections that it cannot accept");
    CHECK_INT(coil_run(serve_a_crowd, &reports, &opts), 0);
    CHECK_INT(reports.count, 1);
    CHECK_INT(reports.rc, -EMFILE);
}

/*
 * For 25 s, no descriptor is left for a client that waits to be accepted. The server must
 * report this at intervals: three times in total.
 */
static int serve_a_crowd_that_stays(void *reports)
{
    coil_listener *listener = listen_here();
    coil_server *server;
    coil_stream *first;
    int before, fd;

    expect_reports(reports);
    CHECK_INT(coil_server_create(listener, echo_all, NULL, NULL, &server), 0);
    first = connect_here();
    check_echo(first);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    before = limit_descriptors(0);
    connect_by_hand(fd);
    CHECK_INT(coil_sleep(COIL_SEC(25)), 0);
    restore_descriptors(before);
    coil_stream_destroy(first);
    close(fd);
    CHECK_INT(coil_server_stop(server), 0);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
    return 0;
}

TEST(server_out_of_descriptors_says_so_again_at_intervals)
{
    coil_run_opts opts = {.loop.virtual_clock = true};
    struct reports reports;

    if (test_under_valgrind())
        test_skip("valgrind drops connections that it cannot accept");
    CHECK_INT(coil_run(serve_a_crowd_that_stays, &reports, &opts), 0);
    CHECK_INT(reports.count, 3);
    CHECK(strstr(reports.last, " failures since the last report") != NULL);
    CHECK_INT(reports.rc, -EMFILE);
}

/*
 * Connect as a client, and exchange a byte with the server, which may fail at any point.
 * Returns true if the client was served.
 */
static bool ask(void)
{
    coil_stream *stream;
    char byte = 'x';
    coil_scope scope;
    ssize_t n;
    int rc = coil_connect("127.0.0.1", port, &stream);

    if (rc < 0)
        return false;
    n = coil_scope_enter(&scope, coil_in(COIL_SEC(10)));
    if (n == 0) {
        n = coil_write(stream, &byte, 1);
        if (n == 1)
            n = coil_read(stream, &byte, 1);
        CHECK(coil_scope_exit(&scope, n < 0 ? (int)n : 0) != -ETIMEDOUT);
    }
    coil_stream_destroy(stream);
    return n == 1;
}

static void ignore(const coil_exception *exception, void *arg)
{
    (void)exception;
    (void)arg;
}

/*
 * Run a server and a client from start to end while the n-th system call or allocation
 * fails. No task must hang, and unless the server has closed its listener, it must serve
 * another client. Returns true if the failure has occurred.
 */
static bool live_with_failure(int n, bool calls)
{
    coil_server_opts opts = {.grace_ns = COIL_SEC(10)};
    coil_listener *listener;
    coil_server *server;
    bool struck;
    int rc;

    if (calls)
        coil_testing_fail_system_call((uint64_t)n, 0);
    else
        coil_testing_fail_allocation((uint64_t)n);
    rc = coil_listen("127.0.0.1", "0", 0, &listener);
    if (rc == 0) {
        snprintf(port, sizeof port, "%u", coil_listener_port(listener));
        rc = coil_server_create(listener, echo_all, NULL, &opts, &server);
        if (rc == 0) {
            ask();
            struck = coil_testing_failed() != NULL;
            coil_testing_fail_system_call(0, 0);
            coil_testing_fail_allocation(0);
            if (coil_listener_port(listener) != 0)
                CHECK(ask()); /* the server still works */
            CHECK_INT(coil_server_stop(server), 0);
            coil_server_destroy(server);
            coil_listener_destroy(listener);
            return struck;
        }
        coil_listener_destroy(listener);
    }
    CHECK(rc < 0);
    return true;
}

static void live_with_each_failure(bool calls)
{
    int n = 1;

    coil_set_exception_handler(ignore, NULL);
    while (live_with_failure(n, calls) && n < 300)
        n++;
    CHECK(n > (calls ? 5 : 3) && n < 300);
    coil_testing_fail_system_call(0, 0);
    coil_testing_fail_allocation(0);
}

NET_TEST(server_with_each_system_call_failing)
{
    live_with_each_failure(true);
}

NET_TEST(server_with_each_allocation_failing)
{
    live_with_each_failure(false);
}
