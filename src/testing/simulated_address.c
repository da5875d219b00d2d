/*
 * simulated_address.c - addresses of the simulated network, and its log.
 *
 * All addresses are stored as IPv6 addresses. IPv4 addresses are mapped (::ffff:a.b.c.d),
 * as in IPv6 sockets that serve both families.
 */
#include "simulated_address.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <string.h>

static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

static bool is_v4(const struct in6_addr *host)
{
    return memcmp(host, mapped, sizeof mapped) == 0;
}

int coil__sim_address_read(int family, const struct sockaddr *address,
                           socklen_t address_bytes, struct coil__sim_address *out)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    if (address == NULL || address_bytes < sizeof address->sa_family)
        return -EINVAL;
    if (address->sa_family != family)
        return -EAFNOSUPPORT;
    if (address_bytes < (family == AF_INET ? sizeof v4 : sizeof v6))
        return -EINVAL;
    if (family == AF_INET) {
        memcpy(&v4, address, sizeof v4);
        memcpy(&out->host, mapped, sizeof mapped);
        memcpy(&out->host.s6_addr[12], &v4.sin_addr, 4);
        out->port = v4.sin_port;
    } else {
        memcpy(&v6, address, sizeof v6);
        out->host = v6.sin6_addr;
        out->port = v6.sin6_port;
    }
    return 0;
}

void coil__sim_address_write(int family, const struct coil__sim_address *from,
                             struct sockaddr *address, socklen_t *address_bytes)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = from->port};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = from->port};
    socklen_t bytes = family == AF_INET ? sizeof v4 : sizeof v6;

    memcpy(&v4.sin_addr, &from->host.s6_addr[12], 4);
    v6.sin6_addr = from->host;
    memcpy(address, family == AF_INET ? (void *)&v4 : (void *)&v6,
           *address_bytes < bytes ? *address_bytes : bytes);
    *address_bytes = bytes;
}

bool coil__sim_host_equal(const struct in6_addr *a, const struct in6_addr *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

bool coil__sim_address_equal(const struct coil__sim_address *a,
                             const struct coil__sim_address *b)
{
    return a->port == b->port && coil__sim_host_equal(&a->host, &b->host);
}

bool coil__sim_host_any(const struct in6_addr *host)
{
    static const unsigned char zeroes[16];

    return is_v4(host) ? memcmp(&host->s6_addr[12], zeroes, 4) == 0
                       : memcmp(host, zeroes, sizeof zeroes) == 0;
}

struct in6_addr coil__sim_host_facing(const struct in6_addr *host)
{
    struct in6_addr facing = *host;

    if (is_v4(host) && (host->s6_addr[12] == 127 || coil__sim_host_any(host))) {
        const unsigned char loopback[4] = {127, 0, 0, 1};

        memcpy(&facing.s6_addr[12], loopback, 4);
    } else if (coil__sim_host_any(host)) {
        facing = in6addr_loopback;
    }
    return facing;
}

/* ---- the log ----------------------------------------------------------------------- */

static const char *text_of(const struct coil__sim_address *address, char *text,
                           size_t size)
{
    char host[INET6_ADDRSTRLEN];
    bool v4 = is_v4(&address->host);

    inet_ntop(v4 ? AF_INET : AF_INET6,
              v4 ? (const void *)&address->host.s6_addr[12]
                 : (const void *)&address->host,
              host, sizeof host);
    snprintf(text, size, v4 ? "%s:%u" : "[%s]:%u", host, ntohs(address->port));
    return text;
}

void coil__sim_log(struct coil__sim *sim, const struct coil__sim_address *from,
                   const struct coil__sim_address *to, const char *format, ...)
{
    char a[INET6_ADDRSTRLEN + 8], b[INET6_ADDRSTRLEN + 8];
    int64_t now;
    va_list args;

    if (sim->opts.log == NULL)
        return;
    now = coil__sim_now();
    fprintf(sim->opts.log, "%lld.%09lld %s > %s ", (long long)(now / COIL_SEC(1)),
            (long long)(now % COIL_SEC(1)), text_of(from, a, sizeof a),
            text_of(to, b, sizeof b));
    va_start(args, format);
    vfprintf(sim->opts.log, format, args);
    va_end(args);
    fputc('\n', sim->opts.log);
}
