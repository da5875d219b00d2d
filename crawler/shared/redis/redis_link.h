/*
 * redis_link.h - a connection to Redis without the features of redis.h: it has one user,
 * and is not restored.
 *
 *     rc = redis_link_open(&link);
 *     if (rc == 0)
 *         rc = redis_link_query(&link, &words, &reply);
 *     redis_link_close(&link);
 *
 * After each failure, `message` describes the error and names the server.
 */
#ifndef CRAWLER_REDIS_LINK_H
#define CRAWLER_REDIS_LINK_H

#include "redis_address.h"
#include "redis_words.h"

#include <coil/stream.h>
#include <coil/tls.h>
#include <hiredis.h>

#define REDIS_MESSAGE_BYTES 512

/*
 * A link, initially closed. Set `address` and, for rediss://, `tls`, and initialize the
 * other members with zeroes.
 */
struct redis_link {
    struct redis_address address;
    coil_tls *tls;
    coil_stream *stream; /* NULL while the link is closed */
    redisReader *reader;
    char message[REDIS_MESSAGE_BYTES];
};

/*
 * Connect. Fails like coil_connect_tls(). redis_link_close() must be called even after an
 * error.
 */
COIL_SUSPENDS int redis_link_open(struct redis_link *link);
void redis_link_close(struct redis_link *link);

/*
 * Write encoded commands. Fails with -ETIMEDOUT after redis_link_break(), or like
 * coil_write().
 */
COIL_SUSPENDS int redis_link_write(struct redis_link *link, const void *bytes, size_t n);

/*
 * Read the next reply, which may be an error reply, and which the caller frees. Fails
 * with
 *
 *     -ECONNRESET   the server closed the connection
 *     -EPROTO       the bytes are not a reply
 *     -ETIMEDOUT    redis_link_break() was called
 *     -ENOMEM       or an error of coil_read()
 */
COIL_SUSPENDS int redis_link_read(struct redis_link *link, redisReply **reply);

/*
 * Close the stream because of a timeout. Reads and writes in progress fail with
 * -ETIMEDOUT.
 */
void redis_link_break(struct redis_link *link);

/*
 * Send a command and read its reply. No other task may use the link during the call. If
 * the reply is an error, fails like redis_link_refused().
 */
COIL_SUSPENDS int redis_link_query(struct redis_link *link,
                                   const struct redis_words *words, redisReply **reply);

/*
 * Set the message from an error reply. Returns the corresponding error of
 * redis_command().
 */
int redis_link_refused(struct redis_link *link, const redisReply *error);

/* Set the message. Returns rc. */
int redis_link_fail(struct redis_link *link, int rc, const char *words);

#endif
