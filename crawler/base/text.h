/*
 * text.h - growing byte strings, and the two encodings in URLs: percent-encoding and
 * UTF-8.
 *
 * Functions that append do not return errors. If memory runs out, they set `failed` and
 * leave the text unchanged, so checking `failed` once at the end is enough.
 */
#ifndef CRAWLER_TEXT_H
#define CRAWLER_TEXT_H

#include "ascii.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *at; /* not NUL-terminated; NULL before the first append */
    size_t n, capacity;
    bool failed; /* memory ran out, so bytes are missing */
};

/* The percent-encode sets of the URL standard, section 1.3. */
enum percent_set {
    PERCENT_CONTROL = 1, /* C0 controls and all bytes that are not ASCII */
    PERCENT_FRAGMENT = 2,
    PERCENT_QUERY = 4,
    PERCENT_SPECIAL_QUERY = 8, /* queries of special schemes such as http */
    PERCENT_PATH = 16,
    PERCENT_USERINFO = 32
};

void text_add(struct text *text, const char *s, size_t n);

/* Append bytes, with ASCII letters in lower case, whatever the locale. */
void text_add_lower(struct text *text, const char *s, size_t n);

/* Append bytes, replacing bytes in the set with "%XX". A '%' is not encoded. */
void text_add_encoded(struct text *text, const char *s, size_t n, enum percent_set set);

/* Append bytes, replacing each complete "%XX" with the byte that it encodes. */
void text_add_decoded(struct text *text, const char *s, size_t n);

/*
 * Return the length of the UTF-8 sequence at the beginning of the n bytes at `s`. Stores
 * in *is_valid whether the sequence is valid. The length of an invalid sequence is the
 * number of bytes that a decoder replaces with one U+FFFD.
 */
size_t text_utf8_length(const char *s, size_t n, bool *is_valid);

/* Decode a sequence of n bytes. Returns U+FFFD if the sequence is invalid. */
uint32_t text_utf8_point(const char *s, size_t n);

/*
 * True for C0 and C1 control characters; for overrides, embeddings, isolates and marks of
 * the bidirectional algorithm; for line and paragraph separators; and for noncharacters.
 */
bool text_is_hidden(uint32_t point);

/*
 * Pass a text to put() in pieces, in a form that cannot control a terminal: invalid
 * UTF-8, control characters including newlines, and characters that change the direction
 * of writing (which can disguise a text) are replaced with `instead`. (Unicode, UAX #9)
 */
void text_put_visible(const char *s, size_t n, const char *instead,
                      void (*put)(void *to, const char *piece, size_t n), void *to);

/*
 * Append a text as valid UTF-8: replace each invalid sequence with U+FFFD, and omit the
 * ASCII characters in `dropped`. (WHATWG Encoding standard: UTF-8 decode without BOM)
 */
void text_add_utf8(struct text *text, const char *s, size_t n, const char *dropped);

/*
 * Append formatted text, as printf(3) does. If it is longer than 511 bytes, set `failed`.
 */
void text_print(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Insert `s` before byte number `where`. */
void text_insert(struct text *text, size_t where, const char *s, size_t n);

/*
 * Append a NUL, and return the bytes, which the caller frees. Returns NULL if memory ran
 * out, now or earlier. The text is empty afterwards.
 */
char *text_take(struct text *text);

/* Free the memory, and leave the text empty. */
void text_finish(struct text *text);

#endif
