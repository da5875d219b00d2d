/*
 * text.h - bytes that grow, and the two encodings that URLs are made of.
 *
 * Appending never fails in the caller's face: where memory runs out, the text remembers
 * it (failed) and stays as it is, so that a parser asks once, at its end.
 */
#ifndef CRAWLER_TEXT_H
#define CRAWLER_TEXT_H

#include "ascii.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *at; /* not terminated; NULL while nothing was ever appended */
    size_t n, capacity;
    bool failed; /* an append is missing, for want of memory */
};

/* The percent-encode sets of the URL standard, section 1.3: who encodes what. */
enum percent_set {
    PERCENT_CONTROL = 1, /* C0 controls and everything beyond ASCII */
    PERCENT_FRAGMENT = 2,
    PERCENT_QUERY = 4,
    PERCENT_SPECIAL_QUERY = 8, /* of http and its like */
    PERCENT_PATH = 16,
    PERCENT_USERINFO = 32
};

void text_add(struct text *text, const char *s, size_t n);

/* Append with the letters of ASCII in lower case, whatever the locale. */
void text_add_lower(struct text *text, const char *s, size_t n);

/* Replace the bytes that belong to the set by "%XX"; a '%' stays as it is. */
void text_add_encoded(struct text *text, const char *s, size_t n, enum percent_set set);

/* Replace "%XX" by the byte it stands for, where it is complete. */
void text_add_decoded(struct text *text, const char *s, size_t n);

/*
 * The length of the UTF-8 sequence at `s`, of n bytes; or of what a decoder replaces by a single
 * U+FFFD there, and then *is_valid is false.
 */
size_t text_utf8_length(const char *s, size_t n, bool *is_valid);

/* The character that a sequence of n bytes is; U+FFFD for what is not valid. */
uint32_t text_utf8_point(const char *s, size_t n);

/*
 * True for control characters of C0 and C1; for overrides, embeddings and isolates of the bidirectional
 * algorithm and its marks; for line and paragraph separators; and for noncharacters.
 */
bool text_is_hidden(uint32_t point);

/*
 * Give put() a text in pieces, with `instead` for what is not UTF-8, for control characters (a line
 * end, too), and for those that turn the direction of writing and so make a text look like
 * another: nothing of it speaks to a terminal. (Unicode, UAX #9)
 */
void text_put_visible(const char *s, size_t n, const char *instead,
                      void (*put)(void *to, const char *piece, size_t n), void *to);

/*
 * Append well-formed UTF-8: what is not becomes U+FFFD. Bytes that occur in `dropped`, a
 * string of ASCII, are left out. (WHATWG Encoding standard: UTF-8 decode without BOM)
 */
void text_add_utf8(struct text *text, const char *s, size_t n, const char *dropped);

/* Append as printf(3), up to 511 bytes; more is taken for a lack of memory. */
void text_print(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Insert `s` before the byte at `where`. */
void text_insert(struct text *text, size_t where, const char *s, size_t n);

/* Terminate the text and hand its bytes over for free(); NULL if it failed. */
char *text_take(struct text *text);

/* Give the memory back; the text is empty again. */
void text_finish(struct text *text);

#endif
