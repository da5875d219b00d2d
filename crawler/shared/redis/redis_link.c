/* redis_link.c - see redis_link.h */
#include "redis_link.h"

#include <coil/error.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ------------------------------------------------------------------------ */

int redis_link_fail(struct redis_link *link, int rc, const char *words)
{
    snprintf(link->message, sizeof link->message, "%s: %s", link->address.name, words);
    return rc;
}

/*
 * Store the message of coil's last error if its errno is `rc`, otherwise strerror().
 * Returns `rc`.
 */
static int fail_with_stream_error(struct redis_link *link, int rc)
{
    coil_error *error = coil_last_error();

    if (rc == -ECANCELED || rc == -ENOMEM)
        return rc;
    return redis_link_fail(link, rc,
                           error != NULL && coil_error_rc(error) == rc
                               ? coil_error_message(error)
                               : strerror(-rc));
}

/*
 * Store the message for the error of a read or write, and return the error. However,
 * -EBADF means that redis_link_break() has closed the stream and set a message: in that
 * case, return -ETIMEDOUT.
 */
static int fail_unless_broken(struct redis_link *link, int rc)
{
    return rc == -EBADF ? -ETIMEDOUT : fail_with_stream_error(link, rc);
}

static int fail_with_protocol_error(struct redis_link *link)
{
    if (link->reader->err == REDIS_ERR_OOM)
        return -ENOMEM;
    return redis_link_fail(link, -EPROTO, link->reader->errstr);
}

int redis_link_refused(struct redis_link *link, const redisReply *error)
{
    static const struct {
        const char *word;
        int rc;
    } errors[] = {
        {"OOM ", -ENOSPC},       {"NOCRAWL ", -ENOENT}, {"NOAUTH ", -EACCES},
        {"WRONGPASS ", -EACCES}, {"NOPERM ", -EACCES},  {"LOADING ", -EBUSY},
        {"BUSY ", -EBUSY},       {"READONLY ", -EROFS}, {"NOSCRIPT ", -ENOEXEC},
        {"NORESULTS ", -EBUSY},
    };
    int rc = -EREMOTEIO;

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strncmp(error->str, errors[i].word, strlen(errors[i].word)) == 0)
            rc = errors[i].rc;
    return redis_link_fail(link, rc, error->str);
}

/* ---- life cycle -------------------------------------------------------------------- */

int redis_link_open(struct redis_link *link)
{
    const struct redis_address *address = &link->address;
    int rc;

    if (address->path != NULL)
        rc = coil_connect_unix(address->path, &link->stream);
    else if (address->is_tls)
        rc = coil_connect_tls(address->host, address->port, link->tls, &link->stream);
    else
        rc = coil_connect(address->host, address->port, &link->stream);
    if (rc < 0) {
        link->stream = NULL;
        return fail_with_stream_error(link, rc);
    }
    link->reader = redisReaderCreate();
    return link->reader != NULL ? 0 : -ENOMEM;
}

void redis_link_close(struct redis_link *link)
{
    if (link->reader != NULL)
        redisReaderFree(link->reader);
    link->reader = NULL;
    coil_stream_destroy(link->stream);
    link->stream = NULL;
}

void redis_link_break(struct redis_link *link)
{
    redis_link_fail(link, -ETIMEDOUT, "no answer in time");
    if (link->stream != NULL)
        coil_stream_close(link->stream);
}

/* ---- commands and replies ---------------------------------------------------------- */

int redis_link_write(struct redis_link *link, const void *bytes, size_t n)
{
    ssize_t written = coil_write(link->stream, bytes, n);

    return written < 0 ? fail_unless_broken(link, (int)written) : 0;
}

static int read_more(struct redis_link *link)
{
    const void *bytes;
    ssize_t n = coil_peek(link->stream, &bytes, 1);

    if (n < 0)
        return fail_unless_broken(link, (int)n);
    if (n == 0)
        return redis_link_fail(link, -ECONNRESET, "the connection was closed");
    if (redisReaderFeed(link->reader, bytes, (size_t)n) != REDIS_OK)
        return fail_with_protocol_error(link);
    coil_stream_consume(link->stream, (size_t)n);
    return 0;
}

int redis_link_read(struct redis_link *link, redisReply **reply)
{
    void *found = NULL;
    int rc = 0;

    while (rc == 0) {
        if (redisReaderGetReply(link->reader, &found) != REDIS_OK)
            return fail_with_protocol_error(link);
        *reply = found;
        if (found != NULL)
            return 0;
        rc = read_more(link);
    }
    return rc;
}

int redis_link_query(struct redis_link *link, const struct redis_words *words,
                     redisReply **reply)
{
    char *bytes;
    int n = redis_words_format(words, &bytes);
    int rc;

    if (n < 0)
        return n;
    rc = redis_link_write(link, bytes, (size_t)n);
    redisFreeCommand(bytes);
    if (rc == 0)
        rc = redis_link_read(link, reply);
    if (rc < 0 || (*reply)->type != REDIS_REPLY_ERROR)
        return rc;
    rc = redis_link_refused(link, *reply);
    freeReplyObject(*reply);
    return rc;
}
