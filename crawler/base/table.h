/*
 * table.h - map strings to pointers, for example URLs to their records.
 *
 * Keys and values are borrowed. A key, which is usually a part of its value, must not
 * change while it is in the table. Initialize with zeroes.
 */
#ifndef CRAWLER_TABLE_H
#define CRAWLER_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct table_slot {
    const char *key;
    void *value;
    uint64_t hash;
};

struct table {
    struct table_slot *slots;
    size_t capacity; /* number of slots: 0 or a power of two */
    size_t count;
    uint64_t seed;
};

/* Return the value of a key, or NULL if the key is not in the table. */
void *table_get(const struct table *table, const char *key);

/*
 * Add a key that is not in the table yet. The value must not be NULL. Returns 0 or
 * -ENOMEM.
 */
int table_add(struct table *table, const char *key, void *value);

/*
 * Free the memory of the table itself, but not its keys and values. A zeroed table is
 * accepted.
 */
void table_finish(struct table *table);

#endif
