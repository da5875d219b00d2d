/*
 * recheck.c - see recheck.h
 *
 * The index of pages with a validator needs 16 bytes per page: a hash of the URL, and the
 * page's number. Two URLs may have the same hash, so the URLs are compared after the page
 * was read.
 */
#include "recheck.h"

#include "../base/hash.h"

#include <coil/executor.h>
#include <coil/lock.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    uint64_t hash;
    int64_t number; /* number of the page; 0: the slot is free */
};

struct recheck {
    struct store *store;
    struct saved_urls urls;
    struct slot *slots;
    size_t count, capacity; /* 0 or a power of two */
    uint64_t seed;
    coil_lock lock; /* guards the store */
};

/* ---- the index --------------------------------------------------------------------- */

static struct slot *find_answer(const struct recheck *recheck, uint64_t hash)
{
    size_t i = hash;

    while (recheck->slots[i & (recheck->capacity - 1)].number != 0 &&
           recheck->slots[i & (recheck->capacity - 1)].hash != hash)
        i++;
    return &recheck->slots[i & (recheck->capacity - 1)];
}

static int grow(struct recheck *recheck)
{
    struct slot *old = recheck->slots;
    size_t old_capacity = recheck->capacity;

    recheck->capacity = old_capacity > 0 ? 2 * old_capacity : 256;
    recheck->slots = calloc(recheck->capacity, sizeof *recheck->slots);
    if (recheck->slots == NULL) {
        recheck->slots = old;
        recheck->capacity = old_capacity;
        return -ENOMEM;
    }
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].number != 0)
            *find_answer(recheck, old[i].hash) = old[i];
    free(old);
    return 0;
}

/* Add a page to the index. If several pages have the same URL, the last one is used. */
static int take_page(void *arg, int64_t number, const char *url)
{
    struct recheck *recheck = arg;
    uint64_t hash = hash_bytes(url, strlen(url), recheck->seed);
    struct slot *slot;

    if (recheck->count + 1 > recheck->capacity / 3 * 2 && grow(recheck) < 0)
        return -ENOMEM;
    slot = find_answer(recheck, hash);
    recheck->count += slot->number == 0;
    *slot = (struct slot){hash, number};
    return 0;
}

/* ---- life cycle -------------------------------------------------------------------- */

int recheck_create(struct store *store, struct cold *cold, struct recheck **out,
                   char **message)
{
    struct recheck *recheck = calloc(1, sizeof *recheck);
    int rc = -ENOMEM;

    *out = NULL;
    *message = NULL;
    if (recheck == NULL) {
        store_close(store);
        return rc;
    }
    recheck->store = store;
    recheck->seed = hash_seed();
    coil_lock_init(&recheck->lock);
    rc = grow(recheck);
    if (rc == 0)
        rc = saved_urls_read(&recheck->urls, store, cold);
    if (rc == 0)
        rc = store_each_validator(store, take_page, recheck);
    if (rc < 0 && rc != -ENOMEM)
        *message = strdup(store_message(store));
    if (rc < 0)
        recheck_destroy(recheck);
    else
        *out = recheck;
    return rc;
}

void recheck_destroy(struct recheck *recheck)
{
    if (recheck == NULL)
        return;
    coil_lock_finish(&recheck->lock);
    saved_urls_finish(&recheck->urls);
    store_close(recheck->store);
    free(recheck->slots);
    free(recheck);
}

const struct saved_urls *recheck_urls(const struct recheck *recheck)
{
    return &recheck->urls;
}

/* ---- a page ------------------------------------------------------------------------ */

struct reading {
    struct recheck *recheck;
    struct recheck_answer *saved;
    const char *url;
    int64_t number;
};

/*
 * Append bytes. Returns their offset, because their address may still change. The bytes
 * are aligned to 8 bytes, because they may be an array of ids (uint64_t).
 */
static size_t copy_bytes(struct text *bytes, const void *at, size_t n)
{
    size_t offset;

    while (bytes->n % sizeof(uint64_t) != 0)
        text_add(bytes, "", 1);
    offset = bytes->n;
    text_add(bytes, at, n);
    return offset;
}

static int copy_page(struct recheck_answer *saved, const struct store_page *page)
{
    const char *const texts[] = {page->content_type, page->location, page->error,
                                 page->etag, page->modified};
    const char **copies[] = {&saved->page.content_type, &saved->page.location,
                             &saved->page.error, &saved->page.etag,
                             &saved->page.modified};
    size_t offsets[5] = {0}, links, ids;

    saved->page = *page;
    for (size_t i = 0; i < 5; i++)
        if (texts[i] != NULL)
            offsets[i] = copy_bytes(&saved->bytes, texts[i], strlen(texts[i]) + 1);
    links =
        copy_bytes(&saved->bytes, page->links != NULL ? page->links : "", page->links_n);
    ids = copy_bytes(&saved->bytes, page->ids != NULL ? (const void *)page->ids : "",
                     page->id_count * sizeof *page->ids);
    text_add(&saved->bytes, "", 1);
    if (saved->bytes.failed)
        return -ENOMEM;
    for (size_t i = 0; i < 5; i++)
        if (texts[i] != NULL)
            *copies[i] = saved->bytes.at + offsets[i];
    if (page->links != NULL)
        saved->page.links = saved->bytes.at + links;
    saved->page.ids = (const uint64_t *)(saved->bytes.at + ids);
    return 1;
}

static int read_page(void *arg)
{
    struct reading *reading = arg;
    struct recheck *recheck = reading->recheck;
    struct store_page page;
    const char *url;
    int64_t number = store_next_page(recheck->store, reading->number - 1, &page);

    if (number == -EBADMSG)
        return 0; /* the record is damaged: fetch the page */
    if (number < 0)
        return (int)number;
    if (number != reading->number)
        return 0;
    url = saved_urls_at(&recheck->urls, page.url);
    if (url == NULL || strcmp(url, reading->url) != 0)
        return 0; /* another URL with the same hash */
    return copy_page(reading->saved, &page);
}

int recheck_find(struct recheck *recheck, const char *url, struct recheck_answer *saved)
{
    const struct slot *slot =
        find_answer(recheck, hash_bytes(url, strlen(url), recheck->seed));
    struct reading reading = {recheck, saved, url, slot->number};
    int rc;

    *saved = (struct recheck_answer){.headers = NULL};
    if (slot->number == 0)
        return 0;
    rc = coil_lock_acquire(&recheck->lock);
    if (rc < 0)
        return rc;
    rc = coil_blocking(COIL_LANE_FILE, read_page, &reading);
    coil_lock_release(&recheck->lock);
    return rc == -EAGAIN ? 0 : rc;
}

int recheck_headers(struct recheck_answer *saved, const char *const *headers)
{
    const char *names[] = {"If-None-Match", "If-Modified-Since"};
    const char *values[] = {saved->page.etag, saved->page.modified};
    size_t count = 0;

    while (headers != NULL && headers[count] != NULL)
        count++;
    saved->headers = calloc(count + 3, sizeof *saved->headers);
    if (saved->headers == NULL)
        return -ENOMEM;
    if (count > 0)
        memcpy(saved->headers, headers, count * sizeof *headers);
    for (int i = 0; i < 2; i++) {
        if (values[i] == NULL)
            continue;
        if (asprintf(&saved->validators[i], "%s: %s", names[i], values[i]) < 0) {
            saved->validators[i] = NULL;
            return -ENOMEM;
        }
        saved->headers[count++] = saved->validators[i];
    }
    return 0;
}

void recheck_answer_finish(struct recheck_answer *saved)
{
    text_finish(&saved->bytes);
    free(saved->headers);
    free(saved->validators[0]);
    free(saved->validators[1]);
    *saved = (struct recheck_answer){.headers = NULL};
}
