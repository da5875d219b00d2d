/*
 * test_addrinfo.c - looking up names and addresses with the C library, and parsing
 * numeric addresses.
 */
#include "../../harness/harness.h"

#include "name_server.h"
#include "../socket/sockets.h"

#include <arpa/inet.h>
#include <coil/testing.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct addrinfo tcp = {.ai_socktype = SOCK_STREAM};

/*
 * With these hints, "localhost" is always resolved by the C library. With other hints,
 * coil resolves "localhost" itself.
 */
static const struct addrinfo mapped = {
    .ai_socktype = SOCK_STREAM, .ai_family = AF_INET6, .ai_flags = AI_V4MAPPED};

TASK_TEST(addrinfo_answers_numbers_at_once)
{
    struct addrinfo *list;

    CHECK_INT(coil_getaddrinfo("192.0.2.7", "80", &tcp, &list), 0);
    CHECK_INT(list->ai_family, AF_INET);
    CHECK_INT(ntohs(((struct sockaddr_in *)(void *)list->ai_addr)->sin_port), 80);
    freeaddrinfo(list);
    CHECK_INT(coil_getaddrinfo("::1", NULL, &tcp, &list), 0);
    CHECK_INT(list->ai_family, AF_INET6);
    freeaddrinfo(list);
    CHECK_INT(coil_getaddrinfo(NULL, "80", &tcp, &list), 0);
    freeaddrinfo(list);
}

/*
 * Look up a host. Returns the family and type of the result, such as "4 tcp", or the
 * error.
 */
static const char *kind_of(const char *host, int family, int type)
{
    struct addrinfo hints = {.ai_family = family, .ai_socktype = type};
    struct addrinfo *list;
    static char text[16];
    int rc = coil_getaddrinfo(host, "1", &hints, &list);

    if (rc < 0)
        return strerrorname_np(-rc);
    CHECK(list->ai_next == NULL && list->ai_socktype == type);
    snprintf(text, sizeof text, "%s %s", list->ai_family == AF_INET ? "4" : "6",
             list->ai_protocol == IPPROTO_TCP ? "tcp" : "udp");
    freeaddrinfo(list);
    return text;
}

TASK_TEST(addrinfo_of_numbers_follows_the_hints)
{
    CHECK_STR(kind_of("192.0.2.7", AF_INET, SOCK_STREAM), "4 tcp");
    CHECK_STR(kind_of("192.0.2.7", AF_UNSPEC, SOCK_DGRAM), "4 udp");
    CHECK_STR(kind_of("2001:db8::7", AF_INET6, SOCK_DGRAM), "6 udp");
    CHECK_STR(kind_of("2001:db8::7", AF_UNSPEC, SOCK_STREAM), "6 tcp");
    CHECK_STR(kind_of("192.0.2.7", AF_INET6, SOCK_STREAM), "EAFNOSUPPORT");
    CHECK_STR(kind_of("2001:db8::7", AF_INET, SOCK_STREAM), "EAFNOSUPPORT");
}

TASK_TEST(addrinfo_looks_up_names_on_a_thread)
{
    struct addrinfo *list;

    if (test_under_valgrind())
        test_skip("valgrind reports memory that glibc keeps per thread as leaked");
    CHECK_INT(coil_getaddrinfo("localhost", "80", &mapped, &list), 0);
    CHECK_INT(list->ai_family, AF_INET6);
    freeaddrinfo(list);
    CHECK_INT(coil_getaddrinfo("localhost", NULL, NULL, &list), 0);
    freeaddrinfo(list);
}

TASK_TEST(addrinfo_fails_with_errnos)
{
    struct addrinfo numeric = tcp, bad = tcp, foreign = tcp;
    struct addrinfo *list;

    numeric.ai_flags = AI_NUMERICHOST;
    bad.ai_flags = 1 << 30;
    foreign.ai_family = AF_UNIX;
    CHECK_INT(coil_getaddrinfo("localhost", "80", &numeric, &list), -ENOENT);
    CHECK_INT(coil_getaddrinfo("127.0.0.1", "no-such-service", &tcp, &list), -ENOENT);
    CHECK_INT(coil_getaddrinfo(NULL, NULL, &tcp, &list), -ENOENT);
    CHECK_INT(coil_getaddrinfo("127.0.0.1", "80", &bad, &list), -EINVAL);
    CHECK_INT(coil_getaddrinfo("127.0.0.1", "80", &foreign, &list), -EAFNOSUPPORT);
}

/* The C library reports a service that does not exist if it cannot open services(5). */
TASK_TEST(addrinfo_without_descriptors)
{
    struct addrinfo *list;
    int before;

    CHECK_INT(coil_resolver_configure(&(coil_resolver_opts){.engine = "getaddrinfo"}), 0);
    before = limit_descriptors(0);
    CHECK_INT(coil_getaddrinfo("127.0.0.1", "http", &tcp, &list), -EMFILE);
    CHECK_PTR(list, NULL);
    CHECK_INT(coil_getaddrinfo("any.test", "80", &tcp, &list), -EMFILE);
    restore_descriptors(before);
    CHECK_INT(coil_getaddrinfo("127.0.0.1", "no-such-service", &tcp, &list), -ENOENT);
}

TASK_TEST(addrinfo_of_an_invalid_port)
{
    static const char *const bad[] = {
        "99999", "65536",      "-1",  "+80",   " 80",  "80 ",  "",
        "8 0",   "4294967376", "80:", "65616", "\t80", "80\n", "18446744073709551696"};
    struct addrinfo *list;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char expected[96];

        snprintf(expected, sizeof expected,
                 "'%s' is not a port: use 0 to 65535, or the name of a service", bad[i]);
        CHECK_INT(coil_getaddrinfo("127.0.0.1", bad[i], &tcp, &list), -EINVAL);
        CHECK_STR(coil_error_message(coil_last_error()), expected);
        CHECK_INT(coil_getaddrinfo("localhost", bad[i], &tcp, &list), -EINVAL);
        CHECK_INT(coil_getaddrinfo(NULL, bad[i], NULL, &list), -EINVAL);
    }
    CHECK_INT(coil_getaddrinfo("127.0.0.1", "0x50", &tcp, &list), -ENOENT);
    CHECK_INT(coil_getaddrinfo("127.0.0.1", "80th", &tcp, &list), -ENOENT);
}

TASK_TEST(addrinfo_of_the_first_and_last_port)
{
    static const char *const good[] = {"0", "65535", "0000080"};
    static const unsigned ports[] = {0, 65535, 80};
    struct addrinfo *list;

    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(coil_getaddrinfo("127.0.0.1", good[i], &tcp, &list), 0);
        CHECK_INT(ntohs(((struct sockaddr_in *)(void *)list->ai_addr)->sin_port),
                  ports[i]);
        freeaddrinfo(list);
    }
}

/*
 * The name is longer than 255 bytes, and must not be truncated: the result would be a
 * numeric address of this machine (CVE-2024-24806).
 */
TASK_TEST(addrinfo_of_a_name_that_is_too_long_is_not_cut_off)
{
    char name[300] = "0x";
    struct addrinfo *list;

    if (test_under_valgrind())
        test_skip("valgrind reports memory that glibc keeps per thread as leaked");
    memset(name + 2, '0', 246);
    strcpy(name + 248, "7f000001.example.com");
    CHECK(coil_getaddrinfo(name, "80", &tcp, &list) < 0);
    name[248 + 8] = '\0';
    /* the truncated name would be a numeric address */
    CHECK_INT(coil_getaddrinfo(name, "80", &tcp, &list), 0);
    freeaddrinfo(list);
}

static int resolve(void *arg)
{
    struct addrinfo *list;
    int rc = coil_getaddrinfo("localhost", "80", &mapped, &list);

    (void)arg;
    if (rc == 0)
        freeaddrinfo(list);
    return rc;
}

/* Cancel a look-up at each stage. */
static void cancel_at_each_stage(int (*look_up)(void *arg))
{
    if (test_under_valgrind())
        test_skip("valgrind reports memory that glibc keeps per thread as leaked");
    for (int stage = 0; stage < 12; stage++) {
        coil_task *task;
        int rc;

        CHECK_INT(coil_spawn(look_up, NULL, NULL, &task), 0);
        for (int i = 0; i < stage / 3; i++)
            coil_yield();
        usleep((useconds_t)(stage % 3 * 200));
        coil_task_cancel(task, NULL);
        rc = coil_task_await(task);
        CHECK(rc == -ECANCELED || rc == 0);
        coil_task_release(task);
    }
}

TASK_TEST(addrinfo_cancelled)
{
    cancel_at_each_stage(resolve);
}

/* ---- zones ------------------------------------------------------------------------- */

/*
 * Return the zone of a numeric address. A zone is "%" and the name or number of an
 * interface. (RFC 4007, 11)
 */
static uint32_t zone_of(const char *host)
{
    struct addrinfo *list;
    uint32_t zone;

    CHECK_INT(coil_getaddrinfo(host, "80", &tcp, &list), 0);
    CHECK_INT(list->ai_family, AF_INET6);
    zone = ((struct sockaddr_in6 *)(void *)list->ai_addr)->sin6_scope_id;
    freeaddrinfo(list);
    return zone;
}

TASK_TEST(addrinfo_of_zones)
{
    struct addrinfo numeric = tcp;
    struct addrinfo *list;

    numeric.ai_flags = AI_NUMERICHOST;
    CHECK_INT(zone_of("fe80::1%lo"), if_nametoindex("lo"));
    CHECK_INT(zone_of("ff02::1%lo"), if_nametoindex("lo"));
    CHECK_INT(zone_of("fe80::1%7"), 7);
    CHECK_INT(zone_of("fe80::1"), 0);
    CHECK_INT(coil_getaddrinfo("fe80::1%nowhere", "80", &numeric, &list), -ENOENT);
    CHECK_INT(coil_getaddrinfo("fe80::1%", "80", &numeric, &list), -ENOENT);
    CHECK_INT(coil_getaddrinfo("127.0.0.1%lo", "80", &numeric, &list), -ENOENT);
}

/* ---- a network of the test's own --------------------------------------------------- */

/* Enter a new network namespace, whose only interface is loopback, and bring it up. */
static void enter_own_network(void)
{
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    int fd;

    if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        test_skip("network namespaces are not available here");
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
        test_skip("the loopback interface cannot be brought up here");
    close(fd);
}

static void add_v4(const char *address)
{
    struct ifreq alias = {.ifr_name = "lo:1"};
    struct sockaddr_in *name = (void *)&alias.ifr_addr;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    name->sin_family = AF_INET;
    CHECK_INT(inet_pton(AF_INET, address, &name->sin_addr), 1);
    CHECK_INT(ioctl(fd, SIOCSIFADDR, &alias), 0);
    close(fd);
}

static void add_v6(const char *address)
{
    /* The kernel's struct in6_ifreq, whose header conflicts with the C library's. */
    struct {
        struct in6_addr address;
        uint32_t prefix_bits;
        int interface;
        /* zeroes the padding, which Valgrind checks */
        char unused[sizeof(struct ifreq) - 24];
    } request = {.prefix_bits = 64, .interface = (int)if_nametoindex("lo")};
    struct sockaddr_in6 name = {.sin6_family = AF_INET6,
                                .sin6_scope_id = if_nametoindex("lo")};
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        test_skip("no IPv6 here");
    CHECK_INT(inet_pton(AF_INET6, address, &request.address), 1);
    if (ioctl(fd, SIOCSIFADDR, &request) < 0)
        test_skip("IPv6 is disabled here");
    /* Wait until the address is usable. */
    name.sin6_addr = request.address;
    while (bind(fd, (struct sockaddr *)&name, sizeof name) < 0)
        usleep(1000);
    close(fd);
}

IO_TEST(addrinfo_with_a_zone_is_connected_to)
{
    coil_listener *listener;
    coil_stream *ours, *theirs;
    char port[8];

    enter_own_network();
    add_v6("fe80::7");
    CHECK_INT(coil_listen("fe80::7%lo", "0", 0, &listener), 0);
    snprintf(port, sizeof port, "%u", coil_listener_port(listener));
    CHECK_INT(coil_connect("fe80::7%lo", port, &ours), 0);
    CHECK_INT(coil_accept(listener, &theirs), 0);
    coil_stream_destroy(ours);
    coil_stream_destroy(theirs);
    coil_listener_destroy(listener);
}

static const struct name_rule rules[] = {
    {"both.test", 'A', "192.0.2.2", .ttl = 60},
    {"both.test", '6', "2001:db8::2", .ttl = 60},
};

/* Return the families of the host's addresses: "v4", "v6" or "v4 v6". */
static const char *families_of(const char *host, const struct addrinfo *hints)
{
    bool v4 = false, v6 = false;
    struct addrinfo *list;

    coil_resolver_flush();
    CHECK_INT(coil_getaddrinfo(host, "80", hints, &list), 0);
    for (const struct addrinfo *a = list; a != NULL; a = a->ai_next) {
        v4 = v4 || a->ai_family == AF_INET;
        v6 = v6 || a->ai_family == AF_INET6;
    }
    freeaddrinfo(list);
    return v4 && v6 ? "v4 v6" : v4 ? "v4" : v6 ? "v6" : "";
}

/*
 * Check AI_ADDRCONFIG, which is also the default without hints: only families for which
 * the machine has an address other than loopback are returned, or both families if there
 * are no such addresses.
 */
static void check_families(const char *configured)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};

    CHECK_STR(families_of("both.test", NULL), configured);
    CHECK_STR(families_of("both.test", &hints), configured);
    CHECK_STR(families_of("both.test", &tcp), "v4 v6");
    /* AI_ADDRCONFIG has no effect on numeric addresses, nor with an explicit family. */
    hints.ai_family = AF_INET;
    CHECK_STR(families_of("both.test", &hints), "v4");
    CHECK_STR(families_of("127.0.0.1", &hints), "v4");
    hints.ai_family = AF_INET6;
    CHECK_STR(families_of("both.test", &hints), "v6");
    CHECK_STR(families_of("::1", &hints), "v6");
}

TASK_TEST(addrinfo_leaves_out_families_that_are_not_configured)
{
    struct name_server server;

    enter_own_network();
    name_server_start(&server, rules, COUNT(rules));
    name_server_use(&server, NULL);
    check_families("v4 v6");
    add_v4("192.0.2.9");
    check_families("v4");
    add_v6("2001:db8::9");
    check_families("v4 v6");
    name_server_stop(&server);
}

TASK_TEST(addrinfo_leaves_out_ipv4_where_it_is_not_configured)
{
    struct name_server server;

    enter_own_network();
    name_server_start(&server, rules, COUNT(rules));
    name_server_use(&server, NULL);
    add_v6("2001:db8::9");
    check_families("v6");
    name_server_stop(&server);
}

/* ---- addresses into names ---------------------------------------------------------- */

static coil_address loopback(uint16_t port)
{
    return (coil_address){.length = sizeof(struct sockaddr_in),
                          .v4 = {.sin_family = AF_INET,
                                 .sin_port = htons(port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
}

TASK_TEST(nameinfo_writes_numbers_at_once)
{
    coil_address a = loopback(80);
    char host[NI_MAXHOST], service[NI_MAXSERV];
    coil_no_suspend region;

    coil_no_suspend_enter(&region, "numbers are known");
    CHECK_INT(coil_getnameinfo(&a.any, a.length, host, sizeof host, service,
                               sizeof service, NI_NUMERICHOST | NI_NUMERICSERV),
              0);
    CHECK_STR(host, "127.0.0.1");
    CHECK_STR(service, "80");
    host[0] = service[0] = '\0';
    CHECK_INT(
        coil_getnameinfo(&a.any, a.length, host, sizeof host, NULL, 0, NI_NUMERICHOST),
        0);
    CHECK_STR(host, "127.0.0.1");
    CHECK_INT(coil_getnameinfo(&a.any, a.length, NULL, 0, service, sizeof service,
                               NI_NUMERICSERV),
              0);
    CHECK_STR(service, "80");
    coil_no_suspend_exit(&region);
}

TASK_TEST(nameinfo_writes_zones)
{
    coil_address a = {.length = sizeof a.v6, .v6 = {.sin6_family = AF_INET6}};
    char host[NI_MAXHOST];

    CHECK_INT(inet_pton(AF_INET6, "fe80::1", &a.v6.sin6_addr), 1);
    a.v6.sin6_scope_id = if_nametoindex("lo");
    CHECK_INT(
        coil_getnameinfo(&a.any, a.length, host, sizeof host, NULL, 0, NI_NUMERICHOST),
        0);
    CHECK_STR(host, "fe80::1%lo");
    CHECK_INT(zone_of(host), a.v6.sin6_scope_id);
}

/* Check that coil and the C library return the same host and service names. */
static void check_names(const coil_address *a, int flags)
{
    char host[NI_MAXHOST], service[NI_MAXSERV];
    char their_host[NI_MAXHOST], their_service[NI_MAXSERV];

    CHECK_INT(getnameinfo(&a->any, a->length, their_host, sizeof their_host,
                          their_service, sizeof their_service, flags),
              0);
    CHECK_INT(coil_getnameinfo(&a->any, a->length, host, sizeof host, service,
                               sizeof service, flags),
              0);
    CHECK_STR(host, their_host);
    CHECK_STR(service, their_service);
    host[0] = service[0] = '\0';
    CHECK_INT(coil_getnameinfo(&a->any, a->length, host, sizeof host, NULL, 0, flags), 0);
    CHECK_STR(host, their_host);
    CHECK_INT(
        coil_getnameinfo(&a->any, a->length, NULL, 0, service, sizeof service, flags), 0);
    CHECK_STR(service, their_service);
}

TASK_TEST(nameinfo_looks_up_names_on_a_thread)
{
    coil_address http = loopback(80), exec = loopback(512);

    if (test_under_valgrind())
        test_skip("valgrind reports memory that glibc keeps per thread as leaked");
    check_names(&http, 0);
    check_names(&http, NI_NUMERICHOST);
    check_names(&http, NI_NUMERICSERV);
    check_names(&exec, 0);
    check_names(&exec, NI_DGRAM); /* another service uses this port over UDP */
}

TASK_TEST(nameinfo_fails_with_errnos)
{
    int numbers = NI_NUMERICHOST | NI_NUMERICSERV;
    coil_address a = loopback(80), none = {.length = sizeof none.v4};
    char host[NI_MAXHOST] = "", service[NI_MAXSERV] = "";

    CHECK_INT(coil_getnameinfo(&a.any, a.length, host, 9, NULL, 0, numbers), -EMSGSIZE);
    CHECK(strstr(coil_error_message(coil_last_error()), "look-up of an address"));
    CHECK_INT(coil_getnameinfo(&a.any, a.length, NULL, 0, service, 2, numbers),
              -EMSGSIZE);
    CHECK_STR(host, "");
    CHECK_STR(service, "");
    CHECK_INT(coil_getnameinfo(&a.any, a.length, host, 10, service, 3, numbers), 0);
    CHECK_INT(coil_getnameinfo(&a.any, a.length, host, sizeof host, NULL, 0,
                               NI_NAMEREQD | NI_NUMERICHOST),
              -ENOENT);
    CHECK_INT(
        coil_getnameinfo(&a.any, a.length, host, sizeof host, NULL, 0, 1 << 30 | numbers),
        -EINVAL);
    CHECK_INT(coil_getnameinfo(&a.any, 1, host, sizeof host, NULL, 0, numbers), -EINVAL);
    CHECK_INT(coil_getnameinfo(&a.any, sizeof a.storage + 1, host, sizeof host, NULL, 0,
                               numbers),
              -EINVAL);
    CHECK_INT(coil_getnameinfo(&a.any, a.length - 1, host, sizeof host, NULL, 0, numbers),
              -EAFNOSUPPORT);
    CHECK_INT(
        coil_getnameinfo(&none.any, none.length, host, sizeof host, NULL, 0, numbers),
        -EAFNOSUPPORT);
}

TASK_TEST(nameinfo_survives_what_fails)
{
    coil_address a = loopback(80);
    char host[NI_MAXHOST];

    coil_testing_fail_allocation(1);
    CHECK_INT(
        coil_getnameinfo(&a.any, a.length, host, sizeof host, NULL, 0, NI_NUMERICHOST),
        -ENOMEM);
    coil_testing_fail_allocation(0);
    coil_testing_fail_system_call(1, 0);
    CHECK_INT(
        coil_getnameinfo(&a.any, a.length, host, sizeof host, NULL, 0, NI_NUMERICHOST),
        -EIO);
    coil_testing_fail_system_call(0, 0);
}

static int name_loopback(void *arg)
{
    coil_address a = loopback(80);
    char host[NI_MAXHOST];

    (void)arg;
    return coil_getnameinfo(&a.any, a.length, host, sizeof host, NULL, 0, 0);
}

TASK_TEST(nameinfo_cancelled)
{
    cancel_at_each_stage(name_loopback);
}
