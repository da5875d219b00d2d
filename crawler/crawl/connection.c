/* connection.c - see connection.h */
#include "connection.h"

#include <errno.h>
#include <string.h>

#define TIMEOUT_NS COIL_SEC(30) /* of a command; for so long Redis may be away */

int connection_complain(struct connection *connection, int rc, const char *words)
{
    if (rc == -ECANCELED || rc == -ENOMEM || connection->complaint != NULL)
        return rc;
    connection->complaint = strdup(words);
    return connection->complaint != NULL ? rc : -ENOMEM;
}

int connection_open(struct connection *connection, const struct options *options)
{
    struct redis_options redis = {.url = options->frontier,
                                  .ca_file = options->ca_file,
                                  .insecure = options->insecure,
                                  .timeout_ns = TIMEOUT_NS,
                                  .scripts = crawl_scripts,
                                  .script_count = SCRIPT_COUNT};
    int rc;

    *connection = (struct connection){.redis = NULL};
    coil_group_enter(&connection->group);
    rc = redis_create(&redis, &connection->redis);
    if (rc == -EINVAL)
        return connection_complain(
            connection, rc,
            "--frontier: redis://HOST:PORT/DB is meant, or rediss://, or unix:///PATH");
    if (rc == 0)
        rc = redis_open(connection->redis);
    if (rc == 0)
        rc = coil_group_spawn(&connection->group, redis_serve, connection->redis, NULL,
                              NULL);
    return rc;
}

int connection_close(struct connection *connection, int rc)
{
    coil_group_cancel(&connection->group, "it is not needed any more");
    rc = coil_group_exit(&connection->group, rc);
    if (rc < 0 && connection->redis != NULL)
        rc = connection_complain(connection, rc, redis_message(connection->redis));
    redis_destroy(connection->redis);
    connection->redis = NULL;
    return rc;
}
