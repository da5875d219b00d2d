/*
 * hiredis_get.c - makes GET requests with hiredis, a blocking library: see client.h.
 *
 *     hiredis_get coil|threads|async SOCKET CONNECTIONS COUNT
 *
 * `async` is hiredis' own asynchronous interface, with libev.
 */
#include "client.h"

#include <hiredis/hiredis.h>

#include <hiredis/adapters/libev.h>
#include <hiredis/async.h>

static void *open_connection(const char *server)
{
    redisContext *redis = redisConnectUnix(server);

    if (redis == NULL || redis->err != 0)
        client_stop("no connection");
    return redis;
}

static void request(void *connection)
{
    redisContext *redis = connection;
    redisReply *reply = redisCommand(redis, "GET key");

    if (reply == NULL)
        client_stop(redis->errstr);
    freeReplyObject(reply);
}

static void close_connection(void *connection)
{
    redisFree(connection);
}

/* ---- hiredis' asynchronous interface ----------------------------------------------- */

struct sender {
    redisAsyncContext *redis;
    int left; /* number of requests whose replies have not arrived */
};

static int working; /* number of senders that are waiting for replies */

static void *open_async(const char *server)
{
    redisAsyncContext *redis = redisAsyncConnectUnix(server);

    if (redis == NULL || redis->err != 0 ||
        redisLibevAttach(EV_DEFAULT, redis) != REDIS_OK)
        client_stop("no connection");
    return redis;
}

static void on_reply(redisAsyncContext *redis, void *reply, void *arg)
{
    struct sender *sender = arg;

    if (reply == NULL)
        client_stop(redis->errstr);
    if (--sender->left > 0)
        redisAsyncCommand(redis, on_reply, sender, "GET key");
    else if (--working == 0)
        ev_break(EV_DEFAULT, EVBREAK_ALL);
}

static void use_async(void **connections, int count, int requests)
{
    struct sender *senders = calloc((size_t)count, sizeof *senders);

    if (senders == NULL)
        client_stop("no memory");
    working = count;
    for (int i = 0; i < count; i++) {
        senders[i] = (struct sender){connections[i], requests};
        redisAsyncCommand(connections[i], on_reply, &senders[i], "GET key");
    }
    ev_run(EV_DEFAULT, 0);
    free(senders);
}

static void close_async(void *connection)
{
    redisAsyncFree(connection);
}

int main(int argc, char **argv)
{
    static const struct client blocking = {.open = open_connection,
                                           .request = request,
                                           .close = close_connection},
                               async = {.open = open_async,
                                        .close = close_async,
                                        .use_async = use_async};
    bool is_async = argc > 1 && strcmp(argv[1], "async") == 0;

    return client_main(is_async ? &async : &blocking, argc, argv);
}
