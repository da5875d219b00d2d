/*
 * lease.c - see lease.h
 *
 * Redis stores a URL as an "item": a header of six bytes, followed by the URL without its
 * origin, which is part of the key (scripts/common.lua). All replies are checked, because
 * other programs may also write to Redis.
 */
#include "lease_inside.h"

#include "../base/array.h"
#include "../base/hash.h"
#include "../url/url.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life cycle -------------------------------------------------------------------- */

bool leases_is_name(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && strchr("._-", name[i]) == NULL)
            return false;
    return n > 0 && n <= LEASES_NAME_BYTES;
}

static void make_seeds(char seeds[SEEDS_BYTES])
{
    for (int i = 0; i < 3; i++)
        snprintf(seeds + 16 * i, SEEDS_BYTES - 16 * (size_t)i, "%016" PRIx64,
                 hash_seed());
}

static int read_seeds(struct leases *leases, const char *text)
{
    for (int i = 0; i < 3; i++)
        if (strlen(text) != SEEDS_BYTES - 1 ||
            sscanf(text + 16 * i, "%16" SCNx64, &leases->seeds[i]) != 1)
            return -EPROTO;
    return 0;
}

/* Read the reply of SCRIPT_BEGIN, except the options. */
static int take_setup(struct leases *leases, const redisReply *reply)
{
    leases->format = lease_number_at(reply, 1);
    if (leases->format != LEASES_FORMAT)
        return -EPROTONOSUPPORT;
    return read_seeds(leases, lease_text_at(reply, 2));
}

static bool is_other_setup(const struct leases_setup *setup, const redisReply *reply)
{
    return strcmp(lease_text_at(reply, 3), setup->options) != 0;
}

void leases_describe_format(const struct leases *leases, const char *name, char *words,
                            size_t n)
{
    snprintf(words, n,
             "%s: %s version of coil-crawl began this crawl: its data in Redis has "
             "format %" PRId64 ", but this version needs format %d; run the same version "
             "in all processes of the crawl, or choose another name with --crawl",
             name, leases->format < LEASES_FORMAT ? "an older" : "a newer",
             leases->format, LEASES_FORMAT);
}

static void init_leases(struct leases *leases, struct redis *redis, const char *name)
{
    *leases = (struct leases){.redis = redis, .starts = -1};
    snprintf(leases->key, sizeof leases->key, "coil:{%s}", name);
    snprintf(leases->worker, sizeof leases->worker, "%016" PRIx64 "%016" PRIx64,
             hash_seed(), hash_seed());
}

static void add_setup(struct redis_words *words, const char *seeds,
                      const struct leases_setup *setup)
{
    redis_words_add_number(words, LEASES_FORMAT);
    redis_words_add(words, seeds);
    redis_words_add(words, setup->options);
    redis_words_add_number(words, setup->by_depth);
    redis_words_add_number(words, setup->max_pages);
    redis_words_add_number(words, setup->max_bytes);
    redis_words_add_number(words, setup->split > 0 ? setup->split : 1);
}

int leases_begin(struct leases *leases, struct redis *redis, const char *name,
                 const struct leases_setup *setup, int64_t span_ns)
{
    struct redis_words words = {.count = 0};
    char seeds[SEEDS_BYTES];
    redisReply *reply;
    int rc;

    if (!leases_is_name(name))
        return -EINVAL;
    init_leases(leases, redis, name);
    leases->span_ns = span_ns;
    make_seeds(seeds);
    add_setup(&words, seeds, setup);
    rc = lease_run_script(leases, SCRIPT_BEGIN, &words, &reply);
    if (rc < 0)
        return rc;
    rc = take_setup(leases, reply);
    if (rc == 0 && is_other_setup(setup, reply))
        rc = -EEXIST;
    if (rc == 0)
        rc = lease_number_at(reply, 0) == 1;
    freeReplyObject(reply);
    return rc;
}

int leases_join(struct leases *leases, struct redis *redis, const char *name,
                char **options)
{
    struct redis_words words = {.count = 0};
    redisReply *reply;
    int rc;

    *options = NULL;
    if (!leases_is_name(name))
        return -EINVAL;
    init_leases(leases, redis, name);
    add_setup(&words, "", &(struct leases_setup){.options = ""});
    rc = lease_run_script(leases, SCRIPT_BEGIN, &words, &reply);
    if (rc < 0)
        return rc;
    rc = take_setup(leases, reply);
    if (rc == 0)
        *options = strdup(lease_text_at(reply, 3));
    freeReplyObject(reply);
    return rc == 0 && *options == NULL ? -ENOMEM : rc;
}

/* ---- add, acquire ------------------------------------------------------------------ */

/* Run a script and ignore its reply. */
static int run_without_reply(struct leases *leases, enum crawl_script script,
                             struct redis_words *words)
{
    redisReply *reply;
    int rc = lease_run_script(leases, script, words, &reply);

    if (rc == 0)
        freeReplyObject(reply);
    return rc;
}

/*
 * Enqueue the links in `count` words of `links`, beginning with word number `first`. If
 * `begins` is true, these are the last start URLs, after which the crawl begins.
 */
static int add_some(struct leases *leases, const struct redis_words *links, size_t first,
                    size_t count, bool begins)
{
    struct redis_words words = {.count = 0};

    redis_words_add(&words, begins ? "1" : "0");
    redis_words_append(&words, links, first, count);
    return run_without_reply(leases, SCRIPT_ADD, &words);
}

/*
 * Enqueue links until the rest fits into one call of a script. Stores the number of words
 * enqueued in *added.
 */
static int add_surplus(struct leases *leases, const struct redis_words *links,
                       size_t *added)
{
    int rc = 0;

    for (*added = 0; rc == 0 && links->count - *added > LINK_WORDS_AT_ONCE;
         *added += LINK_WORDS_AT_ONCE)
        rc = add_some(leases, links, *added, LINK_WORDS_AT_ONCE, false);
    return rc;
}

int leases_add(struct leases *leases, const struct redis_words *links)
{
    size_t added;
    int rc = add_surplus(leases, links, &added);

    return rc == 0 ? add_some(leases, links, added, links->count - added, true) : rc;
}

int leases_origins(struct leases *leases, int (*visit)(void *arg, const char *origin),
                   void *arg)
{
    struct redis_words words = {.count = 0};
    char key[sizeof leases->key + sizeof ":origins"];
    redisReply *reply;
    int rc;

    snprintf(key, sizeof key, "%s:origins", leases->key);
    redis_words_add(&words, "SMEMBERS");
    redis_words_add(&words, key);
    rc = redis_command(leases->redis, &words, &reply);
    redis_words_finish(&words);
    if (rc < 0)
        return rc;
    for (size_t i = 0; rc == 0 && i < reply->elements; i++)
        rc = lease_is_web(lease_text_at(reply, i)) ? visit(arg, lease_text_at(reply, i))
                                                   : -EPROTO;
    freeReplyObject(reply);
    return rc;
}

static void take_starts(struct leases *leases, const redisReply *reply, size_t i)
{
    leases->starts = lease_number_at(reply, i);
    leases->origins = lease_number_at(reply, i + 1);
}

static bool is_host(const char *host, enum lease_class class)
{
    return lease_class_of(host) == class &&
           (class == LEASE_HELD ? host[1] == '\0' : lease_is_web(host + 1));
}

static int take_lease(struct lease *lease, enum lease_class class,
                      const redisReply *reply)
{
    int rc;

    snprintf(lease->token, sizeof lease->token, "%s", lease_text_at(reply, 1));
    lease->host = strdup(lease_text_at(reply, 2));
    if (lease->host == NULL)
        return -ENOMEM;
    if (lease->token[0] == '\0' || !is_host(lease->host, class))
        return -EPROTO;
    lease->pause_ns = lease_span_at(reply, 3);
    lease->is_troubled = lease_number_at(reply, 4) == 1;
    lease->has_reported_sitemaps = lease_number_at(reply, 5) == 1;
    rc = lease_take_items(lease, reply, 8);
    if (rc == 0 && lease->count == 0)
        rc = -EPROTO;
    return rc < 0 ? rc : 1;
}

static int take_outcome(struct leases *leases, enum lease_class class,
                        struct lease *lease, const redisReply *reply, int64_t *wait_ns)
{
    const char *outcome = lease_text_at(reply, 0);

    if (strcmp(outcome, "lease") == 0) {
        take_starts(leases, reply, 6);
        return take_lease(lease, class, reply);
    }
    if (strcmp(outcome, "wait") == 0) {
        take_starts(leases, reply, 2);
        *wait_ns = lease_span_at(reply, 1);
        return 0;
    }
    if (strcmp(outcome, "over") == 0)
        return -ENODATA;
    return strcmp(outcome, "full") == 0 ? -ENOBUFS : -EPROTO;
}

int leases_acquire(struct leases *leases, enum lease_class class, unsigned most,
                   struct lease *lease, int64_t *wait_ns)
{
    struct redis_words words = {.count = 0};
    redisReply *reply;
    int rc;

    *lease = (struct lease){.count = 0};
    *wait_ns = 0;
    redis_words_add_bytes(&words, &class_letters[class], 1);
    redis_words_add(&words, leases->worker);
    redis_words_add_number(&words, lease_to_ms(leases->span_ns));
    redis_words_add_number(&words, most);
    rc = lease_run_script(leases, SCRIPT_ACQUIRE, &words, &reply);
    if (rc < 0)
        return rc;
    rc = take_outcome(leases, class, lease, reply, wait_ns);
    freeReplyObject(reply);
    if (rc <= 0)
        lease_finish(lease);
    return rc;
}

/* ---- complete, release ------------------------------------------------------------- */

static void add_host(struct redis_words *words, int64_t pause_ns, bool was_troubled,
                     bool is_troubled)
{
    redis_words_add_number(words, lease_to_ms(pause_ns));
    redis_words_add(words, was_troubled == is_troubled ? "" : is_troubled ? "1" : "0");
}

static int run_complete(struct leases *leases, const struct lease *lease,
                        const struct lease_done *done, size_t added, redisReply **reply)
{
    struct redis_words words = {.count = 0}, sending = {.count = 0};
    size_t total;
    int rc;

    redis_words_add(&words, lease->token);
    redis_words_add(&words, leases->worker);
    redis_words_add_number(&words, lease_to_ms(leases->span_ns));
    redis_words_add_number(&words, done->more);
    add_host(&words, done->pause_ns, lease->is_troubled, done->is_troubled);
    redis_words_add_number(&words, (int64_t)++leases->calls);
    total = lease_add_results(&words, done);
    if (done->links != NULL)
        redis_words_append(&words, done->links, added, done->links->count - added);
    if (total == 0)
        return lease_run_script(leases, SCRIPT_COMPLETE, &words, reply);
    lease_add_sending(&sending, leases, done);
    rc = redis_run_after(leases->redis, &sending, SCRIPT_COMPLETE, leases->key, &words,
                         reply);
    redis_words_finish(&words);
    redis_words_finish(&sending);
    return rc;
}

/*
 * Process the reply to SCRIPT_COMPLETE. Returns the number of results that Redis ignored,
 * or a negative error.
 */
static int read_completed(struct lease *lease, const struct lease_done *done,
                          const redisReply *reply)
{
    int64_t lost = lease_number_at(reply, 0);
    int rc;

    if (lost < 0 || (uint64_t)lost > done->count)
        return -EPROTO;
    for (size_t i = 0; i < done->count; i++) {
        lease_drop_number(lease, done->results[i].number);
        lease->has_reported_sitemaps |= done->results[i].number == LEASE_SITEMAPS;
    }
    lease->is_troubled = done->is_troubled;
    lease->pause_ns = lease_span_at(reply, 2);
    rc = lease_take_items(lease, reply, 3);
    if (lease_number_at(reply, 1) == 1)
        lease_end(lease);
    return rc < 0 ? rc : (int)lost;
}

int lease_complete(struct leases *leases, struct lease *lease,
                   const struct lease_done *done)
{
    redisReply *reply;
    size_t added = 0;
    int rc = done->links != NULL ? add_surplus(leases, done->links, &added) : 0;

    if (rc == 0)
        rc = run_complete(leases, lease, done, added, &reply);
    if (rc < 0)
        return rc;
    rc = read_completed(lease, done, reply);
    freeReplyObject(reply);
    return rc;
}

static void read_released(struct lease *lease, redisReply *reply)
{
    if (lease_number_at(reply, 1) == 1)
        lease_end(lease);
    freeReplyObject(reply);
}

int lease_release(struct leases *leases, struct lease *lease, size_t i, int64_t delay_ns,
                  int64_t pause_ns, bool is_troubled)
{
    struct lease_item *item = &lease->items[i];
    struct redis_words words = {.count = 0};
    /*
     * Copy the number, because other tasks may remove items while this task is suspended.
     */
    int64_t number = item->number;
    redisReply *reply;
    int rc;

    redis_words_add(&words, lease->token);
    redis_words_add(&words, leases->worker);
    add_host(&words, pause_ns, lease->is_troubled, is_troubled);
    redis_words_add_number(&words, number);
    redis_words_add_number(&words, lease_to_ms(delay_ns));
    /* the fetch did not kill the worker, so the item may share a lease again */
    item->url.flags &= ~(unsigned)LEASE_SINGLE;
    lease_add_item(&words, &item->url, strlen(lease->host + 1));
    rc = lease_run_script(leases, SCRIPT_RELEASE, &words, &reply);
    if (rc < 0)
        return rc;
    lease->is_troubled = is_troubled;
    lease_drop_number(lease, number);
    read_released(lease, reply);
    return 0;
}

int lease_release_all(struct leases *leases, struct lease *lease, int64_t pause_ns,
                      bool is_troubled)
{
    struct redis_words words = {.count = 0};
    int rc;

    redis_words_add(&words, lease->token);
    redis_words_add(&words, leases->worker);
    add_host(&words, pause_ns, lease->is_troubled, is_troubled);
    rc = run_without_reply(leases, SCRIPT_RELEASE, &words);
    if (rc == 0)
        lease_drop_all(lease);
    return rc;
}

/* ---- renew, leave, reap ------------------------------------------------------------ */

int leases_renew(struct leases *leases, struct lease_renewal *renewals, size_t count)
{
    struct redis_words words = {.count = 0};
    redisReply *reply;
    int rc;

    redis_words_add(&words, leases->worker);
    redis_words_add_number(&words, lease_to_ms(leases->span_ns));
    for (size_t i = 0; i < count; i++)
        redis_words_add(&words, renewals[i].token);
    rc = lease_run_script(leases, SCRIPT_RENEW, &words, &reply);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < count; i++)
        renewals[i].is_lost = lease_number_at(reply, i) != 1;
    freeReplyObject(reply);
    return 0;
}

int leases_leave(struct leases *leases)
{
    struct redis_words words = {.count = 0};

    redis_words_add(&words, leases->worker);
    return run_without_reply(leases, SCRIPT_LEAVE, &words);
}

int leases_reap(struct leases *leases)
{
    struct redis_words words = {.count = 0};

    redis_words_add_number(&words, REAPED_AT_ONCE);
    return run_without_reply(leases, SCRIPT_REAP, &words);
}

/* ---- delete ------------------------------------------------------------------------ */

static int command(struct leases *leases, struct redis_words *words)
{
    redisReply *reply;
    int rc = redis_command(leases->redis, words, &reply);

    redis_words_finish(words);
    if (rc == 0)
        freeReplyObject(reply);
    return rc;
}

static int unlink_keys(struct leases *leases, const redisReply *keys, const char *setup)
{
    struct redis_words words = {.count = 0};

    if (keys->type != REDIS_REPLY_ARRAY)
        return -EPROTO;
    redis_words_add(&words, "UNLINK");
    for (size_t i = 0; i < keys->elements; i++)
        if (strcmp(lease_text_at(keys, i), setup) != 0)
            redis_words_add(&words, lease_text_at(keys, i));
    if (words.count > 1)
        return command(leases, &words);
    redis_words_finish(&words);
    return 0;
}

/*
 * Delete the keys of the crawl that one call of SCAN returns, and advance `cursor`. Keep
 * the keys that record that the crawl is over.
 */
static int forget_some(struct leases *leases, char cursor[24], const char *setup)
{
    struct redis_words words = {.count = 0};
    char pattern[sizeof leases->key + 8];
    redisReply *reply;
    int rc;

    snprintf(pattern, sizeof pattern, "%s:*", leases->key);
    redis_words_add(&words, "SCAN");
    redis_words_add(&words, cursor);
    redis_words_add(&words, "MATCH");
    redis_words_add(&words, pattern);
    redis_words_add(&words, "COUNT");
    redis_words_add(&words, FORGOTTEN_AT_ONCE);
    rc = redis_command(leases->redis, &words, &reply);
    redis_words_finish(&words);
    if (rc < 0)
        return rc;
    snprintf(cursor, 24, "%s", lease_text_at(reply, 0));
    rc = reply->elements == 2 ? unlink_keys(leases, reply->element[1], setup) : -EPROTO;
    freeReplyObject(reply);
    return rc;
}

static int expire_key(struct leases *leases, const char *key)
{
    struct redis_words words = {.count = 0};

    redis_words_add(&words, "EXPIRE");
    redis_words_add(&words, key);
    redis_words_add(&words, OVER_SECONDS);
    return command(leases, &words);
}

int leases_forget(struct leases *leases)
{
    char cursor[24] = "0", setup[sizeof leases->key + 8];
    int rc = 0;

    snprintf(setup, sizeof setup, "%s:setup", leases->key);
    do
        rc = forget_some(leases, cursor, setup);
    while (rc == 0 && strcmp(cursor, "0") != 0 && cursor[0] != '\0');
    if (rc == 0)
        rc = expire_key(leases, setup);
    return rc == 0 ? expire_key(leases, leases->key) : rc;
}
