/*
 * table.c - a hash table without removal.
 *
 * The table uses open addressing with linear probing, and is at most two thirds full.
 * Nothing is ever removed, so no tombstones are needed.
 */
#include "table.h"

#include "hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64

/* Return the slot with this key, or the free slot where the key belongs. */
static struct table_slot *find_slot(const struct table *table, const char *key,
                                    uint64_t hash)
{
    for (size_t i = hash;; i++) {
        struct table_slot *slot = &table->slots[i & (table->capacity - 1)];
        if (slot->key == NULL || (slot->hash == hash && strcmp(slot->key, key) == 0))
            return slot;
    }
}

static int grow_table(struct table *table)
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
            *find_slot(table, old.slots[i].key, old.slots[i].hash) = old.slots[i];
    free(old.slots);
    return 0;
}

void *table_get(const struct table *table, const char *key)
{
    if (table->capacity == 0)
        return NULL;
    return find_slot(table, key, hash_bytes(key, strlen(key), table->seed))->value;
}

int table_add(struct table *table, const char *key, void *value)
{
    uint64_t hash;

    if (table->count + 1 > table->capacity / 3 * 2) {
        int rc = grow_table(table);
        if (rc < 0)
            return rc;
    }
    hash = hash_bytes(key, strlen(key), table->seed);
    *find_slot(table, key, hash) = (struct table_slot){key, value, hash};
    table->count++;
    return 0;
}

void table_finish(struct table *table)
{
    free(table->slots);
    *table = (struct table){0};
}
