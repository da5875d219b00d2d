/*
 * hiredis.c - Redis' C client: read() and write() on a blocking socket.
 */
#include "library.h"

#include <hiredis.h>
#include <stdio.h>
#include <string.h>

static void *open_client(const char *server)
{
    redisContext *redis = redisConnectUnix(server);

    if (redis == NULL || redis->err) {
        fprintf(stderr, "hiredis: %s\n", redis != NULL ? redis->errstr : "no memory");
        return NULL;
    }
    return redis;
}

/* Wait for an item of a list that does not exist. BLPOP returns nil after its timeout. */
static bool call(void *handle)
{
    redisReply *reply = redisCommand(handle, "BLPOP nokey " WAIT_S);
    bool right = reply != NULL && reply->type == REDIS_REPLY_NIL;

    if (reply != NULL)
        freeReplyObject(reply);
    return right;
}

/*
 * Make a call that exceeds the library's timeout, which redisSetTimeout() sets with
 * SO_RCVTIMEO.
 */
static bool times_out(void *handle)
{
    redisContext *redis = handle;
    redisReply *reply;

    if (redisSetTimeout(redis, (struct timeval){.tv_usec = 50000}) != REDIS_OK)
        return false;
    reply = redisCommand(redis, "BLPOP nokey 20");
    if (reply != NULL)
        freeReplyObject(reply);
    return reply == NULL && redis->err == REDIS_ERR_IO &&
           strstr(redis->errstr, "temporarily unavailable") != NULL;
}

static void close_client(void *handle)
{
    redisFree(handle);
}

__attribute__((constructor)) static void add(void)
{
    static struct library hiredis = {.name = "hiredis",
                                     .version = VERSION_OF_HIREDIS,
                                     .tested = "connecting, commands, time-outs",
                                     .server = "REDIS_SOCKET",
                                     .open = open_client,
                                     .call = call,
                                     .times_out = times_out,
                                     .close = close_client};

    library_register(&hiredis);
}
