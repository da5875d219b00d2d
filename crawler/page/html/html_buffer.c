/*
 * html_buffer.c - byte buffers, and sets of names.
 *
 * A set contains the names of a tag's attributes. Usually there are only a few, so a set
 * of up to eight names is searched linearly. Since a tag can have any number of
 * attributes, a larger set has a hash table.
 */
#include "html_buffer.h"

#include "../../base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FEW 8
#define MANY 64 /* larger tables are freed, because clearing them for each tag is slow */
#define USUAL_BYTES ((size_t)64 * 1024)

/* ---- bytes ------------------------------------------------------------------------- */

int html_buffer_reserve(struct html_buffer *buffer, size_t n)
{
    size_t capacity = buffer->capacity > 0 ? buffer->capacity : 256;
    char *longer;

    if (n <= buffer->capacity)
        return 0;
    while (capacity < n)
        capacity *= 2;
    longer = realloc(buffer->bytes, capacity);
    if (longer == NULL)
        return -ENOMEM;
    buffer->bytes = longer;
    buffer->capacity = capacity;
    return 0;
}

int html_buffer_add_slowly(struct html_buffer *buffer, const char *bytes, size_t n,
                           size_t limit)
{
    size_t room = limit - buffer->n;

    if (n > room) {
        n = room;
        buffer->cut = true;
    }
    if (n == 0)
        return 0;
    if (html_buffer_reserve(buffer, buffer->n + n) < 0)
        return -ENOMEM;
    memcpy(buffer->bytes + buffer->n, bytes, n);
    buffer->n += n;
    return 0;
}

void html_buffer_clear(struct html_buffer *buffer)
{
    buffer->n = 0;
    buffer->cut = false;
}

void html_buffer_shrink(struct html_buffer *buffer)
{
    html_buffer_clear(buffer);
    if (buffer->capacity > USUAL_BYTES)
        html_buffer_finish(buffer);
}

void html_buffer_finish(struct html_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct html_buffer){.n = 0};
}

/* ---- names ------------------------------------------------------------------------- */

static bool has_key_alone(size_t n)
{
    return n <= sizeof(uint64_t);
}

/* Return the name of an entry, or NULL if the key is the whole name. */
static const char *bytes_of(const struct html_names *names,
                            const struct html_name_slot *slot)
{
    return has_key_alone(slot->n) ? NULL : names->bytes.bytes + slot->start;
}

static bool is_name(const struct html_names *names, size_t i, const char *name, size_t n,
                    uint64_t key)
{
    const struct html_name_slot *slot = &names->all[i];

    return slot->key == key && slot->n == n &&
           (has_key_alone(n) || memcmp(bytes_of(names, slot), name, n) == 0);
}

static uint64_t hash_of(const char *name, size_t n, uint64_t key, uint64_t seed)
{
    return has_key_alone(n) ? hash_bytes((const char *)&key, sizeof key, seed)
                            : hash_bytes(name, n, seed);
}

/* Return the number of slots in the table. At most half of them are used. */
static size_t table_size(const struct html_names *names)
{
    return 2 * names->capacity;
}

static void insert_name(struct html_names *names, size_t i)
{
    size_t mask = table_size(names) - 1, at = names->all[i].hash & mask;

    while (names->table[at] != 0)
        at = (at + 1) & mask;
    names->table[at] = (uint32_t)i + 1;
}

static bool is_in_list(const struct html_names *names, const char *name, size_t n,
                       uint64_t key)
{
    for (size_t i = 0; i < names->count; i++)
        if (is_name(names, i, name, n, key))
            return true;
    return false;
}

static bool is_in_table(const struct html_names *names, uint64_t hash, const char *name,
                        size_t n, uint64_t key)
{
    size_t mask = table_size(names) - 1;

    for (size_t at = hash & mask; names->table[at] != 0; at = (at + 1) & mask)
        if (names->all[names->table[at] - 1].hash == hash &&
            is_name(names, names->table[at] - 1, name, n, key))
            return true;
    return false;
}

/* Enlarge the list, and the hash table if the set needs one. */
static int make_room(struct html_names *names)
{
    size_t capacity = names->capacity > 0 ? 2 * names->capacity : FEW;
    struct html_name_slot *all = realloc(names->all, capacity * sizeof *all);
    uint32_t *table;

    if (all == NULL)
        return -ENOMEM;
    names->all = all;
    if (capacity > FEW) {
        table = realloc(names->table, 2 * capacity * sizeof *table);
        if (table == NULL)
            return -ENOMEM;
        if (names->table == NULL)
            names->seed = hash_seed();
        names->table = table;
    }
    names->capacity = capacity;
    return 0;
}

static void fill_table(struct html_names *names)
{
    memset(names->table, 0, table_size(names) * sizeof *names->table);
    for (size_t i = 0; i < names->count; i++) {
        struct html_name_slot *slot = &names->all[i];
        slot->hash = hash_of(bytes_of(names, slot), slot->n, slot->key, names->seed);
        insert_name(names, i);
    }
}

int html_names_add_slowly(struct html_names *names, const char *name, size_t n,
                          uint64_t key)
{
    bool has_table = names->count > FEW, is_full = names->count == names->capacity;
    uint64_t hash = has_table ? hash_of(name, n, key, names->seed) : 0;
    struct html_name_slot slot = {key, hash, (uint32_t)names->bytes.n, (uint32_t)n};

    if (has_table ? is_in_table(names, hash, name, n, key)
                  : is_in_list(names, name, n, key))
        return 0;
    if (is_full && make_room(names) < 0)
        return -ENOMEM;
    if (!has_key_alone(n) && html_buffer_add(&names->bytes, name, n, UINT32_MAX) < 0)
        return -ENOMEM;
    names->all[names->count++] = slot;
    if (names->count == FEW + 1 || (has_table && is_full))
        fill_table(names);
    else if (has_table)
        insert_name(names, names->count - 1);
    return 1;
}

void html_names_clear(struct html_names *names)
{
    if (names->capacity > MANY) {
        html_names_finish(names);
        return;
    }
    html_buffer_clear(&names->bytes);
    names->count = 0;
}

void html_names_finish(struct html_names *names)
{
    html_buffer_finish(&names->bytes);
    free(names->all);
    free(names->table);
    *names = (struct html_names){.count = 0};
}
