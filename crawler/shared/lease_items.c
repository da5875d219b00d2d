/*
 * lease_items.c - see lease_inside.h
 */
#include "lease_inside.h"

#include "../base/array.h"
#include "../base/hash.h"
#include "../url/url.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- replies ----------------------------------------------------------------------- */

const char *lease_text_at(const redisReply *reply, size_t i)
{
    if (reply->type != REDIS_REPLY_ARRAY || i >= reply->elements ||
        reply->element[i]->type != REDIS_REPLY_STRING)
        return "";
    return reply->element[i]->str;
}

int64_t lease_number_at(const redisReply *reply, size_t i)
{
    if (reply->type == REDIS_REPLY_ARRAY && i < reply->elements &&
        reply->element[i]->type == REDIS_REPLY_INTEGER)
        return reply->element[i]->integer;
    return strtoll(lease_text_at(reply, i), NULL, 10);
}

int64_t lease_span_at(const redisReply *reply, size_t i)
{
    int64_t ms = lease_number_at(reply, i);

    return COIL_MSEC(ms < 0 ? 0 : ms > 3600000 ? 3600000 : ms);
}

int64_t lease_to_ms(int64_t span_ns)
{
    return span_ns <= 0 ? 0 : (span_ns - 1) / COIL_MSEC(1) + 1;
}

int lease_run_script(struct leases *leases, enum crawl_script script,
                     struct redis_words *words, redisReply **reply)
{
    int rc = redis_run(leases->redis, script, leases->key, words, reply);

    redis_words_finish(words);
    return rc;
}

/* ---- items ------------------------------------------------------------------------- */

static unsigned at_most(unsigned value, unsigned most)
{
    return value < most ? value : most;
}

void lease_add_item(struct redis_words *words, const struct lease_url *url,
                    size_t origin_n)
{
    const unsigned depth = at_most(url->depth, UINT16_MAX);
    const unsigned char head[HEAD_BYTES] = {
        (unsigned char)url->flags,
        (unsigned char)at_most(url->tries, UINT8_MAX),
        (unsigned char)at_most(url->losses, UINT8_MAX),
        (unsigned char)at_most(url->hops, UINT8_MAX),
        (unsigned char)(depth >> 8),
        (unsigned char)depth};
    struct text item = {0};

    text_add(&item, (const char *)head, sizeof head);
    text_add(&item, url->url + origin_n, strlen(url->url + origin_n));
    redis_words_add_bytes(words, item.at, item.n);
    words->bytes.failed |= item.failed;
    text_finish(&item);
}

/*
 * Append the hash of a URL, which identifies the URL in Redis. A held URL has a different
 * hash, so that it counts as new when it is enqueued in its real class. hash_bytes()
 * depends on the byte order, which must be the same on all machines of a crawl.
 */
static void add_hash(const struct leases *leases, struct redis_words *words,
                     const struct lease_url *url)
{
    size_t n = strlen(url->url);
    bool is_held = url->class == LEASE_HELD;
    uint64_t hashes[2] = {hash_bytes(url->url, n, leases->seeds[is_held]),
                          hash_bytes(url->url, n, leases->seeds[!is_held])};

    redis_words_add_bytes(words, hashes, HASH_BYTES);
}

void leases_link(const struct leases *leases, struct redis_words *links,
                 const struct lease_url *url)
{
    struct text host = {0};
    size_t origin_n;

    if (strncmp(url->url, "http:", 5) != 0 && strncmp(url->url, "https:", 6) != 0)
        return;
    origin_n = url->class != LEASE_HELD ? url_origin_length(url->url) : 0;
    text_add(&host, &class_letters[url->class], 1);
    text_add(&host, url->url, origin_n);
    redis_words_add_bytes(links, host.at, host.n);
    add_hash(leases, links, url);
    lease_add_item(links, url, origin_n);
    links->bytes.failed |= host.failed;
    text_finish(&host);
}

void leases_origin(struct redis_words *links, const char *url)
{
    redis_words_add(links, "o");
    redis_words_add(links, "");
    redis_words_add_bytes(links, url, url_origin_length(url));
}

enum lease_class lease_class_of(const char *host)
{
    for (int class = 0; class < LEASE_CLASSES; class ++)
        if (host[0] == class_letters[class])
            return (enum lease_class) class;
    return LEASE_CLASSES;
}

bool lease_is_web(const char *url)
{
    return strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
}

/*
 * True if the URL belongs to this host. Any web URL may belong to the common host of held
 * URLs.
 */
static bool is_of_host(const char *url, const char *host)
{
    return lease_is_web(url) && (lease_class_of(host) == LEASE_HELD ||
                                 url_origin_length(url) == strlen(host + 1));
}

static int take_item(struct lease *lease, int64_t number, const redisReply *bytes)
{
    const unsigned char *head = (const unsigned char *)bytes->str;
    struct lease_item *item;

    if (bytes->type != REDIS_REPLY_STRING || bytes->len < HEAD_BYTES)
        return -EPROTO;
    if (lease->count == lease->capacity &&
        array_grow(&lease->items, &lease->capacity, sizeof *lease->items) < 0)
        return -ENOMEM;
    item = &lease->items[lease->count];
    *item = (struct lease_item){.number = number,
                                .url = {.class = lease_class_of(lease->host),
                                        .flags = head[0],
                                        .tries = head[1],
                                        .losses = head[2],
                                        .hops = head[3],
                                        .depth = head[4] * 256U + head[5]}};
    if (asprintf(&item->text, "%s%s", lease->host + 1, bytes->str + HEAD_BYTES) < 0)
        return -ENOMEM;
    item->url.url = item->text;
    lease->count++;
    return is_of_host(item->text, lease->host) ? 0 : -EPROTO;
}

int lease_take_items(struct lease *lease, const redisReply *reply, size_t i)
{
    int rc = 0;

    for (; rc == 0 && reply->type == REDIS_REPLY_ARRAY && i + 1 < reply->elements; i += 2)
        rc = take_item(lease, lease_number_at(reply, i), reply->element[i + 1]);
    return rc;
}

static void drop_item(struct lease *lease, size_t i)
{
    free(lease->items[i].text);
    lease->items[i] = lease->items[--lease->count];
}

void lease_drop_number(struct lease *lease, int64_t number)
{
    for (size_t i = 0; i < lease->count; i++)
        if (lease->items[i].number == number) {
            drop_item(lease, i);
            return;
        }
}

void lease_drop_all(struct lease *lease)
{
    while (lease->count > 0)
        drop_item(lease, lease->count - 1);
    lease->token[0] = '\0';
}

void lease_end(struct lease *lease)
{
    lease->is_lost |= lease->count > 0;
    lease_drop_all(lease);
}

void lease_finish(struct lease *lease)
{
    lease_drop_all(lease);
    free(lease->items);
    free(lease->host);
    *lease = (struct lease){.count = 0};
}
