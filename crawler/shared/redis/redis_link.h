/*
 * redis_link.h - one connection to Redis: commands out, replies in.
 *
 *     rc = redis_link_open(&link);
 *     if (rc == 0)
 *         rc = redis_link_ask(&link, &words, &reply);
 *     redis_link_close(&link);
 *
 * Whatever fails leaves a sentence in `message`, which names the Redis.
 */
#ifndef CRAWLER_REDIS_LINK_H
#define CRAWLER_REDIS_LINK_H

#include "redis_address.h"
#include "redis_words.h"

#include <coil/stream.h>
#include <coil/tls.h>
#include <hiredis.h>

#define REDIS_MESSAGE_BYTES 512

/* Zeroes, but for the address and, for rediss://, the context, are one that is closed. */
struct redis_link {
    struct redis_address address;
    coil_tls *tls;
    coil_stream *stream; /* NULL: it is closed */
    redisReader *reader;
    char message[REDIS_MESSAGE_BYTES];
};

/* Fails as coil_connect_tls(). Close it in any case. */
COIL_SUSPENDS int redis_link_open(struct redis_link *link);
void redis_link_close(struct redis_link *link);

/* Bytes of commands. 0, -ETIMEDOUT after redis_link_break(), or as coil_write(). */
COIL_SUSPENDS int redis_link_write(struct redis_link *link, const void *bytes, size_t n);

/* The next reply, which is the caller's, be it an error. -ECONNRESET at the end, -EPROTO for what is no
   reply, -ENOMEM, -ETIMEDOUT after redis_link_break(), or as coil_read(). */
COIL_SUSPENDS int redis_link_read(struct redis_link *link, redisReply **reply);

/* It answers too late: whoever writes or reads is sent away. */
void redis_link_break(struct redis_link *link);

/* A command and its reply, while nobody else uses it. An error is a failure: redis_link_refused(). */
COIL_SUSPENDS int redis_link_ask(struct redis_link *link, const struct redis_words *words,
                                 redisReply **reply);

/* The failure that an error of Redis is, as redis_command() has it. */
int redis_link_refused(struct redis_link *link, const redisReply *error);

/* Note a sentence; returns rc. */
int redis_link_complain(struct redis_link *link, int rc, const char *words);

#endif
