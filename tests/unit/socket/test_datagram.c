/*
 * test_datagram.c - datagrams: message boundaries, truncation, refusals, order, and
 * batches.
 */
#include "sockets.h"

#include "../../harness/harness.h"

#include <fcntl.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static coil_datagram *open_at(const char *host)
{
    coil_datagram *d = NULL;

    CHECK_INT(coil_datagram_open(host, "0", 0, &d), 0);
    if (d == NULL)
        exit(EXIT_FAILURE);
    return d;
}

static coil_address name_of(const coil_datagram *d)
{
    coil_address address = {.length = 0};

    CHECK_INT(coil_datagram_name(d, &address), 0);
    return address;
}

/* Return a socket that is connected to `host`, at the port of `server`. */
static coil_datagram *connect_to(const coil_datagram *server, const char *host)
{
    coil_address address = name_of(server);
    coil_datagram *d = NULL;
    char port[8];

    snprintf(port, sizeof port, "%u", coil_address_port(&address));
    CHECK_INT(coil_datagram_connect(host, port, &d), 0);
    if (d == NULL)
        exit(EXIT_FAILURE);
    return d;
}

static ssize_t send_text(coil_datagram *d, const char *text, const coil_address *to)
{
    return coil_send_to(d, text, strlen(text), &to->any, to->length);
}

struct transfer {
    coil_datagram *datagram;
    ssize_t result;
    char buf[16];
};

static int do_receive(void *arg)
{
    struct transfer *t = arg;

    t->result = coil_receive(t->datagram, t->buf, sizeof t->buf);
    return (int)t->result;
}

static int do_send(void *arg)
{
    struct transfer *t = arg;

    t->result = coil_send(t->datagram, t->buf, sizeof t->buf);
    return (int)t->result;
}

static coil_task *start(int (*fn)(void *), struct transfer *t)
{
    coil_task *task = NULL;

    CHECK_INT(coil_spawn(fn, t, NULL, &task), 0);
    settle();
    return task;
}

static void finish_with(coil_task *task, int result)
{
    CHECK_INT(coil_task_await(task), result);
    coil_task_release(task);
}

NET_TEST(datagram_by_addresses)
{
    coil_datagram *server = NULL, *client = NULL;
    coil_address at, name, from;
    char buf[8];

    CHECK_INT(coil_address_of_numbers("127.0.0.1", 0, &at), 0);
    CHECK_INT(coil_datagram_open_address(&at, 0, &server), 0);
    name = name_of(server);
    CHECK_INT(coil_datagram_connect_address(&name, &client), 0);
    CHECK_INT(coil_send(client, "hello", 5), 5);
    CHECK_INT(coil_receive_from(server, buf, sizeof buf, &from), 5);
    CHECK_INT(coil_send_to(server, "you", 3, &from.any, from.length), 3);
    CHECK_INT(coil_receive(client, buf, sizeof buf), 3);
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

/* ---- there and back ---------------------------------------------------------------- */

static void echo_between(const char *host)
{
    coil_datagram *server = open_at(host), *client = open_at(host);
    coil_address to = name_of(server), from, own = name_of(client);
    char buf[16];

    CHECK_INT(send_text(client, "hello", &to), 5);
    CHECK_INT(coil_receive_from(server, buf, sizeof buf, &from), 5);
    CHECK(memcmp(buf, "hello", 5) == 0);
    CHECK_INT(coil_datagram_size(server), 5);
    CHECK_INT(coil_address_port(&from), coil_address_port(&own));
    CHECK_INT(send_text(server, "back", &from), 4);
    CHECK_INT(coil_receive_from(client, buf, sizeof buf, &from), 4);
    CHECK_INT(coil_address_port(&from), coil_address_port(&to));
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

NET_TEST(datagram_goes_there_and_back)
{
    echo_between("127.0.0.1");
}

static bool have_v6(void)
{
    coil_datagram *d = NULL;
    int rc = coil_datagram_open("::1", "0", 0, &d);

    coil_datagram_destroy(d);
    return rc == 0;
}

NET_TEST(datagram_goes_over_ipv6)
{
    if (!have_v6())
        test_skip("no IPv6");
    echo_between("::1");
}

NET_TEST(datagram_of_all_addresses_serves_both_families)
{
    coil_datagram *server = open_at(NULL), *v4 = connect_to(server, "127.0.0.1"), *v6;
    char buf[16];

    CHECK_INT(coil_send(v4, "four", 4), 4);
    CHECK_INT(coil_receive(server, buf, sizeof buf), 4);
    coil_datagram_destroy(v4);
    if (have_v6()) {
        v6 = connect_to(server, "::1");
        CHECK_INT(coil_send(v6, "six", 3), 3);
        CHECK_INT(coil_receive(server, buf, sizeof buf), 3);
        coil_datagram_destroy(v6);
    }
    coil_datagram_destroy(server);
}

NET_TEST(datagram_may_be_empty)
{
    coil_datagram *server = open_at("127.0.0.1"),
                  *client = connect_to(server, "127.0.0.1");
    char buf[4];

    CHECK_INT(coil_send(client, "", 0), 0);
    CHECK_INT(coil_receive(server, buf, sizeof buf), 0);
    CHECK_INT(coil_send(client, NULL, 0), 0);
    CHECK_INT(coil_receive(server, NULL, 0), 0);
    CHECK_INT(coil_send(client, "x", 1), 1);
    CHECK_INT(coil_receive(server, buf, sizeof buf), 1);
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

NET_TEST(datagram_that_is_larger_than_the_buffer_is_cut_off)
{
    coil_datagram *server = open_at("127.0.0.1"),
                  *client = connect_to(server, "127.0.0.1");
    char buf[8] = "";

    CHECK_INT(coil_send(client, "0123456789", 10), 10);
    CHECK_INT(coil_receive(server, buf, 4), -EMSGSIZE);
    CHECK_STR(buf, "0123");
    CHECK_INT(coil_datagram_size(server), 10);
    CHECK_INT(coil_send(client, "0123", 4), 4);
    CHECK_INT(coil_receive(server, buf, 4), 4);
    CHECK_INT(coil_send(client, "0", 1), 1);
    CHECK_INT(coil_receive(server, NULL, 0), -EMSGSIZE);
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

NET_TEST(datagram_that_is_too_large_is_refused)
{
    coil_datagram *server = open_at("127.0.0.1"),
                  *client = connect_to(server, "127.0.0.1");
    char *large = calloc(1, 70000);

    CHECK_INT(coil_send(client, large, 70000), -EMSGSIZE);
    CHECK_INT(coil_send(client, large, 60000), 60000);
    CHECK_INT(coil_receive(server, large, 70000), 60000);
    free(large);
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

/* ---- connected, or not ------------------------------------------------------------- */

NET_TEST(datagram_connected_receives_only_from_its_peer)
{
    coil_datagram *server = open_at("127.0.0.1"), *stranger = open_at("127.0.0.1");
    coil_datagram *client = connect_to(server, "127.0.0.1");
    coil_address own = name_of(client), peer, to = name_of(server);
    char buf[16];

    CHECK_INT(coil_datagram_peer(client, &peer), 0);
    CHECK_INT(coil_address_port(&peer), coil_address_port(&to));
    CHECK_INT(coil_datagram_peer(server, &peer), -ENOTCONN);
    CHECK_INT(peer.length, 0);
    CHECK_INT(send_text(stranger, "psst", &own), 4);
    CHECK_INT(coil_sleep(COIL_MSEC(50)), 0);
    CHECK_INT(send_text(server, "hello", &own), 5);
    CHECK_INT(coil_receive(client, buf, sizeof buf), 5);
    CHECK_INT(coil_send(server, "?", 1), -EDESTADDRREQ);
    coil_datagram_destroy(server);
    coil_datagram_destroy(stranger);
    coil_datagram_destroy(client);
}

NET_TEST(datagram_to_nobody_is_refused_later)
{
    coil_datagram *server = open_at("127.0.0.1"),
                  *client = connect_to(server, "127.0.0.1");
    char buf[16];

    coil_datagram_destroy(server);
    CHECK_INT(coil_send(client, "x", 1), 1);
    CHECK_INT(coil_receive(client, buf, sizeof buf), -ECONNREFUSED);
    CHECK_INT(coil_send(client, "x", 1), 1); /* the error is reported only once */
    CHECK_INT(coil_receive(client, buf, sizeof buf), -ECONNREFUSED);
    coil_datagram_destroy(client);
}

/*
 * An unconnected sender does not get an error if a datagram is refused. (asyncio:
 * test_datagram_send_to_non_listening_address)
 */
NET_TEST(datagram_refused_is_no_error_for_an_unconnected_sender)
{
    coil_datagram *gone = open_at("127.0.0.1"), *other = open_at("127.0.0.1");
    coil_datagram *d = open_at("127.0.0.1");
    coil_address nowhere = name_of(gone), to = name_of(other);
    char buf[4];

    coil_datagram_destroy(gone);
    CHECK_INT(send_text(d, "x", &nowhere), 1);
    CHECK_INT(coil_sleep(COIL_MSEC(50)), 0);
    CHECK_INT(send_text(d, "ok", &to), 2);
    CHECK_INT(coil_receive(other, buf, sizeof buf), 2);
    coil_datagram_destroy(other);
    coil_datagram_destroy(d);
}

NET_TEST(datagram_open_checks_what_it_is_given)
{
    coil_datagram *d = NULL, *other = NULL;
    coil_address name;
    char port[8];

    CHECK_INT(coil_datagram_open("127.0.0.1", "0", 1u << 20, &d), -EINVAL);
    CHECK(coil_datagram_open("127.0.0.1", "no-such-service", 0, &d) < 0);
    CHECK(coil_datagram_connect("300.1.1.1.", "1", &d) < 0);
    CHECK_PTR(d, NULL);
    CHECK_INT(coil_datagram_open("127.0.0.1", NULL, COIL_DATAGRAM_REUSE_PORT, &d), 0);
    name = name_of(d);
    snprintf(port, sizeof port, "%u", coil_address_port(&name));
    CHECK_INT(coil_datagram_open("127.0.0.1", port, 0, &other), -EADDRINUSE);
    CHECK_INT(coil_datagram_open("127.0.0.1", port, COIL_DATAGRAM_REUSE_PORT, &other), 0);
    coil_datagram_destroy(other);
    coil_datagram_destroy(d);
    coil_datagram_destroy(NULL);
}

IO_TEST(datagram_may_broadcast_if_it_says_so)
{
    coil_address to = {.length = sizeof to.v4,
                       .v4 = {.sin_family = AF_INET, .sin_port = htons(9)}};
    coil_datagram *d = open_at("127.0.0.1");
    int on = 0;
    socklen_t length = sizeof on;

    to.v4.sin_addr.s_addr = htonl(INADDR_BROADCAST);
    CHECK_INT(send_text(d, "x", &to), -EACCES);
    coil_datagram_destroy(d);
    CHECK_INT(coil_datagram_open("127.0.0.1", "0", COIL_DATAGRAM_BROADCAST, &d), 0);
    getsockopt(coil_datagram_fd(d), SOL_SOCKET, SO_BROADCAST, &on, &length);
    CHECK_INT(on, 1);
    coil_datagram_destroy(d);
}

IO_TEST(datagram_joins_a_group)
{
    coil_datagram *d = open_at("0.0.0.0"), *sender = open_at("127.0.0.1");
    coil_address name = name_of(d), to = name;
    struct in_addr loopback = {htonl(INADDR_LOOPBACK)};
    char buf[8];

    CHECK_INT(coil_datagram_join(d, "127.0.0.1", NULL), -EINVAL);
    CHECK_INT(coil_datagram_join(d, "::1", NULL), -EINVAL);
    CHECK_INT(coil_datagram_join(d, "group", NULL), -EINVAL);
    CHECK_INT(coil_datagram_join(d, "239.255.1.2", "no-such-interface"), -ENODEV);
    CHECK_INT(coil_datagram_leave(d, "239.255.1.2", "lo"), -EADDRNOTAVAIL);
    CHECK_INT(coil_datagram_join(d, "239.255.1.2", "lo"), 0);
    CHECK_INT(coil_datagram_set_option(sender, IPPROTO_IP, IP_MULTICAST_IF, &loopback,
                                       sizeof loopback),
              0);
    to.v4.sin_addr.s_addr = inet_addr("239.255.1.2");
    CHECK_INT(send_text(sender, "all", &to), 3);
    CHECK_INT(coil_receive(d, buf, sizeof buf), 3);
    CHECK_INT(coil_datagram_leave(d, "239.255.1.2", "lo"), 0);
    coil_datagram_destroy(d);
    coil_datagram_destroy(sender);
}

/* ---- waiting, closing, cancelling -------------------------------------------------- */

NET_TEST(datagram_receivers_stand_in_line)
{
    coil_datagram *server = open_at("127.0.0.1"),
                  *client = connect_to(server, "127.0.0.1");
    struct transfer t[3] = {
        {.datagram = server}, {.datagram = server}, {.datagram = server}};
    coil_task *tasks[3];

    for (int i = 0; i < 3; i++)
        tasks[i] = start(do_receive, &t[i]);
    coil_task_cancel(tasks[1], NULL);
    finish_with(tasks[1], -ECANCELED);
    CHECK_INT(coil_send(client, "1", 1), 1);
    finish_with(tasks[0], 1);
    CHECK_INT(coil_send(client, "22", 2), 2);
    finish_with(tasks[2], 2);
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

NET_TEST(datagram_receive_that_is_cancelled_loses_nothing)
{
    coil_datagram *server = open_at("127.0.0.1"),
                  *client = connect_to(server, "127.0.0.1");
    struct transfer t = {.datagram = server};
    coil_task *task = start(do_receive, &t);

    coil_task_cancel(task, NULL);
    finish_with(task, -ECANCELED);
    CHECK_INT(coil_send(client, "abc", 3), 3);
    task = start(do_receive, &t);
    finish_with(task, 3);
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

NET_TEST(datagram_closed_ends_the_calls_in_it)
{
    coil_datagram *d = open_at("127.0.0.1");
    struct transfer t[3] = {{.datagram = d}, {.datagram = d}, {.datagram = d}};
    coil_task *tasks[3];
    coil_address name;

    for (int i = 0; i < 3; i++)
        tasks[i] = start(do_receive, &t[i]);
    CHECK_INT(coil_datagram_close(d), 0);
    CHECK_INT(coil_datagram_close(d), 0);
    for (int i = 0; i < 3; i++)
        finish_with(tasks[i], -EBADF);
    CHECK_INT(coil_datagram_fd(d), -1);
    CHECK_INT(coil_datagram_name(d, &name), -EBADF);
    CHECK_INT(coil_datagram_set_option(d, SOL_SOCKET, SO_RCVBUF, &(int){0}, sizeof(int)),
              -EBADF);
    CHECK_INT(coil_receive(d, NULL, 0), -EBADF);
    CHECK_INT(coil_send(d, NULL, 0), -EBADF);
    coil_datagram_destroy(d);
}

NET_TEST(datagram_destroyed_ends_the_calls_in_it)
{
    coil_datagram *d = open_at("127.0.0.1");
    struct transfer t[2] = {{.datagram = d}, {.datagram = d}};
    coil_task *tasks[2];

    for (int i = 0; i < 2; i++)
        tasks[i] = start(do_receive, &t[i]);
    coil_datagram_destroy(d);
    for (int i = 0; i < 2; i++)
        finish_with(tasks[i], -EBADF);
}

/* ---- local sockets ----------------------------------------------------------------- */

static void make_path(char *path, size_t size)
{
    snprintf(path, size, "/tmp/coil-datagram-%d", (int)getpid());
    unlink(path);
}

IO_TEST(datagram_local_by_path_and_by_name)
{
    char path[64], abstract[64], buf[8];
    coil_datagram *servers[2] = {NULL}, *client = NULL;
    coil_address from;

    make_path(path, sizeof path);
    snprintf(abstract, sizeof abstract, "@coil-datagram-%d", (int)getpid());
    CHECK_INT(coil_datagram_connect_unix(path, &client), -ENOENT);
    CHECK_INT(coil_datagram_connect_unix("", &client), -EINVAL);
    CHECK_INT(coil_datagram_open_unix(path, &servers[0]), 0);
    CHECK_INT(coil_datagram_open_unix(path, &servers[1]), -EADDRINUSE);
    CHECK_INT(coil_datagram_open_unix(abstract, &servers[1]), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(coil_datagram_connect_unix(i == 0 ? path : abstract, &client), 0);
        CHECK_INT(coil_send(client, "hello", 5), 5);
        CHECK_INT(coil_receive_from(servers[i], buf, sizeof buf, &from), 5);
        CHECK_INT(send_text(servers[i], "hi", &from), 2);
        CHECK_INT(coil_receive(client, buf, sizeof buf), 2);
        coil_datagram_destroy(client);
        coil_datagram_destroy(servers[i]);
    }
    unlink(path);
}

/*
 * A send must wait while the receiver's queue is full, although poll(2) reports the
 * unconnected socket as writable.
 */
IO_TEST(datagram_local_waits_for_the_receivers_room)
{
    char path[64], buf[8];
    coil_datagram *server = NULL, *d[2] = {NULL};
    coil_address to;

    make_path(path, sizeof path);
    CHECK_INT(coil_datagram_open_unix(path, &server), 0);
    CHECK_INT(coil_datagram_open_unix(NULL, &d[0]), 0);
    CHECK_INT(coil_datagram_connect_unix(path, &d[1]), 0);
    CHECK_INT(coil_address_of_path(path, &to), 0);
    for (int i = 0; i < 2; i++) {
        coil_scope s;
        int sent = 0, rc = 0;

        coil_scope_enter(&s, coil_in(COIL_MSEC(20)));
        while ((rc = (int)(i == 0 ? send_text(d[i], "x", &to)
                                  : coil_send(d[i], "x", 1))) == 1)
            sent++;
        CHECK_INT(coil_scope_exit(&s, rc), -ETIMEDOUT);
        CHECK(sent > 0);
        for (; sent > 0; sent--)
            CHECK_INT(coil_receive(server, buf, sizeof buf), 1);
    }
    coil_datagram_destroy(server);
    coil_datagram_destroy(d[0]);
    coil_datagram_destroy(d[1]);
    unlink(path);
}

struct flood {
    coil_datagram *datagram;
    coil_address to;
    int sent;
};

static int do_flood(void *arg)
{
    struct flood *f = arg;
    ssize_t rc;

    while ((rc = send_text(f->datagram, "x", &f->to)) == 1)
        f->sent++;
    return (int)rc;
}

IO_TEST(datagram_local_goes_on_when_there_is_room)
{
    struct flood f = {.sent = 0};
    char path[64], buf[8];
    coil_datagram *server = NULL;
    coil_task *task = NULL;

    make_path(path, sizeof path);
    CHECK_INT(coil_datagram_open_unix(path, &server), 0);
    CHECK_INT(coil_datagram_open_unix(NULL, &f.datagram), 0);
    CHECK_INT(coil_address_of_path(path, &f.to), 0);
    CHECK_INT(coil_spawn(do_flood, &f, NULL, &task), 0);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(coil_receive(server, buf, sizeof buf), 1);
    settle(); /* the receiver's queue is full again */
    coil_datagram_close(f.datagram);
    finish_with(task, -EBADF);
    CHECK(f.sent >= 1000);
    coil_datagram_destroy(f.datagram);
    coil_datagram_destroy(server);
    unlink(path);
}

IO_TEST(datagram_send_waits_and_is_cancelled)
{
    coil_datagram *ends[2] = {NULL};
    struct transfer t = {.result = 0};
    char buf[16];
    coil_task *task;
    int fds[2];
    ssize_t n;

    CHECK_INT(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(coil_datagram_adopt(fds[i], &ends[i]), 0);
    CHECK(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
    while (send(fds[0], "x", 1, MSG_DONTWAIT) == 1)
        continue;
    t.datagram = ends[0];
    task = start(do_send, &t);
    coil_task_cancel(task, NULL);
    finish_with(task, -ECANCELED);
    task = start(do_send, &t);
    while ((n = coil_receive(ends[1], buf, sizeof buf)) == 1)
        continue;
    CHECK_INT(n, sizeof t.buf);
    finish_with(task, sizeof t.buf);
    coil_datagram_destroy(ends[0]);
    coil_datagram_destroy(ends[1]);
}

/*
 * With IP_RECVERR, ICMP errors are stored in a separate queue (ip(7)), and poll(2)
 * reports the socket as readable until they are read from it. Even so, a receive must
 * wait without spinning.
 */
IO_TEST(datagram_receive_sleeps_though_an_error_waits_in_its_queue)
{
    coil_datagram *nobody = open_at("127.0.0.1"), *client = open_at("127.0.0.1");
    coil_datagram *sender = open_at("127.0.0.1");
    coil_address to_nobody = name_of(nobody), to_client = name_of(client);
    struct transfer t = {.datagram = client};
    coil_stats before, after;
    coil_task *task;
    int on = 1;

    CHECK_INT(
        setsockopt(coil_datagram_fd(client), IPPROTO_IP, IP_RECVERR, &on, sizeof on), 0);
    coil_datagram_destroy(nobody);
    CHECK_INT(send_text(client, "x", &to_nobody), 1);
    CHECK_INT(coil_receive(client, t.buf, sizeof t.buf), -ECONNREFUSED);
    task = start(do_receive, &t);
    coil_stats_get(&before);
    coil_sleep(COIL_MSEC(50));
    coil_stats_get(&after);
    CHECK(after.polls - before.polls < 200);
    coil_task_cancel(task, NULL);
    finish_with(task, -ECANCELED);
    task = start(do_receive, &t);
    CHECK_INT(send_text(sender, "hello", &to_client), 5);
    finish_with(task, 5);
    coil_datagram_destroy(client);
    coil_datagram_destroy(sender);
}

IO_TEST(datagram_adopts_datagram_sockets_alone)
{
    coil_datagram *d = NULL;
    int stream = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), ends[2];

    CHECK_INT(coil_datagram_adopt(stream, &d), -EPROTOTYPE);
    CHECK(!(fcntl(stream, F_GETFL) & O_NONBLOCK));
    CHECK_INT(coil_datagram_adopt(-1, &d), -EBADF);
    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
    CHECK_INT(coil_datagram_adopt(ends[0], &d), -ENOTSOCK);
    close(ends[0]);
    close(ends[1]);
    close(stream);
}

/* ---- many at a time ---------------------------------------------------------------- */

#define MANY 40

static void fill(coil_message *messages, char data[][8], int count,
                 const coil_address *to)
{
    for (int i = 0; i < count; i++) {
        messages[i] = (coil_message){.data = data[i], .size = (size_t)i % 8};
        memset(data[i], 'a' + i % 26, 8);
        if (to != NULL)
            messages[i].address = *to;
    }
}

static int receive_all(coil_datagram *d, coil_message *messages, int count)
{
    int got = 0, n = 0;

    for (; got < count && n >= 0; got += n)
        n = coil_receive_batch(d, messages + got, count - got);
    return n < 0 ? n : got;
}

NET_TEST(datagram_batch_there_and_back)
{
    coil_datagram *server = open_at("127.0.0.1"),
                  *client = connect_to(server, "127.0.0.1");
    coil_address own = name_of(client);
    coil_message messages[MANY];
    char data[MANY][8];
    size_t total = 0;

    fill(messages, data, MANY, NULL);
    CHECK_INT(coil_send_batch(client, messages, MANY), MANY);
    fill(messages, data, MANY, NULL);
    for (int i = 0; i < MANY; i++)
        messages[i].size = 8;
    CHECK_INT(receive_all(server, messages, MANY), MANY);
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(coil_address_port(&messages[i].address), coil_address_port(&own));
        total += messages[i].received;
    }
    CHECK_INT(total, 5 * (0 + 1 + 2 + 3 + 4 + 5 + 6 + 7));
    /* Send the messages back to their senders, whose addresses they contain. */
    CHECK_INT(coil_send_batch(server, messages, 3), 3);
    CHECK_INT(receive_all(client, messages, 3), 3);
    CHECK_INT(coil_send_batch(client, messages, 0), 0);
    CHECK_INT(coil_send_batch(client, messages, -1), -EINVAL);
    CHECK_INT(coil_receive_batch(client, messages, 0), -EINVAL);
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

IO_TEST(datagram_batch_says_what_was_cut_off)
{
    coil_datagram *server = open_at("127.0.0.1"),
                  *client = connect_to(server, "127.0.0.1");
    coil_message messages[3];
    char data[3][8];

    for (int i = 0; i < 3; i++)
        CHECK_INT(coil_send(client, "0123456789", 10), 10);
    fill(messages, data, 3, NULL);
    CHECK_INT(receive_all(server, messages, 3), 3);
    for (int i = 0; i < 3; i++)
        CHECK_INT(messages[i].received, 10);
    CHECK(memcmp(data[2], "01c", 3) == 0);
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

IO_TEST(datagram_batch_stops_at_the_first_failure)
{
    coil_datagram *server = open_at("127.0.0.1"), *client = open_at("127.0.0.1");
    coil_address to = name_of(server);
    coil_message messages[4];
    char data[4][8], *large = calloc(1, 70000);

    fill(messages, data, 4, &to);
    messages[2].data = large;
    messages[2].size = 70000;
    CHECK_INT(coil_send_batch(client, messages, 4), 2);
    CHECK_INT(coil_send_batch(client, messages + 2, 2), -EMSGSIZE);
    CHECK_INT(coil_send_batch(client, messages + 3, 1), 1);
    free(large);
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

IO_TEST(datagram_batch_is_told_that_nobody_is_there)
{
    coil_datagram *server = open_at("127.0.0.1"),
                  *client = connect_to(server, "127.0.0.1");
    coil_message messages[2];
    char data[2][8];

    coil_datagram_destroy(server);
    fill(messages, data, 2, NULL);
    CHECK_INT(coil_send(client, "x", 1), 1);
    CHECK_INT(coil_send_batch(client, messages, 2), -ECONNREFUSED);
    CHECK(coil_send_batch(client, messages, 2) > 0);
    coil_datagram_destroy(client);
}

static int do_send_batch(void *arg)
{
    coil_message messages[MANY];
    char data[MANY][8];
    int sent = 0, n = 0;

    fill(messages, data, MANY, NULL);
    for (int i = 0; i < 50 && n >= 0; i++, sent += n)
        n = coil_send_batch(arg, messages, MANY);
    return n < 0 ? n : sent;
}

IO_TEST(datagram_batch_waits_for_room)
{
    coil_datagram *ends[2] = {NULL};
    coil_message messages[7];
    char data[7][8];
    coil_task *task = NULL;
    int fds[2];

    CHECK_INT(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(coil_datagram_adopt(fds[i], &ends[i]), 0);
    CHECK_INT(coil_spawn(do_send_batch, ends[0], NULL, &task), 0);
    fill(messages, data, 7, NULL);
    for (int got = 0, n; got < 50 * MANY; got += n) {
        n = coil_receive_batch(ends[1], messages, 7);
        CHECK(n > 0);
        if (n <= 0)
            break;
    }
    finish_with(task, 50 * MANY);
    coil_datagram_destroy(ends[0]);
    coil_datagram_destroy(ends[1]);
}

/* ---- when something runs out ------------------------------------------------------- */

IO_TEST(datagram_bears_every_failing_call)
{
    int failures = 0;

    for (unsigned n = 1, done = 0; !done; n++) {
        coil_datagram *server = NULL, *client = NULL;
        coil_message messages[2];
        char data[2][8];
        int rc;

        coil_testing_fail_system_call(n, 0);
        rc = coil_datagram_open("127.0.0.1", "0", 0, &server);
        CHECK((rc == 0) == (server != NULL));
        if (rc == 0)
            rc = coil_datagram_open_unix(NULL, &client);
        if (rc == 0) {
            coil_datagram_destroy(client);
            client = NULL;
            rc = coil_datagram_connect("127.0.0.1", "9", &client);
        }
        fill(messages, data, 2, NULL);
        if (rc == 0)
            rc = coil_send_batch(client, messages, 2);
        done = coil_testing_failed() == NULL;
        coil_testing_fail_system_call(0, 0);
        failures += rc < 0;
        if (done)
            CHECK_INT(rc, 2);
        coil_datagram_destroy(server);
        coil_datagram_destroy(client);
    }
    CHECK(failures > 5);
}

IO_TEST(datagram_bears_failing_allocations)
{
    coil_datagram *d = NULL;
    int rc = -ENOMEM;

    for (int n = 1; rc == -ENOMEM; n++) {
        test_fail_allocation(n);
        rc = coil_datagram_open("127.0.0.1", "0", 0, &d);
        test_fail_allocation(0);
    }
    CHECK_INT(rc, 0);
    coil_datagram_destroy(d);
}
