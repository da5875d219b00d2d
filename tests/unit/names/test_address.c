/*
 * test_address.c - addresses as text, and conversion of paths and names to local
 * addresses.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <stddef.h>
#include <string.h>

static const char *text_of(const coil_address *address)
{
    static char text[COIL_ADDRESS_TEXT];

    return coil_address_format(address, text, sizeof text);
}

TEST(address_of_ipv4_and_ipv6_as_text)
{
    coil_address four = {.length = sizeof four.v4}, six = {.length = sizeof six.v6};

    four.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(80)};
    inet_pton(AF_INET, "192.0.2.7", &four.v4.sin_addr);
    CHECK_STR(text_of(&four), "192.0.2.7:80");
    CHECK_INT(coil_address_port(&four), 80);
    six.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(443)};
    inet_pton(AF_INET6, "2001:db8::1", &six.v6.sin6_addr);
    CHECK_STR(text_of(&six), "[2001:db8::1]:443");
    CHECK_INT(coil_address_port(&six), 443);
    inet_pton(AF_INET6, "fe80::1", &six.v6.sin6_addr);
    six.v6.sin6_scope_id = 2;
    CHECK_STR(text_of(&six), "[fe80::1%2]:443");
}

TEST(address_of_a_path)
{
    coil_address address;
    char path[200], text[8];

    CHECK_INT(coil_address_of_path("/run/coil", &address), 0);
    CHECK_STR(text_of(&address), "/run/coil");
    CHECK_INT(coil_address_port(&address), 0);
    CHECK_STR(coil_address_format(&address, text, sizeof text), "/run/co");
    CHECK_INT(coil_address_of_path("@hidden", &address), 0);
    CHECK_STR(text_of(&address), "@hidden");
    CHECK_INT(address.local.sun_path[0], '\0');
    memset(path, 'p', sizeof path);
    path[107] = '\0';
    CHECK_INT(coil_address_of_path(path, &address), 0);
    CHECK_STR(text_of(&address), path);
    path[107] = 'p', path[108] = '\0';
    CHECK_INT(coil_address_of_path(path, &address), -ENAMETOOLONG);
    CHECK_INT(coil_address_of_path("", &address), -EINVAL);
}

/* Such a name is printed as it is in /proc/net/unix. */
TEST(address_of_an_abstract_name_with_a_nul)
{
    coil_address address = {.local = {.sun_family = AF_UNIX}};
    char text[6];

    memcpy(address.local.sun_path, "\0one\0two\0", 9);
    address.length = offsetof(struct sockaddr_un, sun_path) + 9;
    CHECK_STR(text_of(&address), "@one@two@");
    CHECK_STR(coil_address_format(&address, text, sizeof text), "@one@");
    CHECK_STR(coil_address_format(&address, text, 1), "");
    address.length = offsetof(struct sockaddr_un, sun_path) + 1;
    CHECK_STR(text_of(&address), "@");
    memset(address.local.sun_path, 0, sizeof address.local.sun_path);
    address.length = sizeof address.local;
    CHECK_INT(strlen(text_of(&address)), sizeof address.local.sun_path);
    CHECK_INT(strspn(text_of(&address), "@"), sizeof address.local.sun_path);
}

TEST(address_of_numbers)
{
    static const char *const bad[] = {"",          "localhost", "1.2.3",     "1.2.3.4.5",
                                      "256.0.0.1", "::g",       "[::1]",     " 1.2.3.4",
                                      "1.2.3.4 ",  ":::",       "1.2.3.4%lo"};
    coil_address address;

    CHECK_INT(coil_address_of_numbers("192.0.2.7", 80, &address), 0);
    CHECK_STR(text_of(&address), "192.0.2.7:80");
    CHECK_INT(address.length, sizeof(struct sockaddr_in));
    CHECK_INT(coil_address_of_numbers("2001:db8::1", 65535, &address), 0);
    CHECK_STR(text_of(&address), "[2001:db8::1]:65535");
    CHECK_INT(address.length, sizeof(struct sockaddr_in6));
    CHECK_INT(coil_address_of_numbers("fe80::1%7", 0, &address), 0);
    CHECK_STR(text_of(&address), "[fe80::1%7]:0");
    CHECK_INT(coil_address_of_numbers("fe80::1%lo", 0, &address), 0);
    CHECK_INT(address.v6.sin6_scope_id, if_nametoindex("lo"));
    CHECK_INT(coil_address_of_numbers("fe80::1%no-such", 1, &address), -ENODEV);
    CHECK_INT(coil_address_of_numbers("fe80::1%", 1, &address), -ENODEV);
    CHECK_INT(coil_address_of_numbers("fe80::1%0", 1, &address), -ENODEV);
    CHECK_INT(coil_address_of_numbers("fe80::1%99999999999", 1, &address), -ENODEV);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(coil_address_of_numbers(bad[i], 1, &address), -EINVAL);
        CHECK_INT(address.length, 0);
    }
}

TEST(address_that_is_invalid)
{
    coil_address none = {.length = 0}, unnamed = {.length = sizeof(sa_family_t)};

    unnamed.any.sa_family = AF_UNIX;
    CHECK_STR(text_of(&none), "");
    CHECK_STR(text_of(&unnamed), "");
    CHECK_INT(coil_address_port(&none), 0);
}
