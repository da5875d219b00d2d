/*
 * private_address.c - see private_address.h
 */
#include "private_address.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const struct {
    uint32_t network;
    unsigned bits;
} private_v4[] = {
    {0x00000000, 8},  /* 0.0.0.0/8, this network */
    {0x0a000000, 8},  /* 10.0.0.0/8 */
    {0x64400000, 10}, /* 100.64.0.0/10, shared */
    {0x7f000000, 8},  /* 127.0.0.0/8, loopback */
    {0xa9fe0000, 16}, /* 169.254.0.0/16, link-local */
    {0xac100000, 12}, /* 172.16.0.0/12 */
    {0xc0000000, 24}, /* 192.0.0.0/24, protocol assignments */
    {0xc0a80000, 16}, /* 192.168.0.0/16 */
    {0xc6120000, 15}, /* 198.18.0.0/15, benchmarks */
    {0xe0000000, 3},  /* 224.0.0.0/4, multicast; 240.0.0.0/4, reserved, and broadcast */
};

static bool is_private_v4(uint32_t address)
{
    for (size_t i = 0; i < sizeof private_v4 / sizeof private_v4[0]; i++)
        if ((address ^ private_v4[i].network) >> (32 - private_v4[i].bits) == 0)
            return true;
    return false;
}

/* Return the IPv4 address at this offset in an IPv6 address. */
static uint32_t v4_at(const struct in6_addr *address, size_t at)
{
    uint32_t v4;

    memcpy(&v4, address->s6_addr + at, sizeof v4);
    return ntohl(v4);
}

static bool is_private_v6(const struct in6_addr *address)
{
    static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};
    static const uint8_t local_nat64[6] = {0, 0x64, 0xff, 0x9b, 0, 1};

    if (IN6_IS_ADDR_UNSPECIFIED(address) || IN6_IS_ADDR_LOOPBACK(address) ||
        IN6_IS_ADDR_LINKLOCAL(address) || IN6_IS_ADDR_SITELOCAL(address) ||
        IN6_IS_ADDR_MULTICAST(address) ||
        memcmp(address->s6_addr, local_nat64, sizeof local_nat64) == 0 ||
        (address->s6_addr[0] & 0xfe) == 0xfc) /* fc00::/7, unique local */
        return true;
    if (IN6_IS_ADDR_V4MAPPED(address) || IN6_IS_ADDR_V4COMPAT(address) ||
        memcmp(address->s6_addr, nat64, sizeof nat64) == 0)
        return is_private_v4(v4_at(address, 12));
    if (address->s6_addr[0] == 0x20 && address->s6_addr[1] == 0x02) /* 6to4 */
        return is_private_v4(v4_at(address, 2));
    return false;
}

bool is_private_address(const struct sockaddr *address)
{
    const void *at = address;

    if (address->sa_family == AF_INET)
        return is_private_v4(ntohl(((const struct sockaddr_in *)at)->sin_addr.s_addr));
    if (address->sa_family == AF_INET6)
        return is_private_v6(&((const struct sockaddr_in6 *)at)->sin6_addr);
    return false;
}
