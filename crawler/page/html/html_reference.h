/*
 * html_reference.h - character references: "&amp;", "&#x41;", "&notin".
 *
 *     html_reference_begin(&reference);             // behind the '&'
 *     while (html_reference_feed(&reference, *s))   // as much as belongs to it
 *         s++;
 *     n = html_reference_end(&reference, false, *s, out);
 *
 * (WHATWG: character reference state and those after it)
 */
#ifndef CRAWLER_HTML_REFERENCE_H
#define CRAWLER_HTML_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTML_ENTITY_COUNT 2231
#define HTML_ENTITY_BYTES 32 /* the longest name */

struct html_entity {
    char name[HTML_ENTITY_BYTES + 1]; /* without '&', with ';' where it is written so */
    uint32_t points[2];               /* what it means; the second may be 0 */
};

extern const struct html_entity html_entities[HTML_ENTITY_COUNT];

struct html_reference {
    uint8_t state;
    uint8_t n;          /* bytes in `text` */
    uint8_t matched;    /* so many of them are a name */
    uint16_t low, high; /* the names that begin with `text`: from low, below high */
    uint16_t entity;    /* the name of `matched` bytes */
    uint32_t code;      /* of a reference by number, with: */
    bool has_digits;
    char text[HTML_ENTITY_BYTES + 1]; /* behind the '&'; of numbers only "#x" */
};

void html_reference_begin(struct html_reference *reference);

/* True if the byte belongs to it; else it is at its end. */
bool html_reference_feed(struct html_reference *reference, unsigned char byte);

/* What html_reference_end() may write. */
#define HTML_REFERENCE_OUT_BYTES (HTML_ENTITY_BYTES + 9)

/*
 * Write what it means, as UTF-8, or the reference as written if it means nothing; returns
 * how many bytes. `next` is the byte behind it, 0 at the end of the text: in an attribute
 * "&not=1" and "&notx" are no references.
 */
size_t html_reference_end(const struct html_reference *reference, bool in_attribute,
                          unsigned char next, char out[HTML_REFERENCE_OUT_BYTES]);

/* Write a character as UTF-8; returns how many bytes, four at most. */
size_t html_put_utf8(uint32_t point, char *out);

/* The character that a byte is in Windows-1252. */
uint32_t html_windows_1252(unsigned char byte);

/*
 * Decode the value of an attribute: references, U+FFFD for NUL, line feeds for carriage
 * returns. `out` has room for 3 * n bytes; returns how many were written.
 */
size_t html_decode(const char *value, size_t n, char *out);

#endif
