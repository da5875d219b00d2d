/*
 * address_order.c - sorts a host's addresses, best first. (RFC 6724, 6)
 *
 * Each address is rated together with the source address that this machine would use for
 * it. Connecting a UDP socket reveals the source address without sending anything.
 * Unreachable addresses come last (rule 1). The next criteria are matching scope,
 * matching label and precedence, and finally, for IPv6, the longest common prefix. Rules
 * 3, 4 and 7 (deprecated addresses, home addresses, tunnels) need data that only the
 * kernel has. The kernel itself applies these rules when it chooses the source address.
 *
 * Rule 9 is not applied to IPv4 addresses: they stay in the server's order, so that a
 * server can distribute the load by rotating them. glibc does the same, except for
 * addresses in this machine's own subnets.
 */
#include "resolver.h"

#include "../base/fault.h"

#include <string.h>
#include <unistd.h>

#define MOST 64 /* maximum number of addresses to sort */

struct judged {
    coil_address address;
    bool usable;
    bool same_scope, same_label;
    int precedence, scope;
    int common_bits; /* length of the prefix shared with the source; 0 for IPv4 */
};

/* The policy table of RFC 6724, 2.1. IPv4 addresses match ::ffff:0:0/96. */
static const struct policy {
    unsigned char prefix[16];
    int bits, precedence, label;
} policies[] = {
    {{[15] = 1}, 128, 50, 0},                /* ::1 */
    {{[10] = 0xff, [11] = 0xff}, 96, 35, 4}, /* ::ffff:0:0 */
    {{0}, 96, 1, 3},                         /* ::, IPv4-compatible */
    {{0x20, 0x01, 0, 0}, 32, 5, 5},          /* 2001::, Teredo */
    {{0x20, 0x02}, 16, 30, 2},               /* 2002::, 6to4 */
    {{0x3f, 0xfe}, 16, 1, 12},               /* 3ffe::, 6bone */
    {{0xfe, 0xc0}, 10, 1, 11},               /* fec0::, site-local */
    {{0xfc}, 7, 3, 13},                      /* fc00::, unique local */
    {{0}, 0, 40, 1},                         /* all others */
};

enum scope { LINK_LOCAL = 2, SITE_LOCAL = 5, GLOBAL = 14 };

static struct in6_addr as_v6(const coil_address *address)
{
    struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

    if (address->any.sa_family == AF_INET6)
        return address->v6.sin6_addr;
    memcpy(&mapped.s6_addr[12], &address->v4.sin_addr, 4);
    return mapped;
}

static int common_bits(const unsigned char *a, const unsigned char *b)
{
    int bits = 0;

    while (bits < 128 && !((a[bits / 8] ^ b[bits / 8]) & (0x80 >> bits % 8)))
        bits++;
    return bits;
}

static const struct policy *policy_of(const struct in6_addr *address)
{
    const struct policy *p = policies;

    while (common_bits(p->prefix, address->s6_addr) < p->bits)
        p++;
    return p;
}

static int scope_of(const struct in6_addr *a)
{
    const unsigned char *v4 = &a->s6_addr[12];

    if (IN6_IS_ADDR_MULTICAST(a))
        return a->s6_addr[1] & 15;
    if (IN6_IS_ADDR_LINKLOCAL(a) || IN6_IS_ADDR_LOOPBACK(a))
        return LINK_LOCAL;
    if (IN6_IS_ADDR_SITELOCAL(a))
        return SITE_LOCAL;
    if (IN6_IS_ADDR_V4MAPPED(a) && (v4[0] == 127 || (v4[0] == 169 && v4[1] == 254)))
        return LINK_LOCAL;
    return GLOBAL;
}

/* Find the source address for this destination. Returns false if there is no route. */
static bool find_source(const coil_address *to, coil_address *source)
{
    int fd = COIL__CALL(EMFILE, socket(to->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    coil_address target = *to;
    bool found;

    if (fd < 0)
        return false;
    /* connect(2) needs a port. (sin_port and sin6_port have the same offset.) */
    target.v4.sin_port = htons(53);
    source->length = sizeof source->storage;
    found = COIL__CALL(ENETUNREACH, connect(fd, &target.any, target.length)) == 0 &&
            COIL__CALL(ENOBUFS, getsockname(fd, &source->any, &source->length)) == 0;
    close(fd);
    return found;
}

static void classify_address(const coil_address *address, struct judged *j)
{
    struct in6_addr to = as_v6(address), from;
    coil_address source;

    *j = (struct judged){.address = *address, .scope = scope_of(&to)};
    j->precedence = policy_of(&to)->precedence;
    j->usable = find_source(address, &source);
    if (!j->usable)
        return;
    from = as_v6(&source);
    j->same_scope = scope_of(&from) == j->scope;
    j->same_label = policy_of(&from)->label == policy_of(&to)->label;
    if (address->any.sa_family == AF_INET6)
        j->common_bits = common_bits(from.s6_addr, to.s6_addr);
}

/*
 * True if `b` must be sorted before `a`. False if both are equal, so that equal addresses
 * keep their order.
 */
static bool is_better(const struct judged *b, const struct judged *a)
{
    if (b->usable != a->usable)
        return b->usable;
    if (b->same_scope != a->same_scope)
        return b->same_scope;
    if (b->same_label != a->same_label)
        return b->same_label;
    if (b->precedence != a->precedence)
        return b->precedence > a->precedence;
    if (b->scope != a->scope)
        return b->scope < a->scope;
    return b->address.any.sa_family == AF_INET6 && a->address.any.sa_family == AF_INET6 &&
           b->common_bits > a->common_bits;
}

void coil__addresses_sort(coil_loop *loop, coil_address addresses[], size_t count)
{
    size_t n = count < MOST ? count : MOST;
    struct judged *all;

    /*
     * Do not sort addresses of a simulated network, because the kernel does not know its
     * routes.
     */
    if (n < 2 || loop->backend->class->network != NULL)
        return;
    all = coil__alloc(n * sizeof *all);
    if (all == NULL)
        return; /* no memory: leave the list unsorted */
    for (size_t i = 0; i < n; i++) {
        struct judged one;
        size_t at = i;

        classify_address(&addresses[i], &one);
        for (; at > 0 && is_better(&one, &all[at - 1]); at--)
            all[at] = all[at - 1];
        all[at] = one;
    }
    for (size_t i = 0; i < n; i++)
        addresses[i] = all[i].address;
    coil__free(all);
}
