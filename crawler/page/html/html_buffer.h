/* html_buffer.h - collect bytes from several pieces, and sets of names. */
#ifndef CRAWLER_HTML_BUFFER_H
#define CRAWLER_HTML_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Initialize with zeroes. */
struct html_buffer {
    char *bytes;
    size_t n, capacity;
    bool cut; /* more bytes than the limit were added */
};

/* Append n bytes, but store at most `limit` in all. Returns 0 or -ENOMEM. */
int html_buffer_add(struct html_buffer *buffer, const char *bytes, size_t n,
                    size_t limit);

/* Make room for n bytes in all. Returns 0 or -ENOMEM. */
int html_buffer_reserve(struct html_buffer *buffer, size_t n);

/* Empty the buffer, but reuse its memory. */
void html_buffer_clear(struct html_buffer *buffer);

/* Empty the buffer, and free memory beyond the usual size. */
void html_buffer_shrink(struct html_buffer *buffer);

void html_buffer_finish(struct html_buffer *buffer);

/* A set of names. Initialize with zeroes. */
struct html_names {
    struct html_buffer bytes;   /* the names that are longer than their keys */
    struct html_name_slot *all; /* in the order in which they were added */
    uint32_t *table;            /* for large sets: 1 + the index into `all`, by hash */
    size_t count, capacity;
    uint64_t seed; /* secret, so that a page cannot choose names that collide */
};

/*
 * Add a name. Returns 1 if it is new, 0 if not, or -ENOMEM. `key` consists of the last
 * eight bytes of the name. The time does not depend on the size of the set.
 */
int html_names_add(struct html_names *names, const char *name, size_t n, uint64_t key);

/* Empty the set, but reuse some of its memory. */
void html_names_clear(struct html_names *names);
void html_names_finish(struct html_names *names);

#endif
