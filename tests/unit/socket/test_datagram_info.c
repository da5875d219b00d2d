/*
 * test_datagram_info.c - the local address to which a datagram was sent, and choosing the
 * local address from which to send one.
 */
#include "sockets.h"

#include "../../harness/harness.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <unistd.h>

static coil_datagram *open_at(const char *host, unsigned flags)
{
    coil_datagram *d = NULL;

    CHECK_INT(coil_datagram_open(host, "0", flags, &d), 0);
    if (d == NULL)
        exit(EXIT_FAILURE);
    return d;
}

static bool have_v6(void)
{
    coil_datagram *d = NULL;
    int rc = coil_datagram_open("::1", "0", 0, &d);

    coil_datagram_destroy(d);
    return rc == 0;
}

/* Return an address with this host and the socket's port. */
static coil_address at_host(const coil_datagram *d, const char *host)
{
    coil_address name, out;

    CHECK_INT(coil_datagram_name(d, &name), 0);
    CHECK_INT(coil_address_of_numbers(host, coil_address_port(&name), &out), 0);
    return out;
}

static void check_address(const coil_address *address, const coil_datagram *d,
                          const char *host)
{
    char actual[COIL_ADDRESS_TEXT], expected[COIL_ADDRESS_TEXT];
    coil_address wanted = at_host(d, host);

    CHECK_STR(coil_address_format(address, actual, sizeof actual),
              coil_address_format(&wanted, expected, sizeof expected));
}

/*
 * Send a request to `host`. The answer must come from `host`, although the server is
 * bound to all addresses. The server's socket reports `host` as `seen`.
 */
static void ask(coil_datagram *server, coil_datagram *client, const char *host,
                const char *seen)
{
    coil_address to = at_host(server, host), from, answered;
    coil_datagram_info info;
    char buf[16];

    CHECK_INT(coil_send_to(client, "who?", 4, &to.any, to.length), 4);
    CHECK_INT(coil_receive_info(server, buf, sizeof buf, &from, &info), 4);
    CHECK_INT(coil_datagram_size(server), 4);
    check_address(&info.local, server, seen);
    CHECK_INT(info.interface, test_simulated() ? 1 : (int)if_nametoindex("lo"));
    CHECK_INT(coil_send_info(server, "me", 2, &from.any, from.length, &info), 2);
    CHECK_INT(coil_receive_from(client, buf, sizeof buf, &answered), 2);
    check_address(&answered, server, host);
}

static void ask_both(coil_datagram *server)
{
    coil_datagram *client = open_at("127.0.0.1", 0);

    ask(server, client, "127.0.0.1", "127.0.0.1");
    ask(server, client, "127.0.0.2", "127.0.0.2");
    ask(server, client, "127.0.0.1", "127.0.0.1");
    coil_datagram_destroy(client);
    coil_datagram_destroy(server);
}

NET_TEST(datagram_info_is_the_address_that_was_asked)
{
    ask_both(open_at("0.0.0.0", COIL_DATAGRAM_INFO));
}

/*
 * Without COIL_DATAGRAM_INFO, the first call makes the kernel attach the info to
 * datagrams, which may be too late for the first datagram.
 */
NET_TEST(datagram_info_needs_no_flag)
{
    coil_datagram *server = open_at("0.0.0.0", 0), *client = open_at("127.0.0.1", 0);
    coil_address to = at_host(server, "127.0.0.2");
    coil_datagram_info info;
    char buf[8];

    CHECK_INT(coil_send_to(client, "x", 1, &to.any, to.length), 1);
    CHECK_INT(coil_receive_info(server, buf, sizeof buf, NULL, &info), 1);
    coil_datagram_destroy(client);
    ask_both(server);
}

NET_TEST(datagram_info_of_ipv6_and_of_mapped_ipv4)
{
    if (!have_v6())
        test_skip("no IPv6");
    coil_datagram *server = open_at(NULL, COIL_DATAGRAM_INFO);
    coil_datagram *v4 = open_at("127.0.0.1", 0), *v6 = open_at("::1", 0);

    ask(server, v6, "::1", "::1");
    ask(server, v4, "127.0.0.2", "::ffff:127.0.0.2");
    ask(server, v4, "127.0.0.1", "::ffff:127.0.0.1");
    coil_datagram_destroy(v4);
    coil_datagram_destroy(v6);
    coil_datagram_destroy(server);
}

/*
 * The source address can also be chosen on a connected socket. An IPv6 socket accepts an
 * IPv4 address.
 */
NET_TEST(datagram_info_chooses_the_source)
{
    coil_datagram *server = open_at("127.0.0.1", 0), *client = open_at("0.0.0.0", 0);
    coil_datagram_info info = {.interface = 0};
    coil_address to = at_host(server, "127.0.0.1"), from;
    char buf[8];

    CHECK_INT(coil_send_info(client, "x", 1, &to.any, to.length, NULL), 1);
    CHECK_INT(coil_receive_from(server, buf, sizeof buf, &from), 1);
    check_address(&from, client, "127.0.0.1");
    CHECK_INT(coil_send_info(client, "x", 1, &to.any, to.length, &info), 1);
    CHECK_INT(coil_receive_from(server, buf, sizeof buf, &from), 1);
    check_address(&from, client, "127.0.0.1");
    CHECK_INT(coil_address_of_numbers("127.0.0.3", 9, &info.local), 0);
    CHECK_INT(coil_send_info(client, "x", 1, &to.any, to.length, &info), 1);
    CHECK_INT(coil_receive_from(server, buf, sizeof buf, &from), 1);
    check_address(&from, client, "127.0.0.3");
    info.interface = 1;
    CHECK_INT(coil_send_info(client, "x", 1, &to.any, to.length, &info), 1);
    CHECK_INT(coil_receive(server, buf, sizeof buf), 1);
    coil_datagram_destroy(client);
    if (have_v6()) {
        client = open_at(NULL, 0);
        CHECK_INT(
            coil_address_of_numbers("::ffff:127.0.0.1", coil_address_port(&to), &to), 0);
        CHECK_INT(coil_send_info(client, "x", 1, &to.any, to.length, &info), 1);
        CHECK_INT(coil_receive_from(server, buf, sizeof buf, &from), 1);
        check_address(&from, client, "127.0.0.3");
        info.local.length = 0; /* choose only the interface */
        CHECK_INT(coil_send_info(client, "x", 1, &to.any, to.length, &info), 1);
        CHECK_INT(coil_receive(server, buf, sizeof buf), 1);
        coil_datagram_destroy(client);
    }
    coil_datagram_destroy(server);
}

NET_TEST(datagram_info_that_is_wrong_is_refused)
{
    coil_datagram *d = open_at("127.0.0.1", 0);
    coil_datagram_info info = {.interface = 1u << 20};
    coil_address to = at_host(d, "127.0.0.1");
    coil_message messages[2] = {
        {.data = (char[]){"x"}, .size = 1, .address = to},
        {.data = (char[]){"y"}, .size = 1, .address = to, .info = &info}};

    CHECK_INT(coil_send_info(d, "x", 1, &to.any, to.length, &info), -ENODEV);
    info = (coil_datagram_info){.interface = 0};
    CHECK_INT(coil_address_of_numbers("::1", 0, &info.local), 0);
    CHECK_INT(coil_send_info(d, "x", 1, &to.any, to.length, &info), -EAFNOSUPPORT);
    CHECK_INT(coil_send_batch(d, messages, 2), 1);
    CHECK_INT(coil_send_batch(d, messages + 1, 1), -EAFNOSUPPORT);
    CHECK_INT(coil_address_of_path("@name", &info.local), 0);
    CHECK_INT(coil_send_info(d, "x", 1, &to.any, to.length, &info), -EAFNOSUPPORT);
    coil_datagram_destroy(d);
    if (have_v6()) {
        d = open_at("::1", 0);
        to = at_host(d, "::1");
        CHECK_INT(coil_send_info(d, "x", 1, &to.any, to.length, &info), -EAFNOSUPPORT);
        coil_datagram_destroy(d);
    }
}

IO_TEST(datagram_info_of_a_foreign_address_is_refused)
{
    coil_datagram *d = open_at("0.0.0.0", 0);
    coil_datagram_info info = {.interface = 0};
    coil_address to = at_host(d, "127.0.0.1");
    ssize_t rc;

    CHECK_INT(coil_address_of_numbers("192.0.2.1", 0, &info.local), 0);
    rc = coil_send_info(d, "x", 1, &to.any, to.length, &info);
    CHECK(rc == -EINVAL || rc == -ENETUNREACH);
    coil_datagram_destroy(d);
}

/* In a batch, each message may have its own info. */
NET_TEST(datagram_info_of_batches)
{
    static const char *const hosts[] = {"127.0.0.1", "127.0.0.2", "127.0.0.3"};
    coil_datagram *server = open_at("0.0.0.0", COIL_DATAGRAM_INFO);
    coil_datagram *client = open_at("127.0.0.1", 0);
    coil_datagram_info infos[3];
    coil_message messages[3] = {{.size = 0}};
    char data[3][8];
    int n = 0, got = 0;

    for (int i = 0; i < 3; i++) {
        messages[i] = (coil_message){.data = data[i],
                                     .size = (size_t)(i + 1),
                                     .address = at_host(server, hosts[i])};
        memset(data[i], '0' + i, sizeof data[i]);
    }
    CHECK_INT(coil_send_batch(client, messages, 3), 3);
    for (int i = 0; i < 3; i++) {
        messages[i] = (coil_message){.data = data[i], .size = 8, .info = &infos[i]};
        infos[i].interface = 99;
    }
    for (; got < 3 && n >= 0; got += n)
        n = coil_receive_batch(server, messages + got, 3 - got);
    for (int i = 0; i < 3; i++) {
        messages[i].size = messages[i].received;
        check_address(&infos[i].local, server, hosts[messages[i].received - 1]);
        CHECK(infos[i].interface != 99);
    }
    messages[2].info = NULL;
    CHECK_INT(coil_send_batch(server, messages, 3), 3);
    for (int i = 0; i < 3; i++) {
        coil_address from;
        ssize_t size = coil_receive_from(client, data[0], sizeof data[0], &from);

        CHECK(size >= 1 && size <= 3);
        if (size == (ssize_t)messages[2].size)
            check_address(&from, server, "127.0.0.1");
        else
            check_address(&from, server, hosts[size - 1]);
    }
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

/*
 * If other options fill the space for control data, the info is missing, but the datagram
 * is complete.
 */
IO_TEST(datagram_info_may_be_cut_off)
{
    coil_datagram *server = open_at("127.0.0.1", COIL_DATAGRAM_INFO);
    coil_datagram *client = open_at("127.0.0.1", 0);
    coil_address to = at_host(server, "127.0.0.1");
    coil_datagram_info info = {.interface = 99};
    int on = 1, stamps = 1 << 3 | 1 << 4; /* SOF_TIMESTAMPING_RX_SOFTWARE, _SOFTWARE */
    char buf[8];

    CHECK_INT(
        coil_datagram_set_option(server, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on), 0);
    CHECK_INT(coil_send_to(client, "x", 1, &to.any, to.length), 1);
    CHECK_INT(coil_receive_info(server, buf, sizeof buf, NULL, &info), 1);
    check_address(&info.local, server, "127.0.0.1");
    CHECK_INT(coil_datagram_set_option(server, SOL_SOCKET, SO_TIMESTAMPING, &stamps,
                                       sizeof stamps),
              0);
    CHECK_INT(coil_send_to(client, "xyz", 3, &to.any, to.length), 3);
    info.interface = 99;
    CHECK_INT(coil_receive_info(server, buf, sizeof buf, NULL, &info), 3);
    CHECK_INT(info.local.length, 0);
    CHECK_INT(info.interface, 0);
    CHECK(memcmp(buf, "xyz", 3) == 0);
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

NET_TEST(datagram_info_of_a_datagram_that_is_larger_than_the_buffer)
{
    coil_datagram *server = open_at("0.0.0.0", COIL_DATAGRAM_INFO);
    coil_datagram *client = open_at("127.0.0.1", 0);
    coil_address to = at_host(server, "127.0.0.2");
    coil_datagram_info info;
    char buf[8];

    CHECK_INT(coil_send_to(client, "0123456789", 10, &to.any, to.length), 10);
    CHECK_INT(coil_receive_info(server, buf, 4, NULL, &info), -EMSGSIZE);
    CHECK_INT(coil_datagram_size(server), 10);
    check_address(&info.local, server, "127.0.0.2");
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

/*
 * Datagrams of local sockets have no info. If a peer sends descriptors with a datagram,
 * they must be closed.
 */
IO_TEST(datagram_info_of_local_sockets)
{
    coil_datagram *ends[2] = {NULL};
    coil_datagram_info info = {.interface = 99};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.head = {.cmsg_level = SOL_SOCKET,
                          .cmsg_type = SCM_RIGHTS,
                          .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct iovec part = {(char[]){"x"}, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    int fds[2], none = 0;
    char buf[8];

    CHECK_INT(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(coil_datagram_adopt(fds[i], &ends[i]), 0);
    memcpy(CMSG_DATA(&control.head), &none, sizeof none);
    CHECK_INT(sendmsg(fds[0], &message, 0), 1);
    CHECK_INT(coil_receive_info(ends[1], buf, sizeof buf, NULL, &info), 1);
    CHECK_INT(info.local.length, 0);
    CHECK_INT(info.interface, 0);
    CHECK_INT(coil_send_info(ends[0], "x", 1, NULL, 0, &info), 1);
    info.interface = 1;
    CHECK_INT(coil_send_info(ends[0], "x", 1, NULL, 0, &info), -EOPNOTSUPP);
    coil_datagram_destroy(ends[0]);
    coil_datagram_destroy(ends[1]);
}

/* ---- waiting, cancelling, failing -------------------------------------------------- */

static int do_receive(void *arg)
{
    coil_datagram_info info;
    char buf[8];
    ssize_t n = coil_receive_info(arg, buf, sizeof buf, NULL, &info);

    if (n > 0)
        check_address(&info.local, arg, "127.0.0.2");
    return (int)n;
}

NET_TEST(datagram_info_receive_that_is_cancelled_loses_nothing)
{
    coil_datagram *server = open_at("0.0.0.0", 0), *client = open_at("127.0.0.1", 0);
    coil_address to = at_host(server, "127.0.0.2");
    coil_task *tasks[3];

    for (int i = 0; i < 3; i++)
        CHECK_INT(coil_spawn(do_receive, server, NULL, &tasks[i]), 0);
    settle();
    coil_task_cancel(tasks[0], NULL); /* this task waits for the datagram */
    coil_task_cancel(tasks[2], NULL); /* this task waits for its turn */
    finish_cancelled(tasks[0]);
    finish_cancelled(tasks[2]);
    CHECK_INT(coil_send_to(client, "abc", 3, &to.any, to.length), 3);
    CHECK_INT(coil_task_await(tasks[1]), 3);
    coil_task_release(tasks[1]);
    CHECK_INT(coil_spawn(do_receive, server, NULL, &tasks[0]), 0);
    settle();
    coil_datagram_close(server);
    CHECK_INT(coil_task_await(tasks[0]), -EBADF);
    coil_task_release(tasks[0]);
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

static int exchange(void)
{
    coil_datagram *server = NULL, *client = NULL;
    coil_datagram_info info;
    coil_address to, from;
    char buf[8];
    ssize_t rc = coil_datagram_open("127.0.0.1", "0", COIL_DATAGRAM_INFO, &server);

    if (rc == 0)
        rc = coil_datagram_open("127.0.0.1", "0", 0, &client);
    if (rc == 0)
        rc = coil_datagram_name(server, &to);
    if (rc == 0)
        rc = coil_send_to(client, "x", 1, &to.any, to.length);
    if (rc == 1)
        rc = coil_receive_info(server, buf, sizeof buf, &from, &info);
    if (rc == 1)
        rc = coil_send_info(server, "x", 1, &from.any, from.length, &info);
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
    return (int)rc;
}

IO_TEST(datagram_info_bears_every_failing_call)
{
    int failures = 0;

    for (unsigned n = 1, done = 0; !done; n++) {
        int rc;

        coil_testing_fail_system_call(n, 0);
        rc = exchange();
        done = coil_testing_failed() == NULL;
        coil_testing_fail_system_call(0, 0);
        failures += rc < 0;
        CHECK(rc < 0 || rc == 1);
    }
    CHECK(failures > 3);
}

NET_TEST(datagram_info_bears_failing_allocations)
{
    int rc = -ENOMEM;

    for (int n = 1; rc == -ENOMEM || rc == -ENOBUFS; n++) {
        test_fail_allocation(n);
        rc = exchange();
        test_fail_allocation(0);
    }
    CHECK_INT(rc, 1);
}
