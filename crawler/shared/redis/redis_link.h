/*
 * redis_link.h - one connection to Redis: commands out, replies in.
 *
 *     rc = redis_link_open(&link);
 *     if (rc == 0)
 *         rc = redis_link_query(&link, &words, &reply);
 *     redis_link_close(&link);
 *
 * Each failure leaves a message in `message`, which names the server.
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
 * Initialize with zeroes, the address and, for rediss://, the TLS context. The link is
 * closed at first.
 */
struct redis_link {
    struct redis_address address;
    coil_tls *tls;
    coil_stream *stream; /* NULL: closed */
    redisReader *reader;
    char message[REDIS_MESSAGE_BYTES];
};

/* Fails like coil_connect_tls(). Call redis_link_close() in any case. */
COIL_SUSPENDS int redis_link_open(struct redis_link *link);
void redis_link_close(struct redis_link *link);

/*
 * Write encoded commands. Fails with -ETIMEDOUT after redis_link_break(), or as
 * coil_write().
 */
COIL_SUSPENDS int redis_link_write(struct redis_link *link, const void *bytes, size_t n);

/*
 * Read the next reply, which may be an error reply. The caller owns it. Fails with
 *
 *     -ECONNRESET     the server closed the connection
 *     -EPROTO         the bytes are not a reply
 *     -ETIMEDOUT      redis_link_break() was called
 *     -ENOMEM         or as coil_read()
 */
COIL_SUSPENDS int redis_link_read(struct redis_link *link, redisReply **reply);

/*
 * Close the stream because of a timeout: calls that read or write fail with -ETIMEDOUT.
 */
void redis_link_break(struct redis_link *link);

/*
 * Send a command and read its reply, while the caller alone uses the link. An error reply
 * is returned as a failure: redis_link_refused().
 */
COIL_SUSPENDS int redis_link_query(struct redis_link *link,
                                   const struct redis_words *words, redisReply **reply);

/* Convert an error reply to the error code that redis_command() documents. */
int redis_link_refused(struct redis_link *link, const redisReply *error);

/* Set the message. Returns rc. */
int redis_link_fail(struct redis_link *link, int rc, const char *words);

#endif
