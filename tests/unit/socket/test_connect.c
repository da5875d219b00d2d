/*
 * test_connect.c - connecting to names with several addresses (RFC 8305). Some of the
 * tests are CPython's tests of create_connection().
 *
 * A listening socket with a full backlog acts as a host that does not answer, because
 * Linux drops further connection requests. The hosts have the IPv4 addresses 127.0.0.1,
 * 127.0.0.2, and so on, which all belong to this machine.
 */
#include "../../harness/harness.h"

#include "../names/name_server.h"
#include "sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- hosts that answer, and hosts that do not -------------------------------------- */

struct host {
    int fd, fillers[8];
    size_t filler_count;
};

static struct sockaddr_in loopback(const char *address, unsigned port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    inet_pton(AF_INET, address, &name.sin_addr);
    return name;
}

static unsigned port_of(int fd)
{
    struct sockaddr_in name;
    socklen_t length = sizeof name;

    getsockname(fd, (struct sockaddr *)&name, &length);
    return ntohs(name.sin_port);
}

/* Listen at `port`, or at any free port if `port` is 0. */
static unsigned open_host(struct host *host, const char *address, unsigned port)
{
    struct sockaddr_in name = loopback(address, port);

    memset(host, 0, sizeof *host);
    host->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(host->fd, (struct sockaddr *)&name, sizeof name), 0);
    CHECK_INT(listen(host->fd, 4096), 0);
    return port_of(host->fd);
}

/*
 * Fill the backlog. The attempts to connect beyond its capacity stay incomplete, because
 * the kernel drops the requests.
 */
static void make_deaf(struct host *host, const char *address)
{
    struct sockaddr_in name = loopback(address, port_of(host->fd));

    listen(host->fd, 0);
    while (host->filler_count < COUNT(host->fillers)) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        host->fillers[host->filler_count++] = fd;
        connect(fd, (struct sockaddr *)&name, sizeof name);
    }
}

/*
 * Listen at 127.0.0.2, on a port that refuses connections at 127.0.0.1 during the whole
 * test.
 */
static unsigned open_second_host(struct host *host)
{
    int refusing;
    unsigned port = take_refusing_port(&refusing);

    open_host(host, "127.0.0.2", port);
    host->fillers[host->filler_count++] = refusing;
    return port;
}

static void close_host(struct host *host)
{
    for (size_t i = 0; i < host->filler_count; i++)
        close(host->fillers[i]);
    close(host->fd);
}

/* Skip the test on systems that do not drop requests when the backlog is full. */
static void require_deaf(const struct host *host, const char *address)
{
    struct sockaddr_in name = loopback(address, port_of(host->fd));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error = 0;
    socklen_t length = sizeof error;
    coil_scope scope;
    int rc;

    connect(fd, (struct sockaddr *)&name, sizeof name);
    coil_scope_enter(&scope, coil_in(COIL_MSEC(100)));
    rc = coil_scope_exit(&scope, coil_wait_fd(fd, COIL_WRITABLE));
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    close(fd);
    if (rc != -ETIMEDOUT)
        test_skip("this system does not drop requests when the backlog is full");
}

static const char *peer_of(coil_stream *stream)
{
    static char text[INET6_ADDRSTRLEN];
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } name;
    socklen_t length = sizeof name;

    CHECK_INT(getpeername(coil_stream_fd(stream), &name.any, &length), 0);
    if (name.any.sa_family == AF_INET)
        return inet_ntop(AF_INET, &name.v4.sin_addr, text, sizeof text);
    return inet_ntop(AF_INET6, &name.v6.sin6_addr, text, sizeof text);
}

/* Connect to the host. Returns the peer's address, or the name of the error. */
static const char *connect_to(const char *host, unsigned port,
                              const coil_connect_options *opts)
{
    coil_stream *stream;
    char service[16];
    const char *text;
    int rc;

    snprintf(service, sizeof service, "%u", port);
    rc = coil_connect_opts(host, service, opts, &stream);
    if (rc < 0)
        return strerrorname_np(-rc);
    text = peer_of(stream);
    coil_stream_destroy(stream);
    return text;
}

static const char *last_message(void)
{
    return coil_last_error() != NULL ? coil_error_message(coil_last_error()) : "";
}

static const struct name_rule rules[] = {
    {"one.test", 'A', "127.0.0.1", .ttl = 60},
    {"two.test", 'A', "127.0.0.1", .ttl = 60},
    {"two.test", 'A', "127.0.0.2", .ttl = 60},
    {"both.test", 'A', "127.0.0.1", .ttl = 60},
    {"both.test", '6', "::1", .ttl = 60},
    {"late-six.test", 'A', "127.0.0.1", .ttl = 60},
    {"late-six.test", '6', "::1", .ttl = 60, .silent = true},
    {"late-four.test", 'A', "127.0.0.2", .ttl = 60, .delay_ms = 100},
    {"late-four.test", '6', "::1", .ttl = 60},
    {"soon-four.test", 'A', "127.0.0.2", .ttl = 60, .delay_ms = 10},
    {"soon-four.test", '6', "::1", .ttl = 60},
    {"nowhere.test", 'A', "127.0.0.1", .ttl = 60},
    {"nowhere.test", 'A', "255.255.255.255", .ttl = 60},
    {"silent.test", 0, .silent = true},
};

static struct name_server server;

static void begin(void)
{
    name_server_start(&server, rules, COUNT(rules));
    name_server_use(&server, NULL);
}

/* ---- which one --------------------------------------------------------------------- */

IO_TEST(connect_by_name)
{
    struct host host;
    unsigned port;

    begin();
    port = open_host(&host, "127.0.0.1", 0);
    CHECK_STR(connect_to("one.test", port, NULL), "127.0.0.1");
    CHECK_STR(connect_to("127.0.0.1", port, NULL), "127.0.0.1");
    close_host(&host);
    name_server_stop(&server);
}

IO_TEST(connect_goes_on_where_one_refuses)
{
    struct host host;
    unsigned port;

    begin();
    port = open_second_host(&host);
    CHECK_STR(connect_to("two.test", port, NULL), "127.0.0.2");
    CHECK_STR(connect_to("both.test", port, NULL), "ECONNREFUSED");
    close_host(&host);
    name_server_stop(&server);
}

IO_TEST(connect_does_not_wait_for_one_that_is_silent)
{
    coil_connect_options opts = {.attempt_delay_ns = COIL_MSEC(20)};
    struct host deaf, host;
    unsigned port;

    begin();
    port = open_host(&deaf, "127.0.0.1", 0);
    open_host(&host, "127.0.0.2", port);
    make_deaf(&deaf, "127.0.0.1");
    require_deaf(&deaf, "127.0.0.1");
    CHECK_STR(connect_to("two.test", port, &opts), "127.0.0.2");
    opts = (coil_connect_options){.attempt_delay_ns = COIL_NEVER,
                                  .attempt_timeout_ns = COIL_MSEC(20)};
    CHECK_STR(connect_to("two.test", port, &opts), "127.0.0.2");
    CHECK_STR(connect_to("one.test", port, &opts), "ETIMEDOUT");
    CHECK(strstr(last_message(), "Connection timed out"));
    close_host(&host);
    close_host(&deaf);
    name_server_stop(&server);
}

/*
 * If the query for IPv6 addresses is not answered, the first attempt over IPv4 begins 50
 * ms after the answer for IPv4.
 */
IO_TEST(connect_does_not_wait_long_for_the_other_family)
{
    struct host host;
    unsigned port;

    begin();
    port = open_host(&host, "127.0.0.1", 0);
    CHECK_STR(connect_to("late-six.test", port, NULL), "127.0.0.1");
    close_host(&host);
    name_server_stop(&server);
}

/* The IPv4 address arrives after the attempt to connect to ::1 has failed. */
IO_TEST(connect_takes_addresses_that_come_later)
{
    struct host host;
    unsigned port;

    begin();
    port = open_second_host(&host);
    CHECK_STR(connect_to("late-four.test", port, NULL), "127.0.0.2");
    close_host(&host);
    name_server_stop(&server);
}

IO_TEST(connect_prefers_ipv6)
{
    struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    struct host host;
    unsigned port;
    int fd, yes = 1;

    begin();
    port = open_host(&host, "127.0.0.1", 0);
    fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    name.sin6_port = htons((uint16_t)port);
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&name, sizeof name) < 0 || listen(fd, 4) < 0)
        test_skip("there is no ::1, or its port is taken");
    CHECK_STR(connect_to("both.test", port, NULL), "::1");
    CHECK_STR(connect_to("both.test", port, &(coil_connect_options){.family = AF_INET}),
              "127.0.0.1");
    CHECK_STR(connect_to("both.test", port, &(coil_connect_options){.family = AF_INET6}),
              "::1");
    close(fd);
    close_host(&host);
    name_server_stop(&server);
}

/* ---- local addresses --------------------------------------------------------------- */

IO_TEST(connect_from_a_local_address)
{
    coil_connect_options opts = {.local_host = "127.0.0.9"};
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    coil_stream *stream;
    struct host host;
    char port[16];

    begin();
    snprintf(port, sizeof port, "%u", open_host(&host, "127.0.0.1", 0));
    CHECK_INT(coil_connect_opts("both.test", port, &opts, &stream), 0);
    CHECK_INT(getsockname(coil_stream_fd(stream), (struct sockaddr *)&name, &length), 0);
    CHECK_INT(ntohl(name.sin_addr.s_addr), 0x7f000009);
    coil_stream_destroy(stream);
    opts.local_host = "::1";
    CHECK_INT(coil_connect_opts("one.test", port, &opts, &stream), -EADDRNOTAVAIL);
    opts.local_host = "localhost";
    CHECK_INT(coil_connect_opts("one.test", port, &opts, &stream), -EINVAL);
    close_host(&host);
    name_server_stop(&server);
}

/*
 * While the local port is in use, the attempt fails for each address, and the message
 * lists all attempts. Once the port is free, connecting succeeds.
 */
IO_TEST(connect_from_a_local_port)
{
    coil_connect_options opts = {.local_host = "127.0.0.9"};
    char port[16], local[16], expected[128];
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    struct host host, taken;
    coil_stream *stream;

    begin();
    snprintf(port, sizeof port, "%u", open_host(&host, "127.0.0.1", 0));
    snprintf(local, sizeof local, "%u", open_host(&taken, "127.0.0.9", 0));
    opts.local_port = local;
    CHECK_INT(coil_connect_opts("127.0.0.1", port, &opts, &stream), -EADDRINUSE);
    CHECK_INT(coil_connect_opts("two.test", port, &opts, &stream), -EADDRINUSE);
    snprintf(expected, sizeof expected,
             "connect to two.test:%s [127.0.0.1]: Address already in use; "
             "[127.0.0.2]: Address already in use",
             port);
    CHECK_STR(last_message(), expected);
    close_host(&taken);
    CHECK_INT(coil_connect_opts("127.0.0.1", port, &opts, &stream), 0);
    CHECK_INT(getsockname(coil_stream_fd(stream), (struct sockaddr *)&name, &length), 0);
    CHECK_INT(ntohs(name.sin_port), atoi(local));
    coil_stream_destroy(stream);
    close_host(&host);
    name_server_stop(&server);
}

TASK_TEST(connect_refuses_options_that_make_no_sense)
{
    static const coil_connect_options bad[] = {
        {.attempt_delay_ns = COIL_MSEC(9)},
        {.attempt_delay_ns = COIL_SEC(3)},
        {.attempt_delay_ns = -1},
        {.attempt_timeout_ns = -1},
        {.local_port = "http"},
    };
    coil_stream *stream;

    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK_INT(coil_connect_opts("127.0.0.1", "1", &bad[i], &stream), -EINVAL);
    CHECK_INT(coil_connect_opts("127.0.0.1", "1",
                                &(coil_connect_options){.family = AF_UNIX}, &stream),
              -EAFNOSUPPORT);
}

/* ---- failures ---------------------------------------------------------------------- */

IO_TEST(connect_says_what_it_tried)
{
    char expected[128];
    struct host host;
    unsigned port;

    begin();
    port = open_host(&host, "127.0.0.1", 0);
    close_host(&host);
    CHECK_STR(connect_to("127.0.0.1", port, NULL), "ECONNREFUSED");
    snprintf(expected, sizeof expected,
             "connect to 127.0.0.1:%u [127.0.0.1]: Connection refused", port);
    CHECK_STR(last_message(), expected);
    CHECK_STR(connect_to("two.test", port, NULL), "ECONNREFUSED");
    snprintf(expected, sizeof expected,
             "connect to two.test:%u [127.0.0.1]: Connection refused; "
             "[127.0.0.2]: Connection refused",
             port);
    CHECK_STR(last_message(), expected);
    /*
     * One address is unreachable, and the other refuses the connection: the refusal is
     * reported.
     */
    CHECK_STR(connect_to("nowhere.test", port, NULL), "ECONNREFUSED");
    CHECK_STR(connect_to("nobody.test", port, NULL), "ENOENT");
    CHECK(strstr(last_message(), "look-up of nobody.test: there is no such name"));
    name_server_stop(&server);
}

/* ---- cancelling -------------------------------------------------------------------- */

static int connect_task(void *arg)
{
    const char *text =
        connect_to("late-four.test", *(unsigned *)arg,
                   &(coil_connect_options){.attempt_delay_ns = COIL_MSEC(10)});

    if (strcmp(text, "ECANCELED") == 0)
        return -ECANCELED;
    return strcmp(text, "127.0.0.2") == 0 ? 0 : -EIO;
}

/*
 * Cancel the call during the look-up, during the first attempt, during several attempts,
 * and later.
 */
IO_TEST(connect_cancelled_in_every_state)
{
    struct host deaf;
    unsigned port;

    begin();
    port = open_host(&deaf, "127.0.0.2", 0);
    make_deaf(&deaf, "127.0.0.2");
    for (int ms = 0; ms < 160; ms += 20) {
        coil_task *task;
        int rc;

        coil_resolver_flush();
        CHECK_INT(coil_spawn(connect_task, &port, NULL, &task), 0);
        coil_sleep(COIL_MSEC(ms));
        coil_task_cancel(task, NULL);
        rc = coil_task_await(task);
        CHECK(rc == -ECANCELED || rc == 0);
        coil_task_release(task);
    }
    close_host(&deaf);
    name_server_stop(&server);
}

static int look_for_nobody(void *arg)
{
    coil_stream *stream;

    (void)arg;
    return coil_connect("silent.test", "80", &stream);
}

TASK_TEST(connect_cancelled_while_nobody_answers)
{
    coil_task *task;

    begin();
    CHECK_INT(coil_spawn(look_for_nobody, NULL, NULL, &task), 0);
    settle();
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
    name_server_stop(&server);
}

/* ---- what fails -------------------------------------------------------------------- */

static const char *last_peers[2];
static int64_t patience = COIL_SEC(2); /* time limit, including the look-up */

static int connect_twice(void *arg)
{
    unsigned port = *(unsigned *)arg;

    if (name_server_try(&server, &(coil_resolver_opts){.timeout_ns = patience}) < 0)
        return -EIO;
    last_peers[0] = connect_to("two.test", port, NULL);
    last_peers[1] = connect_to("both.test", port, NULL);
    return 0;
}

/*
 * Connect while the n-th system call or allocation fails, for n = 1, 2, ..., until there
 * are fewer and the result is the usual one. Returns the number of failures.
 */
static int fail_each(void (*fail)(uint64_t n), unsigned port)
{
    const char *usual[2];

    CHECK_INT(coil_testing_run(connect_twice, &port), 0);
    memcpy(usual, last_peers, sizeof usual);
    CHECK_STR(usual[0], "127.0.0.2");
    patience = COIL_MSEC(20);
    for (uint64_t n = 1;; n++) {
        int rc;

        fail(n);
        rc = coil_testing_run(connect_twice, &port);
        if (coil_testing_failed() != NULL)
            continue;
        CHECK_INT(rc, 0);
        if (patience < COIL_SEC(5) && (strcmp(last_peers[0], usual[0]) != 0 ||
                                       strcmp(last_peers[1], usual[1]) != 0)) {
            patience *= 4; /* the server was too slow, so try again */
            n--;
            continue;
        }
        CHECK_STR(last_peers[0], usual[0]);
        CHECK_STR(last_peers[1], usual[1]);
        fail(0);
        return (int)n - 1;
    }
}

static void fail_call(uint64_t n)
{
    coil_testing_fail_system_call(n, 0);
}

/* Connecting must end, whichever system call or allocation fails. */
TEST(connect_survives_what_fails)
{
    struct host host;
    unsigned port = open_second_host(&host);

    name_server_start(&server, rules, COUNT(rules));
    CHECK(fail_each(fail_call, port) > 20);
    CHECK(fail_each(coil_testing_fail_allocation, port) > 20);
    close_host(&host);
    name_server_stop(&server);
}

static const char *last_peer, *host_to_reach;

static int connect_once(void *arg)
{
    unsigned port = *(unsigned *)arg;

    if (name_server_try(&server, &(coil_resolver_opts){.timeout_ns = COIL_SEC(2)}) == 0)
        last_peer = connect_to(host_to_reach, port, NULL);
    return 0;
}

/*
 * Make each allocation fail in turn. The error must not be "refused", which would mean
 * that coil has tried every address.
 */
static void lack_memory_to_reach(const char *host, unsigned port)
{
    host_to_reach = host;
    for (uint64_t n = 1;; n++) {
        last_peer = "nowhere";
        coil_testing_fail_allocation(n);
        coil_testing_run(connect_once, &port);
        if (coil_testing_failed() == NULL)
            break;
        if (strcmp(last_peer, "ECONNREFUSED") == 0)
            printf("allocation %llu of %s\n", (unsigned long long)n, host);
        CHECK(strcmp(last_peer, "ECONNREFUSED") != 0);
    }
    coil_testing_fail_allocation(0);
    CHECK_STR(last_peer, "127.0.0.2");
}

TEST(connect_without_memory_for_an_attempt_does_not_say_that_the_host_refused)
{
    struct host host;
    unsigned port = open_second_host(&host);

    name_server_start(&server, rules, COUNT(rules));
    lack_memory_to_reach("two.test", port);
    lack_memory_to_reach("soon-four.test", port);
    close_host(&host);
    name_server_stop(&server);
}

/* ---- a socket that connects to itself ---------------------------------------------- */

enum { FIRST_PORT = 40000, PORTS = 4 };

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return written;
}

/*
 * Enter a new network namespace in which the kernel can choose from only a few local
 * ports.
 */
static bool make_small_network(void)
{
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    char range[32];
    int fd;
    bool up;

    if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        return false;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    up = ioctl(fd, SIOCSIFFLAGS, &loopback) == 0;
    close(fd);
    snprintf(range, sizeof range, "%d %d", FIRST_PORT, FIRST_PORT + PORTS - 1);
    return up && write_file("/proc/sys/net/ipv4/ip_local_port_range", range);
}

IO_TEST(connect_never_returns_a_socket_that_is_connected_to_itself)
{
    coil_listener *listener;
    coil_stream *stream, *peer;

    if (!make_small_network())
        test_skip("a network namespace requires privileges");
    for (int i = 0; i < 100; i++) {
        uint16_t port = (uint16_t)(FIRST_PORT + i % PORTS);

        CHECK_INT(coil_connect_port("127.0.0.1", port, &stream), -ECONNREFUSED);
        CHECK(stream == NULL);
        CHECK_INT(coil_connect_port("0.0.0.0", port, &stream), -ECONNREFUSED);
    }
    /*
     * Connecting to a listener succeeds, because the refused connections no longer use a
     * port.
     */
    CHECK_INT(coil_listen_port("127.0.0.1", FIRST_PORT + 1, 0, &listener), 0);
    CHECK_INT(coil_connect_port("127.0.0.1", FIRST_PORT + 1, &stream), 0);
    CHECK_INT(coil_accept(listener, &peer), 0);
    coil_stream_destroy(peer);
    coil_stream_destroy(stream);
    coil_listener_destroy(listener);
}

/* If the local port is the same as the target's port, the socket connects to itself. */
IO_TEST(connect_to_itself_on_purpose)
{
    coil_connect_options opts = {.local_host = "127.0.0.1"};
    coil_stream *stream;
    char port[8], byte;
    int fd;

    snprintf(port, sizeof port, "%u", take_refusing_port(&fd));
    close(fd);
    opts.local_port = port;
    CHECK_INT(coil_connect_opts("127.0.0.1", port, &opts, &stream), 0);
    CHECK_INT(coil_write(stream, "x", 1), 1);
    CHECK_INT(coil_read(stream, &byte, 1), 1);
    coil_stream_destroy(stream);
}
