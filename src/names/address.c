/* address.c - formats, parses and compares socket addresses. */
#include "address.h"

#include "../base/base.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_OFFSET offsetof(struct sockaddr_un, sun_path)

static void format_v6(const struct sockaddr_in6 *v6, char *text, size_t size)
{
    char host[INET6_ADDRSTRLEN], zone[16] = "";

    inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
    if (v6->sin6_scope_id != 0)
        snprintf(zone, sizeof zone, "%%%u", v6->sin6_scope_id);
    snprintf(text, size, "[%s%s]:%u", host, zone, ntohs(v6->sin6_port));
}

/* Format an abstract name. A '\0' is shown as '@', as in /proc/net/unix. */
static void format_abstract(const char *name, size_t n, char *text, size_t size)
{
    if (n > size - 1)
        n = size - 1;
    for (size_t i = 0; i < n; i++)
        text[i] = name[i] != '\0' ? name[i] : '@';
    text[n] = '\0';
}

/* Format the address of a local socket. The kernel may omit the '\0' after a path. */
static void format_local(const coil_address *address, char *text, size_t size)
{
    size_t n = address->length > PATH_OFFSET ? address->length - PATH_OFFSET : 0;
    const char *path = address->local.sun_path;

    if (n > sizeof address->local.sun_path)
        n = sizeof address->local.sun_path;
    if (n > 0 && path[0] == '\0')
        format_abstract(path, n, text, size);
    else
        snprintf(text, size, "%.*s", (int)n, path);
}

const char *coil_address_format(const coil_address *address, char *text, size_t size)
{
    COIL__REQUIRE(address, "an address");
    COIL__REQUIRE_IF(size > 0, text, "a buffer");
    char host[INET_ADDRSTRLEN];

    if (size == 0)
        return text;
    text[0] = '\0';
    if (address->length < sizeof address->any.sa_family)
        return text;
    if (address->any.sa_family == AF_INET)
        snprintf(text, size, "%s:%u",
                 inet_ntop(AF_INET, &address->v4.sin_addr, host, sizeof host),
                 ntohs(address->v4.sin_port));
    else if (address->any.sa_family == AF_INET6)
        format_v6(&address->v6, text, size);
    else if (address->any.sa_family == AF_UNIX)
        format_local(address, text, size);
    return text;
}

uint16_t coil_address_port(const coil_address *address)
{
    COIL__REQUIRE(address, "an address");
    if (address->length < sizeof address->any.sa_family)
        return 0;
    if (address->any.sa_family == AF_INET6)
        return ntohs(address->v6.sin6_port);
    return address->any.sa_family == AF_INET ? ntohs(address->v4.sin_port) : 0;
}

/*
 * Convert a zone, which is the name or the index of an interface (RFC 4007, 11.2), to the
 * interface's index.
 */
static int read_zone(const char *zone, uint32_t *out)
{
    size_t n = strspn(zone, "0123456789");
    char *end;

    *out = if_nametoindex(zone);
    if (*out == 0 && n > 0 && n < 10 && zone[n] == '\0')
        *out = (uint32_t)strtoul(zone, &end, 10);
    return *out != 0 ? 0 : coil__failed(-ENODEV);
}

static int read_v6(const char *host, struct sockaddr_in6 *out)
{
    const char *zone = strchr(host, '%');
    size_t n = zone != NULL ? (size_t)(zone - host) : strlen(host);
    char number[INET6_ADDRSTRLEN];

    if (n >= sizeof number)
        return coil__failed(-EINVAL);
    memcpy(number, host, n);
    number[n] = '\0';
    if (inet_pton(AF_INET6, number, &out->sin6_addr) != 1)
        return coil__failed(-EINVAL);
    return zone != NULL ? read_zone(zone + 1, &out->sin6_scope_id) : 0;
}

int coil_address_of_numbers(const char *host, uint16_t port, coil_address *out)
{
    COIL__REQUIRE(host, "a host");
    COIL__REQUIRE(out, "an output pointer");
    int rc;

    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, host, &out->v4.sin_addr) == 1) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons(port);
        out->length = sizeof out->v4;
        return 0;
    }
    rc = read_v6(host, &out->v6);
    if (rc < 0) {
        *out = (coil_address){.length = 0};
        return rc;
    }
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons(port);
    out->length = sizeof out->v6;
    return 0;
}

/* Return the minimum length of a complete address, which connect(2) and bind(2) read. */
static socklen_t minimum_length(sa_family_t family)
{
    switch (family) {
    case AF_INET:
        return sizeof(struct sockaddr_in);
    case AF_INET6:
        return sizeof(struct sockaddr_in6);
    case AF_UNIX:
        return PATH_OFFSET + 1;
    default:
        return 0;
    }
}

int coil__address_check(const coil_address *address)
{
    socklen_t least;

    if (address->length < sizeof address->any.sa_family)
        return coil__failed(-EINVAL);
    least = minimum_length(address->any.sa_family);
    if (least == 0)
        return coil__failed(-EAFNOSUPPORT);
    if (address->length < least || address->length > sizeof address->storage)
        return coil__failed(-EINVAL);
    return 0;
}

struct addrinfo coil__address_info(const coil_address *address, int type)
{
    return (struct addrinfo){.ai_family = address->any.sa_family,
                             .ai_socktype = type,
                             .ai_addr = (struct sockaddr *)&address->any,
                             .ai_addrlen = address->length};
}

int coil_address_of_path(const char *path, coil_address *out)
{
    COIL__REQUIRE(path, "a path");
    COIL__REQUIRE(out, "an output pointer");
    size_t n = strlen(path);

    if (n == 0)
        return coil__failed(-EINVAL);
    if (n >= sizeof out->local.sun_path)
        return coil__failed(-ENAMETOOLONG);
    memset(out, 0, sizeof *out);
    out->local.sun_family = AF_UNIX;
    memcpy(out->local.sun_path, path, n);
    out->length = (socklen_t)(PATH_OFFSET + n);
    if (path[0] == '@')
        out->local.sun_path[0] = '\0';
    else
        out->length++; /* for the '\0' */
    return 0;
}
