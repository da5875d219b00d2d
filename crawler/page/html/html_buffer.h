/* html_buffer.h - byte buffers, and sets of names. */
#ifndef CRAWLER_HTML_BUFFER_H
#define CRAWLER_HTML_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Initialize with zeroes. */
struct html_buffer {
    char *bytes;
    size_t n, capacity;
    bool cut; /* bytes were dropped because of a limit */
};

/* Append n bytes to a buffer that may be too small. See html_buffer_add(). */
int html_buffer_add_slowly(struct html_buffer *buffer, const char *bytes, size_t n,
                           size_t limit);

/*
 * Append n bytes, but drop those that would make the buffer longer than `limit`. Returns
 * 0 or -ENOMEM.
 */
static inline int html_buffer_add(struct html_buffer *buffer, const char *bytes, size_t n,
                                  size_t limit)
{
    if (n >= buffer->capacity - buffer->n || buffer->capacity > limit)
        return html_buffer_add_slowly(buffer, bytes, n, limit);
    memcpy(buffer->bytes + buffer->n, bytes, n);
    buffer->n += n;
    return 0;
}

/* Make space for at least n bytes in total. Returns 0 or -ENOMEM. */
int html_buffer_reserve(struct html_buffer *buffer, size_t n);

/* Empty the buffer, but keep its memory for reuse. */
void html_buffer_clear(struct html_buffer *buffer);

/* Empty the buffer, and free memory beyond the usual size. */
void html_buffer_shrink(struct html_buffer *buffer);

void html_buffer_finish(struct html_buffer *buffer);

struct html_name_slot {
    uint64_t key;      /* the last eight bytes of the name */
    uint64_t hash;     /* hash of the name, set once the set has a table */
    uint32_t start, n; /* range in `bytes` of a name longer than the key */
};

/* A set of names. Initialize with zeroes. */
struct html_names {
    /* names of more than eight bytes, which do not fit into a key */
    struct html_buffer bytes;
    struct html_name_slot *all; /* all names, in the order in which they were added */
    uint32_t *table;            /* hash table of a large set: 1 + an index into `all` */
    size_t count, capacity;
    /* secret seed of the hash, so that a page cannot choose colliding names */
    uint64_t seed;
};

/* Add a name to any set. See html_names_add(). */
int html_names_add_slowly(struct html_names *names, const char *name, size_t n,
                          uint64_t key);

/*
 * Add a name, in amortized constant time. `key` consists of its last eight bytes. Returns
 * 1 if the name is new, 0 if not, or -ENOMEM.
 */
static inline int html_names_add(struct html_names *names, const char *name, size_t n,
                                 uint64_t key)
{
    if (names->count > 0 || names->capacity == 0 || n > sizeof key)
        return html_names_add_slowly(names, name, n, key);
    names->all[names->count++] = (struct html_name_slot){.key = key, .n = (uint32_t)n};
    return 1;
}

/* Empty the set, but keep some of its memory for reuse. */
void html_names_clear(struct html_names *names);
void html_names_finish(struct html_names *names);

#endif
