/*
 * address.c - where a socket is.
 */
#include "../base/base.h"

#include <coil/address.h>

#include <arpa/inet.h>
#include <stdio.h>
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

/* The kernel need not end a path with '\0', and a name may have some within. */
static void format_local(const coil_address *address, char *text, size_t size)
{
    size_t n = address->length > PATH_OFFSET ? address->length - PATH_OFFSET : 0;
    const char *path = address->local.sun_path;

    if (n > 0 && path[0] == '\0')
        snprintf(text, size, "@%.*s", (int)(n - 1), path + 1);
    else
        snprintf(text, size, "%.*s", (int)n, path);
}

const char *coil_address_format(const coil_address *address, char *text, size_t size)
{
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
    if (address->length < sizeof address->any.sa_family)
        return 0;
    if (address->any.sa_family == AF_INET6)
        return ntohs(address->v6.sin6_port);
    return address->any.sa_family == AF_INET ? ntohs(address->v4.sin_port) : 0;
}

int coil_address_of_path(const char *path, coil_address *out)
{
    size_t n = strlen(path);

    if (n == 0)
        return -EINVAL;
    if (n >= sizeof out->local.sun_path)
        return -ENAMETOOLONG;
    memset(out, 0, sizeof *out);
    out->local.sun_family = AF_UNIX;
    memcpy(out->local.sun_path, path, n);
    out->length = (socklen_t)(PATH_OFFSET + n);
    if (path[0] == '@')
        out->local.sun_path[0] = '\0';
    else
        out->length++; /* its '\0' */
    return 0;
}
