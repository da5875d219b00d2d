/*
 * html_buffer.h - bytes put together out of several pieces, and sets of names.
 */
#ifndef CRAWLER_HTML_BUFFER_H
#define CRAWLER_HTML_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroes are an empty one. */
struct html_buffer {
    char *bytes;
    size_t n, capacity;
    bool cut; /* there was more than its limit */
};

/* Add n bytes, but keep no more than `limit` in all. 0 or -ENOMEM. */
int html_buffer_add(struct html_buffer *buffer, const char *bytes, size_t n,
                    size_t limit);

/* Make room for n bytes in all. 0 or -ENOMEM. */
int html_buffer_reserve(struct html_buffer *buffer, size_t n);

/* Empty it, and keep its memory. */
void html_buffer_clear(struct html_buffer *buffer);

/* The same, but give back what is more than anybody usually needs. */
void html_buffer_shrink(struct html_buffer *buffer);

void html_buffer_finish(struct html_buffer *buffer);

/* A set of names; zeroes are an empty one. */
struct html_names {
    struct html_buffer bytes; /* of those longer than their keys, one behind the other */
    struct html_name_slot *all; /* in the order in which they came */
    uint32_t *table; /* once they are many: 1 + the index into `all`, by hash */
    size_t count, capacity;
    uint64_t seed; /* of the table's hashes: a page must not choose names that collide */
};

/* 1 if it was not there before, 0 if it was, or -ENOMEM. `key` is the last eight bytes. Takes about
   the same time however many there are. */
int html_names_add(struct html_names *names, const char *name, size_t n, uint64_t key);

/* Empty it, and keep the memory of some. */
void html_names_clear(struct html_names *names);
void html_names_finish(struct html_names *names);

#endif
