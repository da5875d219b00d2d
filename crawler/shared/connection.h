/*
 * connection.h - the connection to the Redis of a shared crawl, as the options say, with the task that serves it.
 *
 *     rc = connection_open(&connection, options);
 *     if (rc == 0)
 *         rc = ... connection.redis ...
 *     rc = connection_close(&connection, rc);      // in any case, in the same task
 */
#ifndef CRAWLER_CONNECTION_H
#define CRAWLER_CONNECTION_H

#include "../options/options.h"
#include "redis/redis.h"

#include <coil/group.h>

struct connection {
    struct redis *redis;
    coil_group group;
    char *complaint; /* for free(): what it failed with, if the errno does not say it */
};

/* Fails as redis_create() and redis_open(). */
COIL_SUSPENDS int connection_open(struct connection *connection,
                                  const struct options *options);

/* Keep the sentence if there is none, and return `rc`; or -ENOMEM. */
int connection_complain(struct connection *connection, int rc, const char *words);

/* `rc` is what came of it; returns that, or what the connection has failed with. */
COIL_SUSPENDS int connection_close(struct connection *connection, int rc);

#endif
