/*
 * test_private_address.c - checks each row of IANA's special-purpose address registries.
 */
#include "../../../../crawler/scope/private_address.h"
#include "../../../harness/harness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

static bool is_private(const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return is_private_address((struct sockaddr *)&v4);
    CHECK_INT(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return is_private_address((struct sockaddr *)&v6);
}

static void check(const char *const *rows, size_t n, bool expected)
{
    for (size_t i = 0; i < n; i++) {
        test_trace("%s ", rows[i]);
        CHECK_INT(is_private(rows[i]), expected);
    }
    test_trace_clear();
}

#define ROWS(rows) rows, sizeof rows / sizeof rows[0]

TEST(private_address_v4)
{
    static const char *const own[] = {
        "0.0.0.0",         "0.255.255.255",   "10.0.0.0",       "10.255.255.255",
        "100.64.0.0",      "100.127.255.255", "127.0.0.1",      "127.255.255.255",
        "169.254.169.254", "172.16.0.0",      "172.31.255.255", "192.0.0.1",
        "192.168.0.0",     "192.168.255.255", "198.18.0.0",     "198.19.255.255",
        "224.0.0.1",       "239.255.255.250", "240.0.0.1",      "255.255.255.255"};
    static const char *const others[] = {
        "1.0.0.0",         "9.255.255.255",  "11.0.0.0",       "100.63.255.255",
        "100.128.0.0",     "126.0.0.1",      "128.0.0.1",      "169.253.0.1",
        "169.255.0.1",     "172.15.255.255", "172.32.0.0",     "192.0.1.1",
        "192.167.0.1",     "192.169.0.1",    "198.17.255.255", "198.20.0.0",
        "223.255.255.255", "93.184.216.34"};

    check(ROWS(own), true);
    check(ROWS(others), false);
}

TEST(private_address_v6)
{
    static const char *const own[] = {
        "::",      "::1",          "fe80::1",          "febf::1",
        "fec0::1", "fc00::1",      "fdff:ffff::1",     "ff02::1",
        "ff0e::1", "64:ff9b:1::1", "64:ff9b:1:ffff::1"};
    static const char *const others[] = {"2000::1", "2001:4860::8888",
                                         "2600::", "fbff::1", "64:ff9b:2::1"};

    check(ROWS(own), true);
    check(ROWS(others), false);
}

TEST(private_address_v4_within_v6)
{
    static const char *const own[] = {"::ffff:127.0.0.1", "::ffff:10.1.2.3",
                                      "::10.1.2.3",       "64:ff9b::192.168.1.1",
                                      "2002:7f00:1::1",   "2002:c0a8:101::"};
    static const char *const others[] = {"::ffff:93.184.216.34", "::93.184.216.34",
                                         "64:ff9b::93.184.216.34", "2002:5db8:d822::1"};

    check(ROWS(own), true);
    check(ROWS(others), false);
}

TEST(private_address_of_no_network)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};

    CHECK(!is_private_address((struct sockaddr *)&local));
}
