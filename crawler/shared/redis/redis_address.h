/*
 * redis_address.h - where a Redis is: redis://USER:PASSWORD@HOST:PORT/DB and its like.
 */
#ifndef CRAWLER_REDIS_ADDRESS_H
#define CRAWLER_REDIS_ADDRESS_H

#include <stdbool.h>

struct redis_address {
    char *name;            /* without the password, for messages */
    char *host, *port;     /* or */
    char *path;            /* of a local socket */
    char *user, *password; /* percent-decoded; NULL where there is none */
    unsigned db;
    bool is_tls;
};

/*
 * redis:// or rediss:// (TLS), as IANA has them registered, with port 6379 and database 0 unless it says
 * otherwise; unix:///PATH?db=N for a local socket. 0, -EINVAL or -ENOMEM; finish it in any case.
 */
int redis_address_parse(const char *url, struct redis_address *out);

/* Zeroes are accepted. */
void redis_address_finish(struct redis_address *address);

#endif
