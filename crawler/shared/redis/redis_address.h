/*
 * redis_address.h - parse the address of a Redis server:
 * redis://USER:PASSWORD@HOST:PORT/DB and others.
 */
#ifndef CRAWLER_REDIS_ADDRESS_H
#define CRAWLER_REDIS_ADDRESS_H

#include <stdbool.h>

struct redis_address {
    char *name;            /* the address without its password, for messages */
    char *host, *port;     /* or NULL, and then `path` is set */
    char *path;            /* of a Unix socket, or NULL */
    char *user, *password; /* percent-decoded; NULL if missing */
    unsigned db;
    bool is_tls;
};

/*
 * Parse one of these forms. The port is 6379 and the database is 0 by default.
 *
 *     redis://...          as registered with IANA
 *     rediss://...         Redis over TLS
 *     unix:///PATH?db=N    a Unix socket
 *
 * Returns 0, -EINVAL or -ENOMEM. Call redis_address_finish() in any case.
 */
int redis_address_parse(const char *url, struct redis_address *out);

/* An address of zeroes is allowed. */
void redis_address_finish(struct redis_address *address);

#endif
