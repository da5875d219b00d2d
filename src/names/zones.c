/*
 * zones.c - lets c-ares use name servers with a zone.
 *
 *     resolv.conf: fe80::1%eth0 --> c-ares: 100::1 --> connect_socket(): fe80::1%2
 *
 * c-ares 1.18 ignores a server with a zone, and its interface cannot represent zones. So
 * c-ares gets a stand-in for the server's address, from a prefix whose addresses are
 * never used (RFC 6666). The socket functions that coil gives to c-ares translate between
 * the stand-in and the server's address.
 */
#include "zones.h"

#include "resolver.h"

#include <stdio.h>
#include <string.h>

static const struct in6_addr prefix = {.s6_addr = {1}}; /* 100:: */

/* ---- translation ------------------------------------------------------------------- */

static struct in6_addr stand_in_of(size_t i)
{
    struct in6_addr address = prefix;

    address.s6_addr[15] = (uint8_t)(i + 1);
    return address;
}

void coil__zones_resolve(const struct coil__zones *zones, struct sockaddr_in6 *address)
{
    for (size_t i = 0; i < zones->count; i++) {
        struct in6_addr stand_in = stand_in_of(i);

        if (!IN6_ARE_ADDR_EQUAL(&address->sin6_addr, &stand_in))
            continue;
        address->sin6_addr = zones->servers[i].v6.sin6_addr;
        address->sin6_scope_id = zones->servers[i].v6.sin6_scope_id;
        return;
    }
}

/*
 * If the address belongs to a server with a zone, replace it with the stand-in. An
 * address without a zone matches too, because the kernel reports zones only for
 * link-local addresses.
 */
void coil__zones_disguise(const struct coil__zones *zones, struct sockaddr_in6 *address)
{
    for (size_t i = 0; i < zones->count; i++) {
        const struct sockaddr_in6 *server = &zones->servers[i].v6;

        if (!IN6_ARE_ADDR_EQUAL(&address->sin6_addr, &server->sin6_addr) ||
            (address->sin6_scope_id != 0 &&
             address->sin6_scope_id != server->sin6_scope_id))
            continue;
        address->sin6_addr = stand_in_of(i);
        address->sin6_scope_id = 0;
        return;
    }
}

/* ---- lists of servers -------------------------------------------------------------- */

static int add_server(struct coil__zones *zones, const char *host, size_t n)
{
    char text[128];
    int rc = -EINVAL;

    if (n >= sizeof text || zones->count == COIL__ZONES_MAX)
        return -EINVAL;
    memcpy(text, host, n);
    text[n] = '\0';
    rc = coil_address_of_numbers(text, 0, &zones->servers[zones->count]);
    zones->count += rc == 0;
    return rc == 0 ? 0 : -EINVAL;
}

/*
 * Copy one server of a list, n bytes, to `to`. If the server's address has a zone, such
 * as "[fe80::1%2]:53" or "fe80::1%2", write a stand-in instead, with brackets only if
 * there is a port, as c-ares 1.18 requires. Returns the number of bytes written, or a
 * negative errno.
 */
static int replace_one(struct coil__zones *zones, const char *server, size_t n, char *to)
{
    size_t blanks = strspn(server, " \t"), begin = blanks < n ? blanks : n, end, rest;
    bool bracket = server[begin] == '[';
    int rc;

    if (memchr(server, '%', n) == NULL)
        return sprintf(to, "%.*s", (int)n, server);
    begin += bracket;
    end = begin + strcspn(server + begin, "], \t");
    rest = end + (server[end] == ']');
    if (bracket != (rest > end) ||
        (rest < n && server[rest] != ':' && server[rest] != ' '))
        return -EINVAL;
    rc = add_server(zones, server + begin, end - begin);
    if (rc < 0)
        return rc;
    if (rest < n && server[rest] == ':')
        return sprintf(to, "[100::%zx]%.*s", zones->count, (int)(n - rest),
                       server + rest);
    return sprintf(to, "100::%zx", zones->count);
}

/*
 * The number of bytes by which a stand-in may be longer than a short address such as
 * "[::1%1]".
 */
#define LONGER 8

int coil__zones_replace(struct coil__zones *zones, const char *servers, char **out)
{
    char *text = coil__alloc(strlen(servers) + COIL__ZONES_MAX * LONGER + 1);
    size_t used = 0;

    zones->count = 0;
    if (text == NULL)
        return -ENOMEM;
    text[0] = '\0';
    while (*servers != '\0') {
        size_t n = strcspn(servers, ",");
        int written = replace_one(zones, servers, n, text + used);

        if (written < 0) {
            coil__free(text);
            return written;
        }
        used += (size_t)written;
        servers += n;
        if (*servers == ',')
            text[used++] = *servers++;
        text[used] = '\0';
    }
    *out = text;
    return 0;
}

/* ---- resolv.conf(5) ---------------------------------------------------------------- */

/* Return the address in a line "nameserver 192.0.2.1", or NULL for any other line. */
static char *server_of(char *line)
{
    static const char keyword[] = "nameserver";
    char *rest = line + sizeof keyword - 1;

    if (strncmp(line, keyword, sizeof keyword - 1) != 0 ||
        (*rest != ' ' && *rest != '\t'))
        return NULL;
    rest += strspn(rest, " \t");
    rest[strcspn(rest, " \t\n#;")] = '\0';
    return rest;
}

/*
 * Append the server to the comma-separated list, if the list has room and the server is a
 * valid address.
 */
static void add_to_list(char *list, size_t size, const char *server)
{
    size_t used = strlen(list);
    coil_address address;

    if (coil_address_of_numbers(server, 0, &address) == 0 &&
        used + strlen(server) + sizeof "," <= size)
        snprintf(list + used, size - used, "%s%s", used > 0 ? "," : "", server);
}

int coil__zones_read(struct coil__zones *zones, const char *path, char **out)
{
    char line[512], list[1024] = "";
    size_t with_zone = 0;
    FILE *file;
    int rc = coil__config_file_open(path, &file);

    *out = NULL;
    while (file != NULL && with_zone < COIL__ZONES_MAX &&
           fgets(line, sizeof line, file) != NULL) {
        const char *server = server_of(line);

        if (server == NULL)
            continue;
        with_zone += strchr(server, '%') != NULL;
        add_to_list(list, sizeof list, server);
    }
    rc = coil__config_file_close(file, rc);
    if (rc < 0 || with_zone == 0 || list[0] == '\0')
        return rc;
    return coil__zones_replace(zones, list, out);
}
