/*
 * table.h - strings to pointers: "have we seen this URL?"
 *
 * Keys and values are borrowed: a key usually lies in the value it leads to, and must
 * stay unchanged for as long as it is in the table. Zeroes are an empty table.
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
    size_t capacity; /* 0 or a power of two */
    size_t count;
    uint64_t seed;
};

/* The value of this key, or NULL. */
void *table_get(const struct table *table, const char *key);

/* Add a key that is not in the table, with a value other than NULL. 0 or -ENOMEM. */
int table_add(struct table *table, const char *key, void *value);

/* Free the table's own memory. Zeroes are accepted. */
void table_finish(struct table *table);

#endif
