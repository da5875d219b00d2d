/*
 * table.c - a hash table that only grows.
 *
 * Open addressing with linear probing, at most two thirds full. A crawler asks about
 * every link of every page and never forgets one, so there is no removal and no
 * tombstone.
 */
#include "table.h"

#include "hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64

/* The slot that holds the key, or the free one where it belongs. */
static struct table_slot *find(const struct table *table, const char *key, uint64_t hash)
{
    for (size_t i = hash;; i++) {
        struct table_slot *slot = &table->slots[i & (table->capacity - 1)];
        if (slot->key == NULL || (slot->hash == hash && strcmp(slot->key, key) == 0))
            return slot;
    }
}

static int grow(struct table *table)
{
    struct table old = *table;
    size_t capacity = old.capacity > 0 ? old.capacity * 2 : FIRST_CAPACITY;
    struct table_slot *slots = calloc(capacity, sizeof *slots);

    if (slots == NULL)
        return -ENOMEM;
    if (old.capacity == 0)
        table->seed = hash_seed();
    table->slots = slots;
    table->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].key != NULL)
            *find(table, old.slots[i].key, old.slots[i].hash) = old.slots[i];
    free(old.slots);
    return 0;
}

void *table_get(const struct table *table, const char *key)
{
    if (table->capacity == 0)
        return NULL;
    return find(table, key, hash_bytes(key, strlen(key), table->seed))->value;
}

int table_add(struct table *table, const char *key, void *value)
{
    uint64_t hash;

    if (table->count + 1 > table->capacity / 3 * 2) {
        int rc = grow(table);
        if (rc < 0)
            return rc;
    }
    hash = hash_bytes(key, strlen(key), table->seed);
    *find(table, key, hash) = (struct table_slot){key, value, hash};
    table->count++;
    return 0;
}

void table_finish(struct table *table)
{
    free(table->slots);
    *table = (struct table){0};
}
