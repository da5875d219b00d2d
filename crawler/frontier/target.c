/*
 * target.c - the table of targets, which only grows. Targets never move.
 *
 *     slots            known, 32 bytes each     all, which may be cold
 *     tag | index + 1 --> key, count, ...        struct target --> URL
 *
 * The table uses open addressing with linear probing. Tombstones are not needed, because
 * targets are never removed. A slot has 32 bits, and 4 of them are a tag taken from the
 * hash. A different tag rules out a target without reading its key, so lookups are fast
 * even if the table is nearly full. To grow the table, its slots are enlarged in place by
 * a quarter and filled again from the keys.
 */
#include "target.h"

#include "../base/hash.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256
#define INDEX_BITS 28
#define INDEX_MASK ((UINT32_C(1) << INDEX_BITS) - 1)
#define COLD_TEXTS 16384 /* maximum number of text slots if texts are on disk */

struct text_slot {
    uint64_t hash;
    const char *text;
};

/*
 * The states that may follow each state. In addition, every state may change to
 * TARGET_MET, because a shared crawl that has lost data begins again. Answers to earlier
 * requests may still arrive then, so TARGET_MET may change to TARGET_DONE.
 */
#define BIT(state) (1U << (state))
static const uint16_t followers[TARGET_STATES] = {
    [TARGET_MET] = BIT(TARGET_CALENDAR) | BIT(TARGET_HELD) | BIT(TARGET_TOO_DEEP) |
                   BIT(TARGET_LEFT_OUT) | BIT(TARGET_ACCEPTED) | BIT(TARGET_DONE),
    [TARGET_CALENDAR] = BIT(TARGET_HELD) | BIT(TARGET_TOO_DEEP) | BIT(TARGET_LEFT_OUT) |
                        BIT(TARGET_ACCEPTED),
    [TARGET_HELD] = 0,
    [TARGET_TOO_DEEP] = BIT(TARGET_LEFT_OUT) | BIT(TARGET_ACCEPTED),
    [TARGET_LEFT_OUT] = BIT(TARGET_ACCEPTED),
    [TARGET_ACCEPTED] = BIT(TARGET_QUEUED) | BIT(TARGET_NOTED) | BIT(TARGET_DONE),
    [TARGET_QUEUED] = BIT(TARGET_DONE),
    [TARGET_NOTED] = BIT(TARGET_ACCEPTED) | BIT(TARGET_DONE),
    [TARGET_DONE] = BIT(TARGET_QUEUED) | BIT(TARGET_NOTED)};

void target_set_state(struct target *target, enum target_state state)
{
    assert(state == target->state || state == TARGET_MET ||
           (followers[target->state] & BIT(state)) != 0);
    (void)followers; /* otherwise unused if assert() is disabled */
    target->state = (uint8_t)state;
}

struct target *targets_at(const struct targets *targets, size_t index)
{
    cold_tend(targets->all.cold);
    return blocks_at(&targets->all, index);
}

struct known *targets_known(const struct targets *targets, const struct target *target)
{
    return blocks_at(&targets->known, target->index);
}

/* ---- the table --------------------------------------------------------------------- */

/*
 * Map a hash to the slot at which the search for it begins. (D. Lemire, "Fast Random
 * Integer Generation in an Interval")
 */
static size_t first_slot(const struct targets *targets, uint64_t hash)
{
    return (size_t)(((__uint128_t)hash * targets->capacity) >> 64);
}

static size_t slot_behind(const struct targets *targets, size_t i)
{
    return i + 1 < targets->capacity ? i + 1 : 0;
}

/*
 * Return the tag of a hash, its lowest bits, shifted to the position of the tag in a
 * slot.
 */
static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)hash << INDEX_BITS;
}

static struct known *known_of_slot(const struct targets *targets, uint32_t slot)
{
    return blocks_at(&targets->known, (slot & INDEX_MASK) - 1);
}

static struct target *target_of_slot(const struct targets *targets, uint32_t slot)
{
    return blocks_at(&targets->all, (slot & INDEX_MASK) - 1);
}

/* Return the index of the slot of a key, or of the free slot where the key belongs. */
static size_t find_slot(const struct targets *targets, const uint64_t key[2])
{
    size_t i = first_slot(targets, key[0]);

    for (; targets->slots[i] != 0; i = slot_behind(targets, i)) {
        const struct known *known;

        if ((targets->slots[i] & ~INDEX_MASK) != tag_of(key[0]))
            continue;
        known = known_of_slot(targets, targets->slots[i]);
        if (known->key[0] == key[0] && known->key[1] == key[1])
            break;
    }
    return i;
}

static void fill_slot(struct targets *targets, size_t index)
{
    const struct known *known = blocks_at(&targets->known, index);
    size_t i = first_slot(targets, known->key[0]);

    while (targets->slots[i] != 0)
        i = slot_behind(targets, i);
    targets->slots[i] = tag_of(known->key[0]) | (uint32_t)(index + 1);
}

void targets_set_id_seed(struct targets *targets, uint64_t seed)
{
    targets->id_seed = seed;
}

/* Choose the seeds of the hashes, if neither hash table has slots yet. */
static void choose_seeds(struct targets *targets)
{
    if (targets->capacity > 0 || targets->text_capacity > 0)
        return;
    targets->seeds[0] = hash_seed();
    targets->seeds[1] =
        hash_bytes((const char *)targets->seeds, sizeof targets->seeds[0], hash_seed());
    targets->id_seed = targets->seeds[0];
}

static void choose_key(const struct targets *targets, const char *url, size_t n,
                       uint64_t hash, uint64_t key[2])
{
    key[0] = hash;
    key[1] = hash_bytes(url, n, targets->seeds[1]);
}

static int grow(struct targets *targets)
{
    size_t capacity = targets->capacity > 0 ? targets->capacity / 4 * 5 : FIRST_CAPACITY;
    uint32_t *slots = realloc(targets->slots, capacity * sizeof *slots);

    if (slots == NULL)
        return -ENOMEM;
    choose_seeds(targets);
    targets->slots = slots;
    targets->capacity = capacity;
    memset(slots, 0, capacity * sizeof *slots);
    for (size_t i = 0; i < targets->count; i++)
        fill_slot(targets, i);
    return 0;
}

/* Allocate memory for one more target. */
static struct target *reserve(struct targets *targets)
{
    targets->all.element_bytes = sizeof(struct target);
    targets->known.element_bytes = sizeof(struct known);
    if (targets->count >= INDEX_MASK ||
        (targets->count + 1 > targets->capacity / 8 * 7 && grow(targets) < 0) ||
        blocks_reach(&targets->known, targets->count) == NULL)
        return NULL;
    return blocks_reach(&targets->all, targets->count);
}

static struct target *add(struct targets *targets, const char *url, size_t n,
                          const uint64_t key[2])
{
    struct target *target = reserve(targets);
    char *copy = target != NULL ? arena_text(&targets->arena, url, n) : NULL;
    struct known *known;

    if (copy == NULL)
        return NULL;
    *target = (struct target){
        .url = copy, .url_n = (uint32_t)n, .index = (uint32_t)targets->count};
    target->page = target;
    known = targets_known(targets, target);
    *known = (struct known){.key = {key[0], key[1]}};
    fill_slot(targets, targets->count++);
    return target;
}

static struct target *get(struct targets *targets, const char *url, size_t n,
                          uint64_t hash, bool *is_new)
{
    uint64_t key[2];
    uint32_t slot;

    choose_key(targets, url, n, hash, key);
    slot = targets->slots[find_slot(targets, key)];
    *is_new = slot == 0;
    return *is_new ? add(targets, url, n, key) : target_of_slot(targets, slot);
}

struct target *targets_get_hashed(struct targets *targets, const char *url, size_t n,
                                  uint64_t hash, size_t fragment_at, bool *is_new)
{
    struct target *target = get(targets, url, n, hash, is_new), *page;
    bool is_new_page;

    if (target == NULL || !*is_new || fragment_at == 0)
        return target;
    n = fragment_at - 1;
    page = get(targets, url, n, hash_bytes(url, n, targets->seeds[0]), &is_new_page);
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
    return targets_get_hashed(targets, url, n, hash_bytes(url, n, targets->seeds[0]),
                              fragment_at, is_new);
}

/* ---- lookup without reading the target --------------------------------------------- */

uint64_t targets_expect(const struct targets *targets, const char *url, size_t n)
{
    uint64_t hash = hash_bytes(url, n, targets->seeds[0]);

    __builtin_prefetch(&targets->slots[first_slot(targets, hash)]);
    return hash;
}

void targets_expect_soon(const struct targets *targets, uint64_t hash)
{
    size_t i = first_slot(targets, hash);

    while (targets->slots[i] != 0 && (targets->slots[i] & ~INDEX_MASK) != tag_of(hash))
        i = slot_behind(targets, i);
    if (targets->slots[i] != 0)
        __builtin_prefetch(known_of_slot(targets, targets->slots[i]));
}

bool targets_find_unseen(const struct targets *targets, const char *url, size_t n,
                         uint64_t hash, struct unseen *unseen)
{
    uint64_t key[2];
    uint32_t slot;

    if (targets->capacity == 0)
        return false;
    choose_key(targets, url, n, hash, key);
    slot = targets->slots[find_slot(targets, key)];
    if (slot != 0)
        *unseen = (struct unseen){target_of_slot(targets, slot),
                                  known_of_slot(targets, slot), url, n};
    return slot != 0;
}

struct target *targets_find(const struct targets *targets, const char *url)
{
    size_t n = strlen(url);
    uint64_t hash = hash_bytes(url, n, targets->seeds[0]);
    struct unseen unseen;

    return targets_find_unseen(targets, url, n, hash, &unseen) ? unseen.target : NULL;
}

void targets_remember(const struct targets *targets, const struct target *target)
{
    const struct target *page = target->page;
    struct known *known = targets_known(targets, page);

    known->is_near = target_is_decided(page) && page->hops == 0;
    known->depth = page->depth;
    targets_known(targets, target)->is_wanted = target->is_wanted;
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

/*
 * Empty the table of texts. The texts stay valid, but equal texts that are added later
 * are copied again.
 */
static int forget_texts(struct targets *targets)
{
    memset(targets->texts, 0, targets->text_capacity * sizeof *targets->texts);
    targets->text_count = 0;
    return 0;
}

static int grow_texts(struct targets *targets)
{
    struct text_slot *old = targets->texts;
    size_t old_capacity = targets->text_capacity;
    size_t capacity = old_capacity > 0 ? 2 * old_capacity : FIRST_CAPACITY;
    struct text_slot *slots;

    if (targets->arena.cold != NULL && old_capacity == COLD_TEXTS)
        return forget_texts(targets);
    slots = calloc(capacity, sizeof *slots);
    if (slots == NULL)
        return -ENOMEM;
    choose_seeds(targets);
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
    hash = hash_bytes(text, n, targets->seeds[0]);
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

/* ---- life cycle -------------------------------------------------------------------- */

void targets_init(struct targets *targets, struct cold *cold)
{
    *targets = (struct targets){.all.cold = cold, .arena.cold = cold};
}

void targets_finish(struct targets *targets)
{
    free(targets->slots);
    free(targets->texts);
    blocks_finish(&targets->known);
    blocks_finish(&targets->all);
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
