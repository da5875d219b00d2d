/*
 * test_addrinfo.c - names into addresses and back, without a name server.
 */
#include "../harness/harness.h"

#include "sockets.h"

#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct addrinfo tcp = {.ai_socktype = SOCK_STREAM};

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

TASK_TEST(addrinfo_looks_up_names_on_a_thread)
{
    struct addrinfo *list;

    if (test_under_valgrind())
        test_skip("what glibc's resolver keeps per thread counts as lost");
    CHECK_INT(coil_getaddrinfo("localhost", "80", &tcp, &list), 0);
    CHECK(list->ai_family == AF_INET || list->ai_family == AF_INET6);
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

/* Cut off behind 255 bytes it would be a number, that of this machine (CVE-2024-24806).
 */
TASK_TEST(addrinfo_of_a_name_that_is_too_long_is_not_cut_off)
{
    char name[300] = "0x";
    struct addrinfo *list;

    if (test_under_valgrind())
        test_skip("what glibc's resolver keeps per thread counts as lost");
    memset(name + 2, '0', 246);
    strcpy(name + 248, "7f000001.example.com");
    CHECK(coil_getaddrinfo(name, "80", &tcp, &list) < 0);
    name[248 + 8] = '\0';
    CHECK_INT(coil_getaddrinfo(name, "80", &tcp, &list), 0); /* as it stands it is one */
    freeaddrinfo(list);
}

/* fe80::1 of one network card is not that of another. */
TASK_TEST(addrinfo_keeps_the_scope_of_an_address)
{
    const struct sockaddr_in6 *name;
    struct addrinfo *list;

    CHECK_INT(coil_getaddrinfo("fe80::1%lo", "80", &tcp, &list), 0);
    name = (const void *)list->ai_addr;
    CHECK_INT(name->sin6_scope_id, if_nametoindex("lo"));
    freeaddrinfo(list);
    CHECK_INT(coil_getaddrinfo("fe80::1%7", "80", &tcp, &list), 0);
    name = (const void *)list->ai_addr;
    CHECK_INT(name->sin6_scope_id, 7);
    freeaddrinfo(list);
    CHECK_INT(coil_getaddrinfo("fe80::1%no-such-card", "80", &tcp, &list), -ENOENT);
}

static int resolve(void *arg)
{
    struct addrinfo *list;
    int rc = coil_getaddrinfo("localhost", "80", &tcp, &list);

    (void)arg;
    if (rc == 0)
        freeaddrinfo(list);
    return rc;
}

/* Cancelled at every stage of the look-up, nothing is lost: the harness counts. */
TASK_TEST(addrinfo_cancelled)
{
    if (test_under_valgrind())
        test_skip("what glibc's resolver keeps per thread counts as lost");
    for (int stage = 0; stage < 12; stage++) {
        coil_task *task;
        int rc;

        CHECK_INT(coil_spawn(resolve, NULL, NULL, &task), 0);
        for (int i = 0; i < stage / 3; i++)
            coil_yield();
        usleep((useconds_t)(stage % 3 * 200));
        coil_task_cancel(task, NULL);
        rc = coil_task_await(task);
        CHECK(rc == -ECANCELED || rc == 0);
        coil_task_release(task);
    }
}

/* ---- the other way round ----------------------------------------------------------- */

static int name_of(const void *address, size_t bytes, char *host, char *service,
                   int flags)
{
    return coil_getnameinfo(address, (socklen_t)bytes, host, host != NULL ? 64 : 0,
                            service, service != NULL ? 16 : 0, flags);
}

TASK_TEST(nameinfo_in_numbers_at_once)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(80)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(443)};
    int numeric = NI_NUMERICHOST | NI_NUMERICSERV;
    char host[64], service[16];

    four.sin_addr.s_addr = htonl(0xc0000207);
    CHECK_INT(name_of(&four, sizeof four, host, service, numeric), 0);
    CHECK_STR(host, "192.0.2.7");
    CHECK_STR(service, "80");
    CHECK_INT(name_of(&four, sizeof four, NULL, service, numeric), 0);
    CHECK_INT(name_of(&four, sizeof four, host, NULL, NI_NUMERICHOST), 0);
    six.sin6_addr.s6_addr[0] = 0xfe;
    six.sin6_addr.s6_addr[1] = 0x80;
    six.sin6_scope_id = if_nametoindex("lo");
    CHECK_INT(name_of(&six, sizeof six, host, service, numeric), 0);
    CHECK_STR(host, "fe80::%lo");
    CHECK_STR(service, "443");
}

TASK_TEST(nameinfo_looks_up_names_on_a_thread)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(80)};
    char host[64] = "", service[16] = "";

    if (test_under_valgrind())
        test_skip("what glibc's resolver keeps per thread counts as lost");
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_INT(name_of(&four, sizeof four, host, service, 0), 0);
    CHECK(host[0] != '\0');
    CHECK(strcmp(service, "http") == 0 || strcmp(service, "80") == 0);
}

TASK_TEST(nameinfo_fails_with_errnos)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_storage large = {.ss_family = AF_INET};
    int numeric = NI_NUMERICHOST | NI_NUMERICSERV;
    const struct sockaddr *any = (const void *)&four;
    char host[64], small[7];

    CHECK_INT(coil_getnameinfo(any, sizeof four, small, 7, NULL, 0, numeric), -EMSGSIZE);
    CHECK_INT(coil_getnameinfo(any, sizeof four, host, 8, NULL, 0, numeric), 0);
    CHECK(name_of(&four, 3, host, NULL, numeric) < 0);
    CHECK(name_of(&four, 0, host, NULL, numeric) < 0);
    CHECK(name_of(&large, sizeof large + 100, host, NULL, numeric) < 0);
    CHECK_INT(name_of(&four, sizeof four, host, NULL, numeric | 1 << 30), -EINVAL);
    four.sin_family = 77;
    CHECK_INT(name_of(&four, sizeof four, host, NULL, numeric), -EAFNOSUPPORT);
}

static int look_back(void *arg)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(80)};
    char service[16];

    (void)arg;
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return name_of(&four, sizeof four, NULL, service, 0);
}

TASK_TEST(nameinfo_cancelled_and_failing)
{
    if (test_under_valgrind())
        test_skip("what glibc's resolver keeps per thread counts as lost");
    for (int stage = 0; stage < 9; stage++) {
        coil_task *task;
        int rc;

        CHECK_INT(coil_spawn(look_back, NULL, NULL, &task), 0);
        for (int i = 0; i < stage / 3; i++)
            coil_yield();
        usleep((useconds_t)(stage % 3 * 200));
        coil_task_cancel(task, NULL);
        rc = coil_task_await(task);
        CHECK(rc == -ECANCELED || rc == 0);
        coil_task_release(task);
    }
    for (int n = 1; n < 5; n++) {
        int rc;

        test_fail_allocation(n);
        rc = look_back(NULL);
        CHECK(rc == 0 || rc == -ENOMEM);
        test_fail_allocation(0);
        coil_testing_fail_system_call((uint64_t)n, 0);
        look_back(NULL);
        coil_testing_fail_system_call(0, 0);
    }
}
