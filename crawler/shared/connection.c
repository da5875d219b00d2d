/* connection.c - see connection.h */
#include "connection.h"

#include "../url/url.h"

#include <coil/error.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* time limit of each command, including any time during which Redis is unreachable, and
   of each attempt to connect */
#define TIMEOUT_NS COIL_SEC(30)

int connection_complain(struct connection *connection, int rc, const char *words)
{
    if (rc == -ECANCELED || rc == -ENOMEM || connection->complaint != NULL)
        return rc;
    connection->complaint = strdup(words);
    return connection->complaint != NULL ? rc : -ENOMEM;
}

static void print_notice(const char *message)
{
    if (message != NULL) {
        fputs("coil-crawl: ", stderr);
        url_print(stderr, message); /* it may quote bytes from the server */
        fputs("; trying again\n", stderr);
    } else
        fputs("coil-crawl: Redis is reachable again\n", stderr);
}

/* Store a message about the invalid URL of Redis, or about the certificates. */
static int complain_of_options(struct connection *connection, int rc)
{
    coil_error *error = coil_last_error();

    if (error != NULL && coil_error_rc(error) == rc)
        return connection_complain(connection, rc, coil_error_message(error));
    return rc != -EINVAL ? rc
                         : connection_complain(
                               connection, rc,
                               "--frontier: not an address such as redis://HOST:PORT/DB, "
                               "rediss://HOST or unix:///PATH");
}

int connection_open(struct connection *connection, const struct options *options)
{
    struct redis_options redis = {.url = options->frontier,
                                  .ca_file = options->ca_file,
                                  .insecure = options->insecure,
                                  .timeout_ns = TIMEOUT_NS,
                                  .tell = print_notice,
                                  .scripts = crawl_scripts,
                                  .script_count = SCRIPT_COUNT};
    int rc;

    *connection = (struct connection){.redis = NULL};
    coil_group_enter(&connection->group);
    rc = redis_create(&redis, &connection->redis);
    if (rc < 0)
        return complain_of_options(connection, rc);
    rc = redis_open(connection->redis);
    if (rc == 0)
        rc = coil_group_spawn(&connection->group, redis_serve, connection->redis, NULL,
                              NULL);
    return rc;
}

/*
 * Store the message of the Redis client, if there is one. If not, store a message for
 * -EPROTO, which means that a script's reply is invalid.
 */
static int complain_of_redis(struct connection *connection, int rc)
{
    const char *message = redis_message(connection->redis);

    if (*message != '\0')
        return connection_complain(connection, rc, message);
    return rc != -EPROTO ? rc
                         : connection_complain(connection, rc,
                                               "the data of the crawl in Redis is "
                                               "invalid");
}

int connection_close(struct connection *connection, int rc)
{
    coil_group_cancel(&connection->group, "it is not needed any more");
    rc = coil_group_exit(&connection->group, rc);
    if (rc < 0 && connection->redis != NULL)
        rc = complain_of_redis(connection, rc);
    redis_destroy(connection->redis);
    connection->redis = NULL;
    return rc;
}
