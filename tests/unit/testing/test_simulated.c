/*
 * test_simulated.c - the simulated network, which must behave like the kernel's, with the
 * requested timing.
 *
 * All NET_TESTs cover streams on the simulated network. The tests here cover the times,
 * faults and limits of the network, and operations that are possible only on bare
 * sockets.
 */
#include "../../harness/harness.h"

#include "../socket/sockets.h"
#include "../../../src/coro/sanitizer.h"
#include "../../../src/io/socket.h"
#include "../../../src/io/op.h"

#include <coil.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Run fn with a virtual clock, on a network with these options. */
static int on_network(coil_network_opts opts, int (*fn)(void *), void *arg)
{
    int rc;

    coil_testing_network(&opts);
    rc = coil_testing_run(fn, arg);
    coil_testing_network(NULL);
    return rc;
}

/*
 * SIM_TEST(name, .latency_ns = {...}): define a test that runs as the main task, on a
 * network with these options.
 */
#define SIM_TEST(name, ...)                                                              \
    static void name##_body(void);                                                       \
    static int name##_main(void *arg)                                                    \
    {                                                                                    \
        (void)arg;                                                                       \
        name##_body();                                                                   \
        return 0;                                                                        \
    }                                                                                    \
    TEST(name)                                                                           \
    {                                                                                    \
        CHECK_INT(on_network((coil_network_opts){__VA_ARGS__}, name##_main, NULL), 0);   \
    }                                                                                    \
    static void name##_body(void)

#define EXACTLY(ns)                                                                      \
    {                                                                                    \
        (ns), (ns)                                                                       \
    }

static char port[8];

static coil_listener *listen_on(const char *host, int backlog)
{
    coil_listener *listener = NULL;

    CHECK_INT(coil_listen(host, "0", backlog, &listener), 0);
    snprintf(port, sizeof port, "%u", coil_listener_port(listener));
    return listener;
}

/* ---- times ------------------------------------------------------------------------- */

SIM_TEST(simulated_packets_take_their_time, .latency_ns = EXACTLY(COIL_MSEC(10)))
{
    coil_stream *ends[2];
    char buf[8];

    /* connecting takes a round trip, and accepting another half */
    connect_streams(ends);
    CHECK_INT(coil_now(), COIL_MSEC(30));
    CHECK_INT(coil_write(ends[0], "hello", 5), 5);
    CHECK_INT(coil_now(), COIL_MSEC(30));
    CHECK_INT(coil_read(ends[1], buf, sizeof buf), 5);
    CHECK_INT(coil_now(), COIL_MSEC(40));
    destroy_streams(ends);
}

SIM_TEST(simulated_bandwidth_is_per_direction, .bytes_per_second = 1000)
{
    coil_stream *ends[2];
    char buf[5000] = {0};

    connect_streams(ends);
    CHECK_INT(coil_write(ends[0], buf, sizeof buf), sizeof buf);
    CHECK_INT(coil_write(ends[1], buf, 1000), 1000);
    CHECK_INT(coil_read_exact(ends[1], buf, sizeof buf), sizeof buf);
    CHECK_INT(coil_now(), COIL_SEC(5));
    CHECK_INT(coil_read_exact(ends[0], buf, 1000), 1000);
    CHECK_INT(coil_now(), COIL_SEC(5));
    destroy_streams(ends);
}

SIM_TEST(simulated_connection_is_refused, .latency_ns = EXACTLY(COIL_MSEC(10)))
{
    coil_stream *stream;

    CHECK_INT(coil_connect("192.0.2.1", "80", &stream), -ECONNREFUSED);
    CHECK_INT(coil_now(), COIL_MSEC(20));
}

/*
 * A server can listen on its port again while accepted connections are still open.
 * (Linux: inet_csk_bind_conflict())
 */
SIM_TEST(simulated_listener_comes_back_beside_its_connections)
{
    coil_listener *listener = listen_on("127.0.0.1", 1), *again = NULL;
    coil_stream *client, *served;

    CHECK_INT(coil_connect("127.0.0.1", port, &client), 0);
    CHECK_INT(coil_accept(listener, &served), 0);
    CHECK_INT(coil_listen("127.0.0.1", port, 1, &again), -EADDRINUSE);
    coil_listener_destroy(listener);
    CHECK_INT(coil_listen("127.0.0.1", port, 1, &again), 0);
    coil_listener_destroy(again);
    coil_stream_destroy(served);
    coil_stream_destroy(client);
}

static int connect_later(void *arg)
{
    coil_stream **stream = arg;

    return coil_connect("127.0.0.1", port, stream);
}

/*
 * As on Linux, the backlog holds one connection more than requested, and a client whose
 * request was dropped tries again after 1, 3 and 7 s.
 */
SIM_TEST(simulated_backlog_is_finite)
{
    coil_listener *listener = listen_on("127.0.0.1", 1);
    coil_stream *clients[3] = {NULL}, *served;
    coil_task *task;

    CHECK_INT(coil_connect("127.0.0.1", port, &clients[0]), 0);
    CHECK_INT(coil_connect("127.0.0.1", port, &clients[1]), 0);
    CHECK_INT(coil_spawn(connect_later, &clients[2], NULL, &task), 0);
    coil_sleep(COIL_MSEC(1500));
    CHECK(clients[2] == NULL);
    CHECK_INT(coil_accept(listener, &served), 0);
    coil_stream_destroy(served);
    CHECK_INT(coil_task_await(task), 0);
    CHECK_INT(coil_now(), COIL_SEC(3));
    coil_task_release(task);
    for (int i = 0; i < 3; i++)
        coil_stream_destroy(clients[i]);
    coil_listener_destroy(listener);
}

SIM_TEST(simulated_backlog_that_stays_full_times_out)
{
    coil_listener *listener = listen_on("127.0.0.1", 1);
    coil_stream *clients[3] = {NULL};

    CHECK_INT(coil_connect("127.0.0.1", port, &clients[0]), 0);
    CHECK_INT(coil_connect("127.0.0.1", port, &clients[1]), 0);
    CHECK_INT(coil_connect("127.0.0.1", port, &clients[2]), -ETIMEDOUT);
    CHECK_INT(coil_now(), COIL_SEC(127));
    destroy_streams(clients);
    coil_listener_destroy(listener);
}

/* ---- hosts that are cut off -------------------------------------------------------- */

SIM_TEST(simulated_cut_host_is_a_black_hole)
{
    coil_stream *stream;

    CHECK_INT(coil_network_cut("2001:db8::1", COIL_NEVER), 0);
    CHECK_INT(coil_connect("2001:db8::1", "80", &stream), -ETIMEDOUT);
    CHECK_INT(coil_now(), COIL_SEC(127));
    CHECK_INT(coil_network_cut("2001:db8::1", 0), 0);
    CHECK_INT(coil_connect("2001:db8::1", "80", &stream), -ECONNREFUSED);
    CHECK_INT(coil_network_cut("localhost", 1), -EINVAL);
    CHECK_INT(coil_network_cut("192.0.2.256", 1), -EINVAL);
    CHECK_INT(coil_network_cut("192.0.2.9", 0), 0);
}

static int cut_soon(void *arg)
{
    (void)arg;
    coil_sleep(COIL_MSEC(15));
    return coil_network_cut("192.0.2.1", COIL_NEVER);
}

/* Cut off a host after 15 ms, while its refusal is on the way. */
SIM_TEST(simulated_cut_holds_a_refusal, .latency_ns = EXACTLY(COIL_MSEC(10)))
{
    coil_stream *stream;

    CHECK_INT(coil_spawn(cut_soon, NULL, NULL, NULL), 0);
    CHECK_INT(coil_connect("192.0.2.1", "80", &stream), -ETIMEDOUT);
    CHECK(coil_now() >= COIL_SEC(127) && coil_now() < COIL_SEC(128));
}

SIM_TEST(simulated_cut_holds_what_is_under_way, .latency_ns = EXACTLY(COIL_MSEC(10)))
{
    coil_stream *ends[2];
    char buf[8];

    connect_streams(ends);
    CHECK_INT(coil_write(ends[0], "a", 1), 1);
    CHECK_INT(coil_network_cut("127.0.0.1", COIL_SEC(2)), 0);
    CHECK_INT(coil_write(ends[0], "b", 1), 1);
    CHECK_INT(coil_read_exact(ends[1], buf, 2), 2);
    CHECK_INT(coil_now(), COIL_MSEC(2030));
    CHECK_INT(coil_network_cut("127.0.0.1", COIL_NEVER), 0);
    CHECK_INT(coil_write(ends[0], "c", 1), 1);
    coil_sleep(COIL_SEC(60));
    CHECK_INT(coil_network_cut("127.0.0.1", 0), 0);
    CHECK_INT(coil_read_exact(ends[1], buf, 1), 1);
    CHECK_INT(coil_now(), COIL_MSEC(62030));
    destroy_streams(ends);
}

SIM_TEST(simulated_sender_gives_up)
{
    coil_stream *ends[2];
    char buf[8];

    connect_streams(ends);
    CHECK_INT(coil_network_cut("127.0.0.1", COIL_NEVER), 0);
    CHECK_INT(coil_write(ends[0], "a", 1), 1);
    CHECK_INT(coil_read(ends[0], buf, sizeof buf), -ETIMEDOUT);
    CHECK_INT(coil_now(), COIL_MSEC(924600));
    CHECK_INT(coil_write(ends[0], "a", 1), -EPIPE);
    /*
     * The other end does not know that the connection has timed out, so it sends bytes,
     * which are answered with a reset.
     */
    CHECK_INT(coil_network_cut("127.0.0.1", 0), 0);
    CHECK_INT(coil_write(ends[1], "a", 1), 1);
    CHECK_INT(coil_read(ends[1], buf, sizeof buf), -ECONNRESET);
    destroy_streams(ends);
}

static int cut_nothing(void *arg)
{
    (void)arg;
    return coil_network_cut("192.0.2.1", 1);
}

TEST(simulated_cut_needs_a_simulated_network)
{
    CHECK_INT(coil_testing_run(cut_nothing, NULL), -ENOTSUP);
}

/* ---- the end ----------------------------------------------------------------------- */

/* If an end is closed with unread bytes, the other end gets a reset (RFC 2525, 2.17). */
SIM_TEST(simulated_close_with_unread_data_resets)
{
    coil_stream *ends[2];
    char buf[8];

    connect_streams(ends);
    CHECK_INT(coil_write(ends[1], "last", 4), 4);
    CHECK_INT(coil_write(ends[0], "unread", 6), 6);
    coil_sleep(1);
    coil_stream_destroy(ends[1]);
    coil_sleep(1);
    CHECK_INT(coil_read(ends[0], buf, sizeof buf), 4);
    for (int i = 0; i < 3; i++)
        CHECK_INT(coil_read(ends[0], buf, sizeof buf), -ECONNRESET);
    CHECK_INT(coil_write(ends[0], "x", 1), -EPIPE);
    CHECK_INT(coil_stream_shutdown_write(ends[0]), -ENOTCONN);
    coil_stream_destroy(ends[0]);
}

SIM_TEST(simulated_data_to_a_closed_end_is_answered_with_a_reset)
{
    coil_stream *ends[2];
    char buf[8];

    connect_streams(ends);
    coil_stream_destroy(ends[1]);
    CHECK_INT(coil_read(ends[0], buf, sizeof buf), 0);
    CHECK_INT(coil_write(ends[0], "x", 1), 1);
    coil_sleep(1);
    /* not ECONNRESET, because the end of the stream was read */
    CHECK_INT(coil_write(ends[0], "x", 1), -EPIPE);
    CHECK_INT(coil_read(ends[0], buf, sizeof buf), 0);
    coil_stream_destroy(ends[0]);
}

SIM_TEST(simulated_closed_listener_resets_whom_it_did_not_accept)
{
    coil_listener *listener = listen_on("127.0.0.1", 0);
    coil_stream *stream;
    char buf[8];

    CHECK_INT(coil_connect("127.0.0.1", port, &stream), 0);
    coil_sleep(1);
    coil_listener_destroy(listener);
    CHECK_INT(coil_read(stream, buf, sizeof buf), -ECONNRESET);
    coil_stream_destroy(stream);
}

static int write_much(void *arg)
{
    static char bytes[100000];

    return (int)coil_write(arg, bytes, sizeof bytes);
}

/* A write waits when both the send buffer and the receive buffer are full. */
SIM_TEST(simulated_buffers_are_finite, .send_buffer_bytes = 3000,
         .receive_buffer_bytes = 2000, .segment_bytes = 100)
{
    coil_stream *ends[2];
    coil_task *task;
    char buf[1000];

    connect_streams(ends);
    CHECK_INT(coil_spawn(write_much, ends[0], NULL, &task), 0);
    coil_sleep(COIL_SEC(1));
    coil_sleep(COIL_SEC(1));
    CHECK_INT(coil_stream_write_transferred(ends[0]), 5000);
    CHECK_INT(coil_read_exact(ends[1], buf, sizeof buf), sizeof buf);
    coil_sleep(COIL_SEC(1));
    CHECK_INT(coil_stream_write_transferred(ends[0]), 6000);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
    destroy_streams(ends);
}

/* ---- numbers and names ------------------------------------------------------------- */

SIM_TEST(simulated_descriptor_numbers_are_reused_at_once)
{
    coil_stream *ends[2], *other[2];
    int first, second;

    connect_streams(ends);
    first = coil_stream_fd(ends[0]);
    second = coil_stream_fd(ends[1]);
    CHECK(first >= 1000000000 && first != second);
    CHECK_INT(fcntl(first, F_GETFD), -1);
    destroy_streams(ends);
    connect_streams(other);
    CHECK_INT(coil_stream_fd(other[0]), first);
    CHECK_INT(coil_stream_fd(other[1]), second);
    destroy_streams(other);
}

SIM_TEST(simulated_sockets_may_have_a_limit, .socket_limit = 2)
{
    coil_listener *listener = listen_on("127.0.0.1", 0);
    coil_stream *client, *served;

    CHECK_INT(coil_connect("127.0.0.1", port, &client), 0);
    coil_sleep(1);
    CHECK_INT(coil_accept(listener, &served), -EMFILE);
    CHECK_INT(coil_connect("127.0.0.1", port, &served), -EMFILE);
    coil_stream_destroy(client);
    CHECK_INT(coil_accept(listener, &served), 0);
    coil_stream_destroy(served);
    coil_listener_destroy(listener);
}

/* ---- bare sockets ------------------------------------------------------------------ */

static coil_loop *loop(void)
{
    return coil_loop_current();
}

/* Return a socket bound to a host, and set *name to its address. */
static int bound_socket(int type, const char *host, struct sockaddr_in *name)
{
    int fd = coil__socket_open(loop(), AF_INET, type, 0);
    socklen_t length = sizeof *name;

    *name = (struct sockaddr_in){.sin_family = AF_INET};
    inet_pton(AF_INET, host, &name->sin_addr);
    CHECK_INT(coil__socket_bind(loop(), fd, (struct sockaddr *)name, length), 0);
    CHECK_INT(coil__socket_name(loop(), fd, (struct sockaddr *)name, &length), 0);
    CHECK_INT(loop()->backend->class->attach(loop()->backend, fd), 0);
    return fd;
}

static void close_socket(int fd)
{
    loop()->backend->class->detach(loop()->backend, fd);
    CHECK_INT(coil__socket_close(loop(), fd), 0);
}

static ssize_t send_to(int fd, const void *bytes, size_t n, struct sockaddr_in *to)
{
    struct iovec part = {(void *)bytes, n};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_name = to,
                             .msg_namelen = to != NULL ? sizeof *to : 0};

    return coil__op_await(
        &(struct coil__op){.kind = COIL__OP_SENDMSG, .fd = fd, .buf = &message});
}

static ssize_t receive_from(int fd, void *bytes, size_t n, struct sockaddr_in *from,
                            int *flags)
{
    struct iovec part = {bytes, n};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_name = from, .msg_namelen = sizeof *from};
    ssize_t result = coil__op_await(
        &(struct coil__op){.kind = COIL__OP_RECVMSG, .fd = fd, .buf = &message});

    *flags = message.msg_flags;
    return result;
}

static int connect_socket(int fd, struct sockaddr_in *to)
{
    socklen_t length = sizeof *to;

    return (int)coil__op_await(&(struct coil__op){.kind = COIL__OP_CONNECT,
                                                  .fd = fd,
                                                  .addr = (struct sockaddr *)to,
                                                  .addrlen = &length});
}

SIM_TEST(simulated_datagrams, .latency_ns = EXACTLY(COIL_MSEC(10)))
{
    struct sockaddr_in a_name, b_name, from;
    int a = bound_socket(SOCK_DGRAM, "192.0.2.1", &a_name), flags;
    int b = bound_socket(SOCK_DGRAM, "192.0.2.2", &b_name);
    char buf[16];

    CHECK_INT(send_to(a, "hello", 5, &b_name), 5);
    CHECK_INT(send_to(a, "", 0, &b_name), 0);
    CHECK_INT(receive_from(b, buf, 3, &from, &flags), 3);
    CHECK_INT(coil_now(), COIL_MSEC(10));
    CHECK_INT(flags & MSG_TRUNC, MSG_TRUNC);
    CHECK(memcmp(&from, &a_name, sizeof from) == 0);
    CHECK_INT(receive_from(b, buf, sizeof buf, &from, &flags), 0);
    CHECK_INT(flags, 0);
    CHECK_INT(send_to(a, "x", 1, NULL), -EDESTADDRREQ);
    close_socket(a);
    close_socket(b);
}

SIM_TEST(simulated_datagram_may_be_too_long)
{
    static char bytes[70000];
    struct sockaddr_in name, from;
    int fd = bound_socket(SOCK_DGRAM, "192.0.2.1", &name), flags;

    CHECK_INT(send_to(fd, bytes, 65508, &name), -EMSGSIZE);
    CHECK_INT(send_to(fd, bytes, 65507, &name), 65507);
    CHECK_INT(receive_from(fd, bytes, sizeof bytes, &from, &flags), 65507);
    close_socket(fd);
}

SIM_TEST(simulated_datagram_to_nobody_is_told_to_who_is_connected)
{
    struct sockaddr_in name, nobody;
    int fd = bound_socket(SOCK_DGRAM, "192.0.2.1", &name);
    char buf[8];

    nobody = name;
    nobody.sin_port = htons(9);
    CHECK_INT(send_to(fd, "x", 1, &nobody), 1);
    coil_sleep(1);
    CHECK_INT(connect_socket(fd, &nobody), 0);
    CHECK_INT(send_to(fd, "x", 1, NULL), 1);
    CHECK_INT(coil__op_await(&(struct coil__op){
                  .kind = COIL__OP_RECV, .fd = fd, .buf = buf, .len = sizeof buf}),
              -ECONNREFUSED);
    CHECK_INT(send_to(fd, "x", 1, NULL), 1);
    close_socket(fd);
}

static int count_datagrams(void *arg)
{
    struct sockaddr_in name, from;
    int fd = bound_socket(SOCK_DGRAM, "192.0.2.1", &name), flags;
    int *count = arg;
    coil_scope scope;
    char byte;
    ssize_t rc;

    for (char i = 0; i < 20; i++)
        CHECK_INT(send_to(fd, &i, 1, &name), 1);
    coil_scope_enter(&scope, coil_in(COIL_SEC(1)));
    while ((rc = receive_from(fd, &byte, 1, &from, &flags)) == 1)
        test_trace("%d ", (++*count, byte));
    CHECK_INT(coil_scope_exit(&scope, (int)rc), -ETIMEDOUT);
    close_socket(fd);
    return 0;
}

TEST(simulated_datagrams_are_lost_doubled_and_overtaken)
{
    int count = 0;

    on_network((coil_network_opts){.loss_ppm = 1000000}, count_datagrams, &count);
    CHECK_INT(count, 0);
    on_network((coil_network_opts){.duplicate_ppm = 1000000}, count_datagrams, &count);
    CHECK_INT(count, 40);
    test_trace_clear();
    on_network((coil_network_opts){.latency_ns = {0, COIL_MSEC(1)}, .seed = 7},
               count_datagrams, &count);
    CHECK_INT(count, 60);
    CHECK(strstr(test_trace_text(), "0 1 2 3 4 5 6 7 8 9 ") == NULL);
}

struct poll_op {
    int fd;
    unsigned events;
    int found;
};

static int wait_for_socket(void *arg)
{
    struct poll_op *p = arg;

    p->found = coil_wait_fd(p->fd, p->events);
    return 0;
}

SIM_TEST(simulated_sockets_can_be_waited_for)
{
    struct sockaddr_in name;
    int listening = bound_socket(SOCK_STREAM, "192.0.2.1", &name), client, fd;
    struct poll_op p = {.events = COIL_READABLE};
    coil_task *task;

    loop()->backend->class->detach(loop()->backend, listening);
    CHECK_INT(coil__socket_listen(loop(), listening, 5), 0);
    p.fd = listening;
    CHECK_INT(coil_spawn(wait_for_socket, &p, NULL, &task), 0);
    settle();
    CHECK_INT(coil_wait_fd(listening, COIL_READABLE), -EBUSY);
    client = bound_socket(SOCK_STREAM, "192.0.2.2", &(struct sockaddr_in){0});
    CHECK_INT(connect_socket(client, &name), 0);
    CHECK_INT(connect_socket(client, &name), -EISCONN);
    CHECK_INT(coil_task_await(task), 0);
    CHECK_INT(p.found, COIL_READABLE);
    coil_task_release(task);
    CHECK_INT(loop()->backend->class->attach(loop()->backend, listening), 0);
    fd =
        (int)coil__op_await(&(struct coil__op){.kind = COIL__OP_ACCEPT, .fd = listening});
    CHECK(fd > listening);
    CHECK_INT(coil_wait_fd(fd, COIL_READABLE | COIL_WRITABLE), COIL_WRITABLE);
    CHECK_INT(coil_wait_fd(fd + 5, COIL_READABLE), -EBADF);
    coil__socket_close(loop(), fd);
    close_socket(client);
    close_socket(listening);
}

static int readers_called;

static void read_watched(void *arg)
{
    (void)arg;
    readers_called++;
}

SIM_TEST(simulated_sockets_have_readers)
{
    struct sockaddr_in name;
    int fd = bound_socket(SOCK_DGRAM, "192.0.2.1", &name), flags;
    char byte;

    CHECK_INT(coil_add_reader(fd, read_watched, NULL), -EBUSY);
    loop()->backend->class->detach(loop()->backend, fd);
    CHECK_INT(coil_add_reader(fd, read_watched, NULL), 0);
    CHECK_INT(loop()->backend->class->attach(loop()->backend, fd), -EBUSY);
    settle();
    CHECK_INT(readers_called, 0);
    CHECK_INT(coil_remove_reader(fd), 1);
    CHECK_INT(loop()->backend->class->attach(loop()->backend, fd), 0);
    CHECK_INT(send_to(fd, "x", 1, &name), 1);
    coil_sleep(COIL_MSEC(1));
    loop()->backend->class->detach(loop()->backend, fd);
    CHECK_INT(coil_add_reader(fd, read_watched, NULL), 0);
    while (readers_called < 2) /* level-triggered */
        CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_remove_reader(fd), 1);
    CHECK_INT(loop()->backend->class->attach(loop()->backend, fd), 0);
    CHECK_INT(receive_from(fd, &byte, 1, &name, &flags), 1);
    loop()->backend->class->detach(loop()->backend, fd);
    /* the loop must remove the writer when the socket is closed */
    CHECK_INT(coil_add_writer(fd, read_watched, NULL), 0);
    coil__socket_close(loop(), fd);
}

SIM_TEST(simulated_peek_takes_nothing)
{
    coil_stream *ends[2];
    char buf[8];
    struct coil__op peek = {
        .kind = COIL__OP_RECV, .buf = buf, .len = 3, .flags = MSG_PEEK};

    connect_streams(ends);
    CHECK_INT(coil_write(ends[0], "abcdef", 6), 6);
    peek.fd = coil_stream_fd(ends[1]);
    CHECK_INT(coil__op_await(&peek), 3);
    CHECK_INT(coil__op_await(&peek), 3);
    CHECK(memcmp(buf, "abc", 3) == 0);
    CHECK_INT(coil_read_exact(ends[1], buf, 6), 6);
    CHECK(memcmp(buf, "abcdef", 6) == 0);
    destroy_streams(ends);
}

SIM_TEST(simulated_ports_may_be_shared)
{
    int yes = 1, seen[2] = {0};
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(80)};
    int fds[2];

    for (int i = 0; i < 2; i++) {
        fds[i] = coil__socket_open(loop(), AF_INET, SOCK_STREAM, 0);
        coil__socket_set_option(loop(), fds[i], SOL_SOCKET, SO_REUSEPORT, &yes,
                                sizeof yes);
        CHECK_INT(
            coil__socket_bind(loop(), fds[i], (struct sockaddr *)&name, sizeof name), 0);
        CHECK_INT(coil__socket_listen(loop(), fds[i], 100), 0);
        CHECK_INT(loop()->backend->class->attach(loop()->backend, fds[i]), 0);
    }
    for (int i = 0; i < 20; i++) {
        coil_stream *stream;

        CHECK_INT(coil_connect("127.0.0.1", "80", &stream), 0);
        coil_stream_destroy(stream);
    }
    for (int i = 0; i < 2; i++) {
        coil_scope scope;
        ssize_t fd;

        coil_scope_enter(&scope, coil_in(COIL_SEC(1)));
        while ((fd = coil__op_await(
                    &(struct coil__op){.kind = COIL__OP_ACCEPT, .fd = fds[i]})) >= 0) {
            seen[i]++;
            coil__socket_close(loop(), (int)fd);
        }
        CHECK_INT(coil_scope_exit(&scope, (int)fd), -ETIMEDOUT);
        close_socket(fds[i]);
    }
    CHECK_INT(seen[0] + seen[1], 20);
    CHECK(seen[0] > 2 && seen[1] > 2);
}

/* ---- faults ------------------------------------------------------------------------ */

SIM_TEST(simulated_accept_fails, .accept_limit_ppm = 1000000)
{
    coil_listener *listener = listen_on("127.0.0.1", 0);
    coil_stream *client, *served;

    CHECK_INT(coil_connect("127.0.0.1", port, &client), 0);
    CHECK_INT(coil_accept(listener, &served), -EMFILE);
    CHECK_INT(coil_accept(listener, &served), -EMFILE);
    coil_stream_destroy(client);
    coil_listener_destroy(listener);
}

SIM_TEST(simulated_connections_are_aborted, .accept_abort_ppm = 1000000)
{
    coil_listener *listener = listen_on("127.0.0.1", 0);
    coil_stream *client, *served;
    coil_scope scope;
    char byte;

    CHECK_INT(coil_connect("127.0.0.1", port, &client), 0);
    coil_scope_enter(&scope, coil_in(COIL_SEC(1)));
    CHECK_INT(coil_scope_exit(&scope, coil_accept(listener, &served)), -ETIMEDOUT);
    CHECK_INT(coil_read(client, &byte, 1), -ECONNRESET);
    coil_stream_destroy(client);
    coil_listener_destroy(listener);
}

SIM_TEST(simulated_connections_break, .reset_ppm = 1000000)
{
    coil_stream *ends[2];
    char byte;

    connect_streams(ends);
    CHECK_INT(coil_write(ends[0], "x", 1), 1);
    CHECK_INT(coil_read(ends[1], &byte, 1), -ECONNRESET);
    CHECK_INT(coil_read(ends[0], &byte, 1), -ECONNRESET);
    destroy_streams(ends);
}

static int read_for_ever(void *arg)
{
    coil_stream *ends[2];
    char byte;

    (void)arg;
    connect_streams(ends);
    return (int)coil_read(ends[0], &byte, 1);
}

static void report_nothing(const coil_exception *exception, void *arg)
{
    (void)exception;
    (void)arg;
}

static int read_for_ever_quietly(void *arg)
{
    coil_set_exception_handler(report_nothing, NULL);
    return read_for_ever(arg);
}

/* The loop must destroy streams that are still open when it closes. */
TEST(simulated_waits_without_end_are_seen)
{
    int status = -1;

    if (COIL__TSAN)
        test_skip("TSan's own thread might post");
    if (test_under_valgrind())
        test_skip("valgrind reports the parent's objects in the child as leaked");
    if (fork() == 0)
        _exit(on_network((coil_network_opts){0}, read_for_ever_quietly, NULL) !=
              -EDEADLK);
    wait(&status);
    CHECK_INT(status, 0);
}

/* ---- exhaustion -------------------------------------------------------------------- */

static int echo_once(void *arg)
{
    coil_listener *listener = NULL;
    coil_stream *ends[2] = {NULL};
    char buf[500] = {0}, number[8];
    int rc = coil_listen("127.0.0.1", "0", 0, &listener);

    (void)arg;
    if (rc < 0)
        return rc;
    snprintf(number, sizeof number, "%u", coil_listener_port(listener));
    rc = coil_connect("127.0.0.1", number, &ends[0]);
    if (rc == 0)
        rc = coil_accept(listener, &ends[1]);
    for (int i = 0; i < 3 && rc >= 0; i++) {
        rc = (int)coil_write(ends[i % 2], buf, sizeof buf);
        if (rc >= 0)
            rc = (int)coil_read_exact(ends[!(i % 2)], buf, sizeof buf);
    }
    destroy_streams(ends);
    coil_listener_destroy(listener);
    return rc;
}

/* The outcomes of a series of runs, in each of which a different call failed. */
struct survived {
    int all, borne;  /* number of runs; number of runs without an error */
    int failed[512]; /* number of runs that failed with each errno */
};

static struct survived survive(void (*fail)(uint64_t nth), bool short_calls)
{
    struct survived s = {0};
    int64_t blocks = coil_testing_blocks();

    for (int nth = 1;; nth++) {
        coil_network_opts opts = coil_network_calm((uint64_t)nth);
        int rc;

        if (!short_calls)
            opts.short_ppm = 0;
        fail((uint64_t)nth);
        rc = on_network(opts, echo_once, NULL);
        CHECK_INT(coil_testing_blocks(), blocks);
        if (coil_testing_failed() == NULL || rc >= 0 || rc < -511)
            CHECK_INT(rc, 500);
        if (coil_testing_failed() == NULL)
            return s;
        s.all++;
        s.borne += rc >= 0;
        if (rc < 0 && rc > -512)
            s.failed[-rc]++;
    }
}

static void fail_call(uint64_t nth)
{
    coil_testing_fail_system_call(nth, 0);
}

static void interrupt_call(uint64_t nth)
{
    coil_testing_fail_system_call(nth, EINTR);
}

/*
 * After a failed allocation, a call must fail with the error that the kernel would
 * return.
 */
TEST(simulated_network_without_memory)
{
    struct survived s = survive(coil_testing_fail_allocation, false);

    CHECK(s.all > 15);
    CHECK(s.borne < s.all / 4);
    /* allocations of the loop, of sockets and of connections */
    CHECK(s.failed[ENOMEM] > 10);
    CHECK_INT(s.failed[ENOBUFS], 3); /* one for each of the three writes */
    CHECK_INT(s.borne + s.failed[ENOMEM] + s.failed[ENOBUFS], s.all);
}

/* Interrupted sends and reads are repeated, and failed ones are reported. */
TEST(simulated_calls_fail_as_the_kernels_do)
{
    struct survived s = survive(fail_call, true);

    CHECK(s.all > 15);
    CHECK(s.failed[ECONNRESET] > 3);
    CHECK(s.failed[EMFILE] > 2);
    s = survive(interrupt_call, true);
    CHECK(s.all > 15);
    CHECK(s.borne > s.all / 2);
    CHECK_INT(s.failed[ECONNRESET], 0);
    coil_testing_fail_system_call(0, 0);
}

static void never(void *arg)
{
    (void)arg;
    CHECK(false);
}

/*
 * The test's timers fill the loop's heap of 64 timers, and an allocation for the
 * network's own timers fails.
 */
SIM_TEST(simulated_network_goes_on_without_a_timer)
{
    coil_stream *ends[2];
    coil_handle *handles[64];
    char byte;

    connect_streams(ends);
    for (int i = 0; i < 64; i++)
        CHECK_INT(coil_call_later(COIL_SEC(100), never, NULL, &handles[i]), 0);
    test_fail_allocation(2);
    CHECK_INT(coil_write(ends[0], "x", 1), 1);
    CHECK_INT(coil_read(ends[1], &byte, 1), 1);
    for (int i = 0; i < 64; i++) {
        coil_handle_cancel(handles[i]);
        coil_handle_release(handles[i]);
    }
    destroy_streams(ends);
}

/* ---- real descriptors -------------------------------------------------------------- */

static int use_descriptors(void *arg)
{
    coil_stream *ends[2];
    char buf[8];
    int fds[2];

    (void)arg;
    CHECK_STR(coil_backend_name(), "simulated");
    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    CHECK_INT(coil_stream_adopt(fds[0], &ends[0]), 0);
    CHECK_INT(coil_stream_adopt(fds[1], &ends[1]), 0);
    CHECK_INT(coil_write(ends[1], "pipe", 4), 4);
    CHECK_INT(coil_read(ends[0], buf, sizeof buf), 4);
    CHECK_INT(coil_network_cut("127.0.0.1", COIL_MSEC(500)), 0);
    destroy_streams(ends);
    connect_streams(ends);
    CHECK_INT(coil_write(ends[0], "x", 1), 1);
    CHECK_INT(coil_read(ends[1], buf, sizeof buf), 1);
    destroy_streams(ends);
    return 0;
}

TEST(simulated_network_with_the_real_clock_and_real_descriptors)
{
    coil_run_opts opts = {.loop = {.backend = "simulated"}};
    int64_t began = coil_now();

    CHECK_INT(coil_run(use_descriptors, NULL, &opts), 0);
    CHECK(coil_now() - began >= COIL_SEC(1)); /* the second attempt */
}

TEST(simulated_network_by_the_environment)
{
    setenv("COIL_BACKEND", "simulated", 1);
    CHECK_INT(coil_testing_run(use_descriptors, NULL), 0);
}

static int leave_open(void *arg)
{
    coil_stream **left = arg;

    connect_streams(left);
    return (int)coil_write(left[0], "unread", 6);
}

TEST(simulated_sockets_go_with_their_loop)
{
    coil_stream *left[2];

    CHECK_INT(on_network((coil_network_opts){0}, leave_open, left), 6);
    destroy_streams(left);
}

/* ---- repeatability ----------------------------------------------------------------- */

/*
 * This log must never change, because the random number generator defines the meaning of
 * a seed.
 */
TEST(simulated_seed_means_the_same_on_each_machine)
{
    coil_network_opts opts = coil_network_calm(7);
    size_t size;
    char *text;

    opts.log = open_memstream(&text, &size);
    CHECK_INT(on_network(opts, echo_once, NULL), 500);
    fclose(opts.log);
    CHECK_STR(text, "0.000171417 127.0.0.1:32769 > 127.0.0.1:32768 attempt\n"
                    "0.000229905 127.0.0.1:32768 > 127.0.0.1:32769 hello\n"
                    "0.001907885 127.0.0.1:32769 > 127.0.0.1:32768 hello\n"
                    "0.003168298 127.0.0.1:32769 > 127.0.0.1:32768 data 500\n"
                    "0.003804677 127.0.0.1:32768 > 127.0.0.1:32769 data 500\n"
                    "0.005174479 127.0.0.1:32769 > 127.0.0.1:32768 data 500\n");
    free(text);
}
