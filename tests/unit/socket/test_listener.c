/* test_listener.c - listening, accepting and connecting. */
#include "sockets.h"

#include "../../harness/harness.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct accepting {
    coil_listener *listener;
    coil_stream *stream;
    int rc;
    bool ended;
};

static int do_accept(void *arg)
{
    struct accepting *a = arg;

    a->rc = coil_accept(a->listener, &a->stream);
    a->ended = true;
    return 0;
}

struct connecting {
    char host[64], port[8];
    coil_stream *stream;
    int rc;
    bool ended;
};

static int do_connect(void *arg)
{
    struct connecting *c = arg;

    c->rc = coil_connect(c->host, c->port, &c->stream);
    c->ended = true;
    return 0;
}

static coil_listener *listen_on(const char *host, struct connecting *c)
{
    coil_listener *listener = NULL;

    CHECK_INT(coil_listen(host, "0", 0, &listener), 0);
    snprintf(c->host, sizeof c->host, "%s", host != NULL ? host : "127.0.0.1");
    snprintf(c->port, sizeof c->port, "%u", coil_listener_port(listener));
    return listener;
}

/*
 * Listen, and fill the backlog. The kernel drops further requests, so connecting takes
 * seconds.
 */
static int listen_and_fill(struct connecting *c, int fillers[], int count)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t length = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_INT(bind(fd, (struct sockaddr *)&name, length), 0);
    CHECK_INT(listen(fd, 0), 0);
    CHECK_INT(getsockname(fd, (struct sockaddr *)&name, &length), 0);
    for (int i = 0; i < count; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        connect(fillers[i], (struct sockaddr *)&name, length);
    }
    strcpy(c->host, "127.0.0.1");
    snprintf(c->port, sizeof c->port, "%u", ntohs(name.sin_port));
    return fd;
}

static const char *const no_ports[] = {"99999", "65536", "-1", "+80", " 80", "80 ", ""};

NET_TEST(listen_and_connect_refuse_an_invalid_port)
{
    for (size_t i = 0; i < sizeof no_ports / sizeof no_ports[0]; i++) {
        coil_connect_options from = {.local_port = no_ports[i]};
        coil_listen_options opts = {.host = "127.0.0.1", .port = no_ports[i]};
        coil_listener *listener = NULL;
        coil_datagram *datagram = NULL;
        coil_stream *stream = NULL;

        CHECK_INT(coil_listen("127.0.0.1", no_ports[i], 0, &listener), -EINVAL);
        CHECK_INT(coil_listen(NULL, no_ports[i], 0, &listener), -EINVAL);
        CHECK_INT(coil_listen_all(&opts, &listener, 1), -EINVAL);
        CHECK_INT(coil_connect("127.0.0.1", no_ports[i], &stream), -EINVAL);
        CHECK_INT(coil_connect("localhost", no_ports[i], &stream), -EINVAL);
        CHECK_INT(coil_connect_opts("127.0.0.1", "1", &from, &stream), -EINVAL);
        CHECK_INT(coil_datagram_open("127.0.0.1", no_ports[i], 0, &datagram), -EINVAL);
        CHECK_INT(coil_datagram_connect("127.0.0.1", no_ports[i], &datagram), -EINVAL);
    }
}

/* ---- accepting --------------------------------------------------------------------- */

NET_TEST(accept_waits_for_a_connection)
{
    struct connecting c = {.rc = 0};
    struct accepting a = {listen_on("127.0.0.1", &c), NULL, 0, false};
    coil_task *task;
    char buf[8];

    CHECK(coil_listener_port(a.listener) != 0);
    CHECK_INT(coil_spawn(do_accept, &a, NULL, &task), 0);
    settle();
    CHECK(!a.ended);
    CHECK_INT(coil_connect(c.host, c.port, &c.stream), 0);
    finish(task);
    CHECK_INT(a.rc, 0);
    CHECK_INT(coil_write(c.stream, "hello", 5), 5);
    CHECK_INT(coil_read_exact(a.stream, buf, 5), 5);
    coil_stream_destroy(a.stream);
    coil_stream_destroy(c.stream);
    coil_listener_destroy(a.listener);
}

NET_TEST(accept_takes_all_that_came_at_once)
{
    struct connecting c = {.rc = 0};
    coil_listener *listener = listen_on("127.0.0.1", &c);
    coil_stream *clients[20], *served[20];

    for (int i = 0; i < 20; i++)
        CHECK_INT(coil_connect(c.host, c.port, &clients[i]), 0);
    for (int i = 0; i < 20; i++)
        CHECK_INT(coil_accept(listener, &served[i]), 0);
    for (int i = 0; i < 20; i++) {
        coil_stream_destroy(clients[i]);
        coil_stream_destroy(served[i]);
    }
    coil_listener_destroy(listener);
}

NET_TEST(accept_is_woken_by_close)
{
    struct connecting c = {.rc = 0};
    struct accepting a = {listen_on("127.0.0.1", &c), NULL, 0, false};
    coil_task *task;

    CHECK_INT(coil_spawn(do_accept, &a, NULL, &task), 0);
    settle();
    CHECK_INT(coil_listener_close(a.listener), 0);
    CHECK_INT(coil_listener_close(a.listener), 0);
    finish(task);
    CHECK_INT(a.rc, -EBADF);
    CHECK_INT(coil_accept(a.listener, &a.stream), -EBADF);
    coil_listener_destroy(a.listener);
    coil_listener_destroy(NULL);
}

NET_TEST(accept_is_woken_by_destroy_and_cancel)
{
    struct connecting c = {.rc = 0};
    struct accepting a = {listen_on("127.0.0.1", &c), NULL, 0, false};
    coil_task *task;

    CHECK_INT(coil_spawn(do_accept, &a, NULL, &task), 0);
    settle();
    CHECK_INT(coil_accept(a.listener, &a.stream), -EBUSY);
    coil_task_cancel(task, NULL);
    finish(task);
    CHECK_INT(a.rc, -ECANCELED);
    CHECK_INT(coil_spawn(do_accept, &a, NULL, &task), 0);
    settle();
    coil_listener_destroy(a.listener);
    finish(task);
    CHECK_INT(a.rc, -EBADF);
}

IO_TEST(accept_out_of_descriptors_is_an_error_return)
{
    struct connecting c = {.rc = 0};
    coil_listener *listener = listen_on("127.0.0.1", &c);
    coil_stream *served;
    int before;

    if (test_under_valgrind()) {
        coil_listener_destroy(listener);
        test_skip("valgrind drops connections that it cannot accept");
    }
    CHECK_INT(coil_connect(c.host, c.port, &c.stream), 0);
    before = limit_descriptors(0);
    CHECK_INT(coil_accept(listener, &served), -EMFILE);
    CHECK_INT(coil_accept(listener, &served), -EMFILE);
    restore_descriptors(before);
    CHECK_INT(coil_accept(listener, &served), 0);
    coil_stream_destroy(served);
    coil_stream_destroy(c.stream);
    coil_listener_destroy(listener);
}

/* ---- listening --------------------------------------------------------------------- */

NET_TEST(listen_everywhere_serves_both_families)
{
    struct connecting c = {.rc = 0};
    coil_listener *listener = listen_on(NULL, &c);
    coil_stream *client, *served;
    int rc;

    CHECK_INT(coil_connect("127.0.0.1", c.port, &client), 0);
    CHECK_INT(coil_accept(listener, &served), 0);
    coil_stream_destroy(client);
    coil_stream_destroy(served);
    rc = coil_connect("::1", c.port, &client);
    if (rc == 0) {
        CHECK_INT(coil_accept(listener, &served), 0);
        coil_stream_destroy(client);
        coil_stream_destroy(served);
    }
    coil_listener_destroy(listener);
    if (rc == -EADDRNOTAVAIL || rc == -EAFNOSUPPORT)
        test_skip("no IPv6 here");
    CHECK_INT(rc, 0);
}

NET_TEST(listen_twice_on_a_port_fails)
{
    struct connecting c = {.rc = 0};
    coil_listener *listener = listen_on("127.0.0.1", &c), *second;

    CHECK_INT(coil_listen(c.host, c.port, 0, &second), -EADDRINUSE);
    coil_listener_destroy(listener);
    CHECK_INT(coil_listen(c.host, c.port, 0, &second), 0); /* SO_REUSEADDR */
    coil_listener_destroy(second);
    CHECK_INT(coil_listen("127.0.0.1", "no-such-service", 0, &second), -ENOENT);
}

/* ---- options ----------------------------------------------------------------------- */

IO_TEST(listen_on_a_port_that_others_share)
{
    coil_listen_options opts = {.host = "127.0.0.1", .port = "0", .reuse_port = true};
    coil_listener *first, *second, *third;
    char port[8];

    CHECK_INT(coil_listen_opts(&opts, &first), 0);
    snprintf(port, sizeof port, "%u", coil_listener_port(first));
    opts.port = port;
    CHECK_INT(coil_listen_opts(&opts, &second), 0);
    opts.reuse_port = false;
    CHECK_INT(coil_listen_opts(&opts, &third), -EADDRINUSE);
    coil_listener_destroy(first);
    coil_listener_destroy(second);
}

IO_TEST(listen_on_ipv6_alone)
{
    coil_listen_options opts = {.port = "0", .v6_only = true};
    coil_listener *listener;
    coil_stream *client;
    char port[8];
    int rc = coil_listen_opts(&opts, &listener);

    if (rc == -EAFNOSUPPORT || rc == -EADDRNOTAVAIL || rc == -ENOENT)
        test_skip("no IPv6 here");
    CHECK_INT(rc, 0);
    snprintf(port, sizeof port, "%u", coil_listener_port(listener));
    CHECK_INT(coil_connect("127.0.0.1", port, &client), -ECONNREFUSED);
    coil_listener_destroy(listener);
}

IO_TEST(listen_on_all_addresses_with_one_port)
{
    coil_listener *listeners[4];
    coil_stream *client, *served;
    int n = coil_listen_all(&(coil_listen_options){.port = "0"}, listeners, 4);
    char port[8];

    CHECK(n >= 1 && n <= 2);
    snprintf(port, sizeof port, "%u", coil_listener_port(listeners[0]));
    for (int i = 0; i < n; i++) {
        coil_address name;
        int rc;

        CHECK_INT(coil_listener_port(listeners[i]), atoi(port));
        CHECK_INT(coil_listener_name(listeners[i], &name), 0);
        rc = coil_connect(name.any.sa_family == AF_INET ? "127.0.0.1" : "::1", port,
                          &client);
        if (rc == -EADDRNOTAVAIL)
            continue; /* IPv6 without a loopback address */
        CHECK_INT(rc, 0);
        CHECK_INT(coil_accept(listeners[i], &served), 0);
        coil_stream_destroy(served);
        coil_stream_destroy(client);
    }
    CHECK_INT(coil_listen_all(&(coil_listen_options){.port = port}, listeners + n, 1),
              -EADDRINUSE);
    CHECK_INT(coil_listen_all(&(coil_listen_options){.port = port}, listeners + n, 0),
              -EINVAL);
    for (int i = 0; i < n; i++)
        coil_listener_destroy(listeners[i]);
}

IO_TEST(listener_adopted)
{
    struct connecting c = {.rc = 0};
    coil_listener *listener, *second;
    coil_stream *served;
    int fds[2], fd, pipes[2], listening = listen_and_fill(&c, NULL, 0);

    CHECK_INT(coil_listener_adopt(-1, &listener), -EBADF);
    make_tcp_pair(fds);
    CHECK_INT(coil_listener_adopt(fds[0], &listener), -EINVAL);
    CHECK(!(fcntl(fds[0], F_GETFL) & O_NONBLOCK));
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK_INT(coil_listener_adopt(fd, &listener), -EINVAL);
    CHECK_INT(pipe2(pipes, O_CLOEXEC), 0);
    CHECK_INT(coil_listener_adopt(pipes[0], &listener), -ENOTSOCK);
    test_fail_allocation(1);
    CHECK_INT(coil_listener_adopt(listening, &listener), -ENOMEM);
    test_fail_allocation(0);
    CHECK(!(fcntl(listening, F_GETFL) & O_NONBLOCK));
    CHECK_INT(coil_listener_adopt(listening, &listener), 0);
    CHECK_INT(coil_listener_adopt(listening, &second), -EBUSY);
    CHECK_INT(coil_listener_port(listener), atoi(c.port));
    CHECK_INT(coil_connect(c.host, c.port, &c.stream), 0);
    CHECK_INT(coil_accept(listener, &served), 0);
    coil_stream_destroy(served);
    coil_stream_destroy(c.stream);
    coil_listener_destroy(listener);
    close(fd);
    close(pipes[0]);
    close(pipes[1]);
    close(fds[0]);
    close(fds[1]);
}

IO_TEST(stream_knows_its_addresses)
{
    struct connecting c = {.rc = 0};
    coil_listener *listener = listen_on("127.0.0.1", &c);
    coil_address here, there, bound;
    coil_stream *served, *pipes[2];
    char text[COIL_ADDRESS_TEXT], other[COIL_ADDRESS_TEXT];

    CHECK_INT(coil_connect(c.host, c.port, &c.stream), 0);
    CHECK_INT(coil_accept(listener, &served), 0);
    CHECK_INT(coil_stream_peer(c.stream, &there), 0);
    CHECK_INT(coil_listener_name(listener, &bound), 0);
    CHECK_STR(coil_address_format(&there, text, sizeof text),
              coil_address_format(&bound, other, sizeof other));
    CHECK_INT(coil_stream_name(c.stream, &here), 0);
    CHECK_INT(coil_stream_peer(served, &there), 0);
    CHECK_STR(coil_address_format(&there, text, sizeof text),
              coil_address_format(&here, other, sizeof other));
    coil_stream_close(c.stream);
    CHECK_INT(coil_stream_peer(c.stream, &there), -EBADF);
    CHECK_INT(there.length, 0);
    CHECK_INT(coil_pipe(pipes), 0);
    CHECK_INT(coil_stream_peer(pipes[0], &there), -ENOTSOCK);
    destroy_streams(pipes);
    coil_stream_destroy(c.stream);
    coil_stream_destroy(served);
    coil_listener_destroy(listener);
}

static int option_of(coil_stream *stream, int level, int name)
{
    int value = -1;
    socklen_t length = sizeof value;

    CHECK_INT(getsockopt(coil_stream_fd(stream), level, name, &value, &length), 0);
    return value;
}

IO_TEST(stream_options)
{
    struct connecting c = {.rc = 0};
    coil_listener *listener = listen_on("127.0.0.1", &c);
    coil_stream *served, *ends[2];

    CHECK_INT(coil_connect(c.host, c.port, &c.stream), 0);
    CHECK_INT(coil_accept(listener, &served), 0);
    CHECK(option_of(c.stream, IPPROTO_TCP, TCP_NODELAY) > 0);
    CHECK(option_of(served, IPPROTO_TCP, TCP_NODELAY) > 0);
    CHECK_INT(coil_stream_set_no_delay(served, false), 0);
    CHECK_INT(option_of(served, IPPROTO_TCP, TCP_NODELAY), 0);
    CHECK_INT(coil_stream_set_keep_alive(served, COIL_MSEC(29001)), 0);
    CHECK(option_of(served, SOL_SOCKET, SO_KEEPALIVE) > 0);
    CHECK_INT(option_of(served, IPPROTO_TCP, TCP_KEEPIDLE), 30);
    CHECK_INT(option_of(served, IPPROTO_TCP, TCP_KEEPINTVL), 3);
    CHECK_INT(coil_stream_set_keep_alive(served, 0), 0);
    CHECK_INT(option_of(served, SOL_SOCKET, SO_KEEPALIVE), 0);
    CHECK_INT(coil_stream_set_keep_alive(served, -1), -EINVAL);
    CHECK_INT(coil_stream_set_keep_alive(served, COIL_NEVER), -EINVAL);
    CHECK_INT(coil_stream_pair(ends), 0);
    CHECK_INT(coil_stream_set_no_delay(ends[0], true), -EOPNOTSUPP);
    destroy_streams(ends);
    coil_stream_close(served);
    CHECK_INT(coil_stream_set_no_delay(served, true), -EBADF);
    coil_stream_destroy(served);
    coil_stream_destroy(c.stream);
    coil_listener_destroy(listener);
}

/* ---- connecting -------------------------------------------------------------------- */

/* A listener's reported address can be used to connect, and to listen again. */
NET_TEST(listen_at_an_address_and_connect_to_it)
{
    static const char *const hosts[] = {"127.0.0.1", "::1"};
    coil_address at, name, peer;
    char one[2 * COIL_ADDRESS_TEXT], other[COIL_ADDRESS_TEXT];
    int rc;

    for (int i = 0; i < 2; i++) {
        coil_stream *client = NULL, *served = NULL;
        coil_listener *listener = NULL;

        CHECK_INT(coil_address_of_numbers(hosts[i], 0, &at), 0);
        rc = coil_listen_address(&at, 0, &listener);
        if (i == 1 && (rc == -EADDRNOTAVAIL || rc == -EAFNOSUPPORT))
            return; /* IPv6 is not available here */
        CHECK_INT(rc, 0);
        CHECK_INT(coil_listener_name(listener, &name), 0);
        CHECK_INT(coil_address_port(&name), coil_listener_port(listener));
        CHECK_INT(coil_connect_address(&name, &client), 0);
        CHECK_INT(coil_accept(listener, &served), 0);
        CHECK_INT(coil_stream_peer(client, &peer), 0);
        CHECK_STR(coil_address_format(&peer, one, sizeof one),
                  coil_address_format(&name, other, sizeof other));
        CHECK_INT(coil_write(client, "hello", 5), 5);
        CHECK_INT(coil_read_exact(served, one, 5), 5);
        coil_stream_destroy(client);
        coil_stream_destroy(served);
        coil_listener_destroy(listener);
        CHECK_INT(coil_connect_address(&name, &client), -ECONNREFUSED);
        snprintf(one, sizeof one, "connect to '%s': Connection refused", other);
        CHECK_STR(coil_error_message(coil_last_error()), one);
        CHECK_INT(coil_listen_address(&name, 0, &listener), 0);
        coil_listener_destroy(listener);
    }
}

NET_TEST(listen_and_connect_by_a_port_in_numbers)
{
    coil_stream *client = NULL, *served = NULL;
    coil_listener *listener = NULL;

    CHECK_INT(coil_listen_port("127.0.0.1", 0, 0, &listener), 0);
    CHECK_INT(coil_connect_port("127.0.0.1", coil_listener_port(listener), &client), 0);
    CHECK_INT(coil_accept(listener, &served), 0);
    coil_stream_destroy(client);
    coil_stream_destroy(served);
    coil_listener_destroy(listener);
}

NET_TEST(listen_and_connect_refuse_an_invalid_address)
{
    coil_address none = {.length = 0}, cut, foreign = {.length = 12};
    coil_listener *listener = NULL;
    coil_datagram *datagram = NULL;
    coil_stream *stream = NULL;

    CHECK_INT(coil_address_of_numbers("127.0.0.1", 1, &cut), 0);
    cut.length--;
    foreign.any.sa_family = AF_NETLINK;
    CHECK_INT(coil_connect_address(&none, &stream), -EINVAL);
    CHECK_INT(coil_connect_address(&cut, &stream), -EINVAL);
    CHECK_INT(coil_connect_address(&foreign, &stream), -EAFNOSUPPORT);
    CHECK_INT(coil_listen_address(&none, 0, &listener), -EINVAL);
    CHECK_INT(coil_listen_address(&cut, 0, &listener), -EINVAL);
    CHECK_INT(coil_listen_address(&foreign, 0, &listener), -EAFNOSUPPORT);
    CHECK_INT(coil_datagram_open_address(&cut, 0, &datagram), -EINVAL);
    CHECK_INT(coil_datagram_connect_address(&foreign, &datagram), -EAFNOSUPPORT);
    cut.length++;
    CHECK_INT(
        coil_listen_opts(&(coil_listen_options){.address = &cut, .host = "127.0.0.1"},
                         &listener),
        -EINVAL);
    CHECK_INT(coil_datagram_open_address(&cut, 1u << 30, &datagram), -EINVAL);
}

NET_TEST(connect_refused)
{
    struct connecting c = {.rc = 0};

    coil_listener_destroy(listen_on("127.0.0.1", &c));
    CHECK_INT(coil_connect(c.host, c.port, &c.stream), -ECONNREFUSED);
}

/*
 * Connect to the host NULL, which means ::1, then 127.0.0.1, while only `host` has a
 * listener.
 */
static void connect_where_only(const char *host)
{
    struct connecting c = {.rc = 0};
    coil_stream *client = NULL, *served;
    coil_listener *listener;

    if (coil_listen(host, "0", 0, &listener) < 0)
        test_skip("this address is not available here");
    snprintf(c.port, sizeof c.port, "%u", coil_listener_port(listener));
    CHECK_INT(coil_connect(NULL, c.port, &client), 0);
    CHECK_INT(coil_accept(listener, &served), 0);
    coil_stream_destroy(served);
    coil_stream_destroy(client);
    coil_listener_destroy(listener);
}

NET_TEST(connect_tries_one_address_after_the_other)
{
    connect_where_only("127.0.0.1");
}

NET_TEST(connect_prefers_the_first_address)
{
    connect_where_only("::1");
}

IO_TEST(connect_out_of_descriptors_is_an_error_return)
{
    struct connecting c = {.rc = 0};
    coil_listener *listener = listen_on("127.0.0.1", &c);
    int before = limit_descriptors(0);

    CHECK_INT(coil_connect(c.host, c.port, &c.stream), -EMFILE);
    restore_descriptors(before);
    coil_listener_destroy(listener);
}

/* If an allocation fails, connecting or accepting must return an error. */
IO_TEST(connect_and_accept_without_memory)
{
    struct connecting c = {.rc = 0};
    coil_listener *listener = listen_on("127.0.0.1", &c), *second;
    coil_stream *served;
    int n = 0, rc;

    do {
        test_fail_allocation(++n);
        rc = coil_connect(c.host, c.port, &c.stream);
        CHECK(rc == 0 || rc == -ENOMEM);
    } while (rc < 0 && n < 20);
    test_fail_allocation(1);
    CHECK_INT(coil_accept(listener, &served), -ENOMEM);
    CHECK_INT(coil_accept(listener, &served), 0); /* from the backlog */
    coil_stream_destroy(served);
    test_fail_allocation(1);
    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &second), -ENOMEM);
    test_fail_allocation(0);
    coil_stream_destroy(c.stream);
    coil_listener_destroy(listener);
}

/*
 * Accept a connection, and make the second allocation fail, which would enlarge the
 * loop's table of descriptors for the new descriptor.
 */
static coil_listener *accept_without_room(struct connecting *c, int least)
{
    coil_listener *listener = listen_on("127.0.0.1", c);
    int fillers[512], count = 0;
    coil_stream *served;

    CHECK_INT(coil_connect(c->host, c->port, &c->stream), 0);
    do
        fillers[count++] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    while (fillers[count - 1] < least);
    test_fail_allocation(2);
    CHECK_INT(coil_accept(listener, &served), -ENOMEM);
    test_fail_allocation(0);
    while (count > 0)
        close(fillers[--count]);
    return listener;
}

IO_TEST(accept_without_room_for_the_descriptor_loses_no_connection)
{
    struct connecting c = {.rc = 0};
    coil_listener *listener = accept_without_room(&c, 255);
    coil_stream *served = NULL;
    char byte = 0;

    CHECK_INT(coil_accept(listener, &served), 0);
    CHECK_INT(coil_write(c.stream, "x", 1), 1);
    CHECK_INT(coil_read(served, &byte, 1), 1);
    CHECK_INT(byte, 'x');
    coil_stream_destroy(served);
    coil_stream_destroy(c.stream);
    coil_listener_destroy(listener);
    listener = accept_without_room(&c, 511);
    coil_listener_destroy(listener); /* also closes the connection in the backlog */
    CHECK(coil_read(c.stream, &byte, 1) <= 0);
    coil_stream_destroy(c.stream);
}

IO_TEST(connect_cancelled)
{
    struct connecting c = {.rc = 0};
    int fillers[4], fd = listen_and_fill(&c, fillers, 4);
    coil_task *task;
    coil_scope s;

    CHECK_INT(coil_spawn(do_connect, &c, NULL, &task), 0);
    coil_sleep(COIL_MSEC(5));
    CHECK(!c.ended);
    coil_task_cancel(task, NULL);
    finish(task);
    CHECK_INT(c.rc, -ECANCELED);

    CHECK_INT(coil_scope_enter(&s, coil_in(COIL_MSEC(5))), 0);
    CHECK_INT(coil_scope_exit(&s, coil_connect(c.host, c.port, &c.stream)), -ETIMEDOUT);
    for (int i = 0; i < 4; i++)
        close(fillers[i]);
    close(fd);
}

static int serve_one(void *arg)
{
    coil_stream *stream;
    char byte;
    int rc = coil_accept(arg, &stream);

    if (rc < 0)
        return rc;
    while ((rc = (int)coil_read(stream, &byte, 1)) == 1)
        rc = (int)coil_write(stream, &byte, 1);
    coil_stream_destroy(stream);
    return rc;
}

static int ask_once(void *arg)
{
    struct connecting *c = arg;
    coil_stream *stream;
    char byte = 'x';
    int rc = coil_connect(c->host, c->port, &stream);

    if (rc < 0)
        return rc;
    rc = (int)coil_write(stream, "y", 1);
    if (rc == 1)
        rc = (int)coil_read_exact(stream, &byte, 1);
    coil_stream_destroy(stream);
    return byte == 'y' ? 0 : -EPROTO;
}

NET_TEST(many_connections_at_once)
{
    struct connecting c = {.rc = 0};
    coil_listener *listener = listen_on("127.0.0.1", &c);
    coil_group g;
    coil_stream *stream;

    coil_group_enter(&g);
    for (int i = 0; i < 100; i++)
        CHECK_INT(coil_group_spawn(&g, ask_once, &c, NULL, NULL), 0);
    for (int i = 0; i < 100; i++) {
        char byte;

        CHECK_INT(coil_accept(listener, &stream), 0);
        CHECK_INT(coil_read(stream, &byte, 1), 1);
        CHECK_INT(coil_write(stream, &byte, 1), 1);
        coil_stream_destroy(stream);
    }
    CHECK_INT(coil_group_exit(&g, 0), 0);
    coil_group_enter(&g);
    CHECK_INT(coil_group_spawn(&g, serve_one, listener, NULL, NULL), 0);
    CHECK_INT(coil_group_spawn(&g, ask_once, &c, NULL, NULL), 0);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    coil_listener_destroy(listener);
}
