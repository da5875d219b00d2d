/*
 * lease_results.c - send the results of completed items, and collect them.
 *
 * The bytes of results do not pass through the scripts, because Lua copies and hashes
 * each byte. A worker sends them in a command of its own, immediately before
 * SCRIPT_COMPLETE, and a collector reads them after SCRIPT_COLLECT.
 */
#include "lease_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* ---- send -------------------------------------------------------------------------- */

static void put_32(struct text *text, size_t number)
{
    const unsigned char bytes[LENGTH_BYTES] = {
        (unsigned char)number, (unsigned char)(number >> 8),
        (unsigned char)(number >> 16), (unsigned char)(number >> 24)};

    text_add(text, (const char *)bytes, sizeof bytes);
}

static size_t get_32(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;

    return bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 |
           (size_t)bytes[3] << 24;
}

/* Append a text as one word, and free the text. */
static void add_text(struct redis_words *words, struct text *text)
{
    redis_words_add_bytes(words, text->n > 0 ? text->at : "", text->n);
    words->bytes.failed |= text->failed;
    text_finish(text);
}

size_t lease_add_results(struct redis_words *words, const struct lease_done *done)
{
    struct text numbers = {0}, lengths = {0};
    size_t total = 0;

    for (size_t i = 0; i < done->count; i++) {
        total += done->results[i].n;
        put_32(&numbers, (size_t)done->results[i].number);
        put_32(&lengths, done->results[i].n);
    }
    redis_words_add_number(words, (int64_t)total);
    add_text(words, &numbers);
    add_text(words, &lengths);
    return total;
}

void lease_add_sending(struct redis_words *words, const struct leases *leases,
                       const struct lease_done *done)
{
    char key[sizeof leases->key + sizeof leases->worker + 32];
    struct text bytes = {0};

    for (size_t i = 0; i < done->count; i++)
        text_add(&bytes, done->results[i].bytes, done->results[i].n);
    snprintf(key, sizeof key, "%s:sent:%s:%" PRIu64, leases->key, leases->worker,
             leases->calls);
    redis_words_add(words, "PSETEX");
    redis_words_add(words, key);
    redis_words_add(words, SENT_MILLISECONDS);
    add_text(words, &bytes);
}

/* ---- collect ----------------------------------------------------------------------- */

#define FIRST_ENTRY ((size_t)3) /* index of the first entry in the reply */

typedef int (*result_visit)(void *arg, int64_t number, const void *bytes, size_t n);

/*
 * Visit the results of one entry, except skipped ones and those whose numbers are at most
 * `after`. `bytes` contains the results, one after another, and `lengths` their lengths.
 * `number` is the number of the first result. Returns how many were visited, or a
 * negative error.
 */
static int visit_entry(const redisReply *lengths, const redisReply *bytes, int64_t number,
                       int64_t after, result_visit visit, void *arg)
{
    size_t at = 0;
    int count = 0, rc = 0;

    if (lengths->type != REDIS_REPLY_STRING || bytes->type != REDIS_REPLY_STRING ||
        lengths->len % LENGTH_BYTES != 0)
        return -EPROTO;
    for (size_t i = 0; i < lengths->len; i += LENGTH_BYTES, number++) {
        size_t length = get_32(lengths->str + i), n = length & ~LENGTH_SKIPPED;

        if (n > bytes->len - at)
            return -EPROTO;
        if (number > after && (length & LENGTH_SKIPPED) == 0) {
            rc = visit(arg, number, bytes->str + at, n);
            count++;
        }
        if (rc < 0)
            return rc;
        at += n;
    }
    return count;
}

/* True if Redis has lost the bytes of an entry, or another collector has deleted them,
 * since SCRIPT_COLLECT ran. */
static bool lacks_bytes(const redisReply *bytes)
{
    for (size_t i = 0; i < bytes->elements; i++)
        if (bytes->element[i]->type == REDIS_REPLY_NIL)
            return true;
    return false;
}

/*
 * Visit the results of all entries. `bytes` has the bytes of each entry. Fails with -EBUSY
 * before the first visit if some are missing: the caller must collect again.
 */
static int visit_results(const redisReply *entries, const redisReply *bytes,
                         int64_t after, result_visit visit, void *arg)
{
    int count = 0;

    if (bytes->type != REDIS_REPLY_ARRAY ||
        FIRST_ENTRY + 2 * bytes->elements > entries->elements)
        return -EPROTO;
    if (lacks_bytes(bytes))
        return -EBUSY;
    for (size_t i = 0; i < bytes->elements; i++) {
        int64_t number = lease_number_at(entries, FIRST_ENTRY + 2 * i);
        int rc = number > 0 && number < INT64_MAX / 2
                     ? visit_entry(entries->element[FIRST_ENTRY + 2 * i + 1],
                                   bytes->element[i], number, after, visit, arg)
                     : -EPROTO;

        if (rc < 0)
            return rc;
        count += rc;
    }
    return count;
}

/* Read the bytes of the entries, and visit their results. */
static int read_results(struct leases *leases, const redisReply *entries, int64_t after,
                        result_visit visit, void *arg)
{
    struct redis_words words = {.count = 0};
    redisReply *bytes;
    int rc;

    redis_words_add(&words, "MGET");
    for (size_t i = FIRST_ENTRY; i + 1 < entries->elements; i += 2) {
        char key[sizeof leases->key + 32];

        snprintf(key, sizeof key, "%s:b:%s", leases->key, lease_text_at(entries, i));
        redis_words_add(&words, key);
    }
    rc = redis_command(leases->redis, &words, &bytes);
    redis_words_finish(&words);
    if (rc < 0)
        return rc;
    rc = visit_results(entries, bytes, after, visit, arg);
    freeReplyObject(bytes);
    return rc;
}

int leases_collect(struct leases *leases, int64_t after, unsigned most,
                   int (*visit)(void *arg, int64_t number, const void *bytes, size_t n),
                   void *arg, struct lease_progress *progress)
{
    struct redis_words words = {.count = 0};
    redisReply *reply;
    int rc;

    redis_words_add_number(&words, after);
    redis_words_add_number(&words, most);
    rc = lease_run_script(leases, SCRIPT_COLLECT, &words, &reply);
    if (rc < 0)
        return rc;
    *progress =
        (struct lease_progress){lease_number_at(reply, 1), lease_number_at(reply, 2)};
    if (reply->type != REDIS_REPLY_ARRAY)
        rc = -EPROTO;
    else if (reply->elements > FIRST_ENTRY)
        rc = read_results(leases, reply, after, visit, arg);
    if (rc == 0 && lease_number_at(reply, 0) == 1)
        rc = -ENODATA;
    freeReplyObject(reply);
    return rc;
}
