/*
 * redis.h - a connection to Redis (or Valkey) that many tasks share. If it breaks, it is
 * restored automatically.
 *
 *     rc = redis_create(&options, &redis);
 *     if (rc == 0)
 *         rc = redis_open(redis);                   // connect, and check the server
 *     if (rc == 0)
 *         rc = coil_group_spawn(&group, redis_serve, redis, NULL, NULL);
 *     ...
 *     rc = redis_command(redis, &words, &reply);    // in any task
 *     if (rc < 0)
 *         fprintf(stderr, "%s\n", redis_message(redis));
 *     freeReplyObject(reply);
 *
 * The commands of all tasks are pipelined: a command is sent without waiting for the
 * replies to earlier ones. hiredis encodes and decodes the protocol, and coil's streams
 * transport it.
 *
 * If the connection breaks, commands that were sent fail, and it is unknown whether Redis
 * has executed them. The scripts of a crawl can be repeated safely. Commands that were
 * not sent yet wait for the next connection.
 */
#ifndef CRAWLER_REDIS_H
#define CRAWLER_REDIS_H

#include "redis_script.h"
#include "redis_words.h"

#include <coil/base.h>
#include <hiredis.h>

struct redis;

struct redis_options {
    const char *url; /* see redis_address.h */
    /* trusted certificates for rediss://; NULL: those of the operating system */
    const char *ca_file;
    bool insecure;      /* do not verify the server's certificate */
    int64_t timeout_ns; /* time limit of each command and of each attempt to connect */
    /*
     * Called with a message when Redis becomes unreachable, and with NULL when it is
     * reachable again. May be NULL.
     */
    void (*tell)(const char *message);
    /* The scripts for redis_run(), which must outlive the connection. */
    const struct redis_script *scripts;
    size_t script_count;
};

/*
 * Create a connection without opening it. `options` is copied. Fails with -EINVAL if the
 * URL is not a valid address of Redis, with -ENOMEM, or like coil_tls_create(). After a
 * failure, *out is NULL.
 */
int redis_create(const struct redis_options *options, struct redis **out);

/* Free the connection. No task may be using it. NULL is allowed. */
void redis_destroy(struct redis *redis);

/*
 * Connect, and check that the server is suitable for a crawl. Fails like coil_connect()
 * and coil_start_tls(), or with
 *
 *     -ETIMEDOUT               the server did not answer in time
 *     -EACCES                  the password is wrong or missing
 *     -EINVAL                  the server may evict keys, or its version is too old
 *     -EPROTO                  the server is not Redis
 *     -ENOMEM, -ECANCELED
 */
COIL_SUSPENDS int redis_open(struct redis *redis);

/*
 * Send commands, receive replies, and reconnect when necessary. This is a task function
 * whose argument is the connection. The task returns after a cancellation, or after an
 * error that reconnecting cannot fix. From then on, commands fail with -ESHUTDOWN or with
 * that error.
 */
COIL_SUSPENDS int redis_serve(void *arg);

/*
 * Send a command, and wait for its reply. The caller frees the reply with
 * freeReplyObject(). An error reply is returned as a failure, never as a reply. Fails
 * with
 *
 *     -ECONNRESET                 connection lost; Redis may have executed the command
 *     -ETIMEDOUT                  no reply in time (it may be executed), or no connection
 *     -ENOSPC                     Redis is out of memory (OOM)
 *     -ENOENT                     there is no such crawl (NOCRAWL)
 *     -EACCES                     permission denied
 *     -EBUSY, -EROFS, -EREMOTEIO  other errors of Redis
 *     -ECANCELED, -ENOMEM         or the error that ended redis_serve()
 */
COIL_SUSPENDS int redis_command(struct redis *redis, const struct redis_words *words,
                                redisReply **reply);

/*
 * Run a script, given by its index in options.scripts, with one key and these arguments.
 * Fails like redis_command().
 */
COIL_SUSPENDS int redis_run(struct redis *redis, size_t script, const char *key,
                            const struct redis_words *arguments, redisReply **reply);

/*
 * Send a command, and then run a script, without waiting for the reply to the command.
 * Succeeds if the script does, so the script must check that the command was executed.
 * Fails with the error of the command, or else of the script, like redis_command().
 */
COIL_SUSPENDS int redis_run_after(struct redis *redis, const struct redis_words *command,
                                  size_t script, const char *key,
                                  const struct redis_words *arguments,
                                  redisReply **reply);

/*
 * True if `rc` means that Redis is unreachable or busy, so that the command may succeed
 * later.
 */
bool redis_may_pass(int rc);

/* Return the message of the last failure, including the server's name, or "". */
const char *redis_message(const struct redis *redis);

/*
 * Return how often Redis was restarted since the first connection. A restart may lose the
 * last second of data.
 */
unsigned redis_restarts(const struct redis *redis);

#endif
