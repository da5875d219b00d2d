/*
 * html_reference.h - decode character references: "&amp;", "&#x41;", "&notin".
 *
 *     html_reference_begin(&reference);                // after '&'
 *     while (html_reference_feed(&reference, *s))      // the bytes that belong to it
 *         s++;
 *     n = html_reference_end(&reference, false, *s, out);
 *
 * (WHATWG: character reference state and the states after it)
 */
#ifndef CRAWLER_HTML_REFERENCE_H
#define CRAWLER_HTML_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTML_ENTITY_COUNT 2231
#define HTML_ENTITY_BYTES 32 /* length of the longest name */

struct html_entity {
    /* The name without '&', but with ';' if it has one. */
    char name[HTML_ENTITY_BYTES + 1];
    uint32_t points[2]; /* the characters that the name represents; the second may be 0 */
};

extern const struct html_entity html_entities[HTML_ENTITY_COUNT];

struct html_reference {
    uint8_t state;
    uint8_t n; /* length of `text` */
    /* length of the longest complete name at the beginning of `text` */
    uint8_t matched;
    uint16_t low, high; /* range of names that begin with `text`; `high` is exclusive */
    uint16_t entity;    /* index of the name that has `matched` bytes */
    uint32_t code;      /* value of a numeric reference */
    bool has_digits;
    char text[HTML_ENTITY_BYTES + 1]; /* the text after '&'; "#" or "#x" for numbers */
};

void html_reference_begin(struct html_reference *reference);

/* Process the next byte. Returns false if the reference ended before this byte. */
bool html_reference_feed(struct html_reference *reference, unsigned char byte);

/* The maximum number of bytes that html_reference_end() writes. */
#define HTML_REFERENCE_OUT_BYTES (HTML_ENTITY_BYTES + 9)

/*
 * Write the decoded text as UTF-8. If the reference is invalid, write it unchanged.
 * `next` is the byte after the reference, or 0 at the end of the text. This byte matters
 * in an attribute, where "&not=1" and "&notx" are not references. Returns the length of
 * the output.
 */
size_t html_reference_end(const struct html_reference *reference, bool in_attribute,
                          unsigned char next, char out[HTML_REFERENCE_OUT_BYTES]);

/* Write a character as UTF-8. Returns the length, at most four bytes. */
size_t html_put_utf8(uint32_t point, char *out);

/* Convert a byte from Windows-1252 to Unicode. */
uint32_t html_windows_1252(unsigned char byte);

/* True if html_decode() would return the value unchanged. */
bool html_is_decoded(const char *value, size_t n);

/*
 * Decode the value of an attribute: decode character references, and replace NUL with
 * U+FFFD and CR with LF. `out` must have space for 3 * n bytes. Returns the length of the
 * result.
 */
size_t html_decode(const char *value, size_t n, char *out);

#endif
