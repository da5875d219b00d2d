/*
 * target.c - a table that only grows, of targets that never move.
 *
 * Open addressing with linear probing, at most two thirds full. A crawl asks about every
 * link of every page and never forgets one, so there is no removal and no tombstone. What
 * it costs is what is not in the cache: a slot, and the target with its URL right behind it.
 */
#include "target.h"

#include "../base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256

struct target_slot {
    uint64_t hash;
    struct target *target; /* NULL: free */
};

struct text_slot {
    uint64_t hash;
    const char *text;
};

struct target *targets_at(const struct targets *targets, size_t index)
{
    return targets->all[index];
}

/* ---- the table --------------------------------------------------------------------- */

/* The slot of the URL, or the free one where it belongs. */
static struct target_slot *find(const struct targets *targets, const char *url, size_t n,
                                uint64_t hash)
{
    for (size_t i = hash;; i++) {
        struct target_slot *slot = &targets->slots[i & (targets->capacity - 1)];
        if (slot->target == NULL || (slot->hash == hash && slot->target->url_n == n &&
                                     memcmp(slot->target->url, url, n) == 0))
            return slot;
    }
}

/* The slot for a hash that is in no other. */
static struct target_slot *find_free(const struct targets *targets, uint64_t hash)
{
    size_t i = hash;

    while (targets->slots[i & (targets->capacity - 1)].target != NULL)
        i++;
    return &targets->slots[i & (targets->capacity - 1)];
}

void targets_set_id_seed(struct targets *targets, uint64_t seed)
{
    targets->id_seed = seed;
}

/* Once for all tables, before the first key. */
static void choose_seed(struct targets *targets)
{
    if (targets->capacity > 0 || targets->text_capacity > 0)
        return;
    targets->seed = hash_seed();
    targets->id_seed = targets->seed;
}

static int grow(struct targets *targets)
{
    struct target_slot *old = targets->slots;
    size_t old_capacity = targets->capacity;
    size_t capacity = old_capacity > 0 ? 2 * old_capacity : FIRST_CAPACITY;
    struct target_slot *slots = calloc(capacity, sizeof *slots);

    if (slots == NULL)
        return -ENOMEM;
    choose_seed(targets);
    targets->slots = slots;
    targets->capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].target != NULL)
            *find_free(targets, old[i].hash) = old[i];
    free(old);
    return 0;
}

/* Room for one more target. */
static int reserve(struct targets *targets)
{
    size_t room = targets->room > 0 ? targets->room * 3 / 2 : FIRST_CAPACITY;
    struct target **longer;

    if (targets->count < targets->room)
        return 0;
    longer = realloc(targets->all, room * sizeof *longer);
    if (longer == NULL)
        return -ENOMEM;
    targets->all = longer;
    targets->room = room;
    return 0;
}

/* Its URL lies behind it. */
static struct target *create(struct targets *targets, const char *url, size_t n)
{
    struct target *target = arena_alloc(&targets->arena, sizeof *target + n + 1);
    char *copy;

    if (target == NULL)
        return NULL;
    copy = (char *)(target + 1);
    memcpy(copy, url, n);
    copy[n] = '\0';
    *target = (struct target){
        .url = copy, .url_n = (uint32_t)n, .index = (uint32_t)targets->count};
    target->page = target;
    return target;
}

static struct target *add(struct targets *targets, const char *url, size_t n,
                          uint64_t hash)
{
    struct target *target;

    if (targets->count >= UINT32_MAX || reserve(targets) < 0 ||
        (targets->count + 1 > targets->capacity / 3 * 2 && grow(targets) < 0))
        return NULL;
    target = create(targets, url, n);
    if (target == NULL)
        return NULL;
    targets->all[targets->count++] = target;
    *find_free(targets, hash) = (struct target_slot){hash, target};
    return target;
}

static struct target *get(struct targets *targets, const char *url, size_t n,
                          uint64_t hash, bool *is_new)
{
    const struct target_slot *slot = find(targets, url, n, hash);

    *is_new = slot->target == NULL;
    return *is_new ? add(targets, url, n, hash) : slot->target;
}

struct target *targets_get_hashed(struct targets *targets, const char *url, size_t n,
                                  uint64_t hash, size_t fragment_at, bool *is_new)
{
    struct target *target = get(targets, url, n, hash, is_new), *page;
    bool is_new_page;

    if (target == NULL || !*is_new || fragment_at == 0)
        return target;
    n = fragment_at - 1;
    page = get(targets, url, n, hash_bytes(url, n, targets->seed), &is_new_page);
    if (page == NULL)
        return NULL;
    target->page = page;
    target->fragment_at = (uint32_t)fragment_at;
    return target;
}

struct target *targets_get(struct targets *targets, const char *url, size_t fragment_at,
                           bool *is_new)
{
    size_t n = strlen(url);

    *is_new = false;
    if (targets->capacity == 0 && grow(targets) < 0)
        return NULL;
    return targets_get_hashed(targets, url, n, hash_bytes(url, n, targets->seed),
                              fragment_at, is_new);
}

/* ---- ahead of need ----------------------------------------------------------------- */

uint64_t targets_expect(const struct targets *targets, const char *url, size_t n)
{
    uint64_t hash = hash_bytes(url, n, targets->seed);

    __builtin_prefetch(&targets->slots[hash & (targets->capacity - 1)]);
    return hash;
}

/* The target's three lines, the last of which has its URL. */
void targets_expect_soon(const struct targets *targets, uint64_t hash)
{
    const char *target =
        (const char *)targets->slots[hash & (targets->capacity - 1)].target;

    if (target == NULL)
        return;
    __builtin_prefetch(target);
    __builtin_prefetch(target + 64);
    __builtin_prefetch(target + 128);
}

struct target *targets_find(const struct targets *targets, const char *url)
{
    size_t n = strlen(url);

    if (targets->capacity == 0)
        return NULL;
    return find(targets, url, n, hash_bytes(url, n, targets->seed))->target;
}

/* ---- texts ------------------------------------------------------------------------- */

static struct text_slot *find_text(const struct targets *targets, const char *text,
                                   size_t n, uint64_t hash)
{
    for (size_t i = hash;; i++) {
        struct text_slot *slot = &targets->texts[i & (targets->text_capacity - 1)];
        if (slot->text == NULL ||
            (slot->hash == hash && strncmp(slot->text, text, n) == 0 &&
             slot->text[n] == '\0'))
            return slot;
    }
}

static int grow_texts(struct targets *targets)
{
    struct text_slot *old = targets->texts;
    size_t old_capacity = targets->text_capacity;
    size_t capacity = old_capacity > 0 ? 2 * old_capacity : FIRST_CAPACITY;
    struct text_slot *slots = calloc(capacity, sizeof *slots);

    if (slots == NULL)
        return -ENOMEM;
    choose_seed(targets);
    targets->texts = slots;
    targets->text_capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].text != NULL)
            *find_text(targets, old[i].text, strlen(old[i].text), old[i].hash) = old[i];
    free(old);
    return 0;
}

const char *targets_intern(struct targets *targets, const char *text, size_t n)
{
    struct text_slot *slot;
    uint64_t hash;

    if (targets->text_count + 1 > targets->text_capacity / 3 * 2 &&
        grow_texts(targets) < 0)
        return NULL;
    hash = hash_bytes(text, n, targets->seed);
    slot = find_text(targets, text, n, hash);
    if (slot->text == NULL) {
        const char *copy = arena_text(&targets->arena, text, n);
        if (copy == NULL)
            return NULL;
        *slot = (struct text_slot){hash, copy};
        targets->text_count++;
    }
    return slot->text;
}

/* ---- ids --------------------------------------------------------------------------- */

uint64_t targets_hash_id(const struct targets *targets, const char *id, size_t n)
{
    return hash_bytes(id, n, targets->id_seed);
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

    return one < other ? -1 : one > other;
}

int targets_keep_ids(struct targets *targets, struct target *page, uint64_t *hashes,
                     size_t n)
{
    uint64_t *kept;

    if (n == 0)
        return 0;
    kept = arena_alloc(&targets->arena, n * sizeof *kept);
    if (kept == NULL)
        return -ENOMEM;
    qsort(hashes, n, sizeof *hashes, compare_hashes);
    memcpy(kept, hashes, n * sizeof *kept);
    page->ids = kept;
    page->id_count = (uint32_t)n;
    return 0;
}

bool target_has_id(const struct target *page, uint64_t hash)
{
    return page->id_count > 0 &&
           bsearch(&hash, page->ids, page->id_count, sizeof hash, compare_hashes) != NULL;
}

void targets_finish(struct targets *targets)
{
    free(targets->slots);
    free(targets->texts);
    free(targets->all);
    arena_finish(&targets->arena);
    *targets = (struct targets){.count = 0};
}

const char *target_cause(const struct target *target, char to[TARGET_CAUSE_BYTES])
{
    const char *sentence = reason_sentence((enum reason)target->reason);
    const char *name = status_name(target->status);

    if (target->message != NULL)
        return target->message;
    if (sentence[0] != '\0')
        return sentence;
    if (target->status == 0)
        return NULL;
    snprintf(to, TARGET_CAUSE_BYTES, "%d%s%s", target->status, name[0] != '\0' ? " " : "",
             name);
    return to;
}
