/*
 * connection.h - the connection to the Redis server of a shared crawl, as given by the
 * options, with the task that serves it.
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
    char *complaint; /* the error message, if errno is not enough; the caller frees it */
};

/* Connect, and start the task. Fails like redis_create() or redis_open(). */
COIL_SUSPENDS int connection_open(struct connection *connection,
                                  const struct options *options);

/*
 * Store the message unless one is already stored. Returns `rc`, or -ENOMEM. Nothing is
 * stored for -ECANCELED and -ENOMEM.
 */
int connection_complain(struct connection *connection, int rc, const char *words);

/* `rc` is the caller's result. Returns it, or the error of the connection. */
COIL_SUSPENDS int connection_close(struct connection *connection, int rc);

#endif
