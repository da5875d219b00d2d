/*
 * redis.h - a connection to Redis (or Valkey) that many tasks share, made again when it breaks.
 *
 *     rc = redis_create(&options, &redis);
 *     if (rc == 0)
 *         rc = redis_open(redis);                                   // is it there, and fit for a crawl?
 *     if (rc == 0)
 *         rc = coil_group_spawn(&group, redis_serve, redis, NULL, NULL);
 *     ...
 *     rc = redis_command(redis, &words, &reply);                    // in any task
 *     if (rc < 0)
 *         fprintf(stderr, "%s\n", redis_message(redis));
 *     freeReplyObject(reply);
 *
 * Commands of all tasks go out one behind the other, without waiting for each other's replies. hiredis
 * writes and reads the protocol; the streams are coil's.
 *
 * A command that had been sent when the connection broke fails: nobody knows whether Redis has done it. The
 * scripts of a crawl may all be run again. One that had not been sent waits for the next connection.
 */
#ifndef CRAWLER_REDIS_H
#define CRAWLER_REDIS_H

#include "redis_script.h"
#include "redis_words.h"

#include <coil/base.h>
#include <hiredis.h>

struct redis;

struct redis_options {
    const char *url;     /* redis_address.h */
    const char *ca_file; /* who is trusted with rediss://; NULL: as the system says */
    bool insecure;       /* nobody is asked who he is */
    int64_t timeout_ns;  /* of a command, and of connecting */
    /* Redis cannot be reached any more, and why: a sentence, once; NULL when it can be again. Or NULL. */
    void (*tell)(const char *message);
    const struct redis_script *scripts; /* that redis_run() runs; they must outlive it */
    size_t script_count;
};

/* Options are copied. 0, -EINVAL for what is no URL of a Redis, -ENOMEM; or as coil_tls_create(). *out
   is NULL then. */
int redis_create(const struct redis_options *options, struct redis **out);

/* Nobody may be in a call on it any more. NULL is accepted. */
void redis_destroy(struct redis *redis);

/*
 * Connect, and see whether a crawl can be kept there. Fails as coil_connect() and coil_start_tls(), with
 * -ETIMEDOUT, -EACCES for a password that is wrong or missing, -EINVAL where keys may be evicted or the
 * version is too old, -EPROTO for what is no Redis, -ENOMEM, -ECANCELED.
 */
COIL_SUSPENDS int redis_open(struct redis *redis);

/*
 * The body of the task that does the work, `arg` being the connection; it connects again whenever that is
 * necessary. Ends when it is cancelled, or with what connecting again would not mend; then commands
 * fail with that, or with -ESHUTDOWN.
 */
COIL_SUSPENDS int redis_serve(void *arg);

/*
 * Send a command, and wait for its reply, which is the caller's: freeReplyObject(). It is never an
 * error: those are failures. Fails with
 *
 *     -ECONNRESET or what else broke the connection: it may have been done or not
 *     -ETIMEDOUT    the same, or there was no connection all the time
 *     -ENOSPC       Redis has no memory left (OOM)
 *     -ENOENT       NOCRAWL: there is no such crawl
 *     -EACCES       it is not allowed
 *     -EBUSY, -EROFS, -EREMOTEIO  other errors of Redis
 *     -ECANCELED, -ENOMEM, or what redis_serve() has ended with
 */
COIL_SUSPENDS int redis_command(struct redis *redis, const struct redis_words *words,
                                redisReply **reply);

/* The same by a script, of one key and these arguments. */
COIL_SUSPENDS int redis_run(struct redis *redis, size_t script, const char *key,
                            const struct redis_words *arguments, redisReply **reply);

/* True for a failure of a command because Redis cannot be reached, or is busy: the same may be sent again. */
bool redis_may_pass(int rc);

/* What went wrong with this connection, in a sentence that names the Redis; "" if nothing has. */
const char *redis_message(const struct redis *redis);

/* It counts how often Redis itself has been another since the first time: started again, maybe with its last
   second lost. */
unsigned redis_lives(const struct redis *redis);

#endif
