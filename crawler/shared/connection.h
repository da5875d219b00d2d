/*
 * connection.h - the connection to the Redis server of a shared crawl, and the task that
 * serves this connection.
 *
 *     rc = connection_open(&connection, options);
 *     if (rc == 0)
 *         rc = ... connection.redis ...
 *     rc = connection_close(&connection, rc);      // always, in the same task
 */
#ifndef CRAWLER_CONNECTION_H
#define CRAWLER_CONNECTION_H

#include "../options/options.h"
#include "redis/redis.h"

#include <coil/group.h>

struct connection {
    struct redis *redis;
    coil_group group;
    /* A message more precise than the errno, which the caller frees, or NULL. */
    char *complaint;
};

/*
 * Connect to the server of --frontier, and start the task that serves the connection.
 * Fails like redis_create() or redis_open().
 */
COIL_SUSPENDS int connection_open(struct connection *connection,
                                  const struct options *options);

/*
 * Store the message for the error `rc`, unless the error is -ECANCELED or -ENOMEM, or a
 * message is already stored. Returns `rc`, or -ENOMEM.
 */
int connection_complain(struct connection *connection, int rc, const char *words);

/*
 * Close the connection. `rc` is the result of the caller's work. Returns `rc` if it is an
 * error. Otherwise, returns the error of the connection, or 0.
 */
COIL_SUSPENDS int connection_close(struct connection *connection, int rc);

#endif
