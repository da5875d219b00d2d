/*
 * redis_address.h - parse the address of a Redis server, such as
 * redis://USER:PASSWORD@HOST:PORT/DB.
 */
#ifndef CRAWLER_REDIS_ADDRESS_H
#define CRAWLER_REDIS_ADDRESS_H

#include <stdbool.h>

struct redis_address {
    char *name;            /* address without the password, for messages */
    char *host, *port;     /* host and port, or NULL if `path` is set */
    char *path;            /* path of a Unix socket, or NULL */
    char *user, *password; /* decoded user and password, or NULL */
    unsigned db;
    bool is_tls;
};

/*
 * Parse an address in one of these forms. The port defaults to 6379, and the database to
 * 0.
 *
 *     redis://...          the form registered with IANA
 *     rediss://...         Redis over TLS
 *     unix:///PATH?db=N    a Unix socket
 *
 * Returns 0, -EINVAL or -ENOMEM. redis_address_finish() must be called even after an
 * error.
 */
int redis_address_parse(const char *url, struct redis_address *out);

/* Free the parts of an address. A zeroed struct is accepted. */
void redis_address_finish(struct redis_address *address);

#endif
