/*
 * text.c - see text.h
 *
 * Each function reads its input once, and the capacity of a full text is doubled, so the
 * time is linear.
 */
#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 128

/* ---- growing ----------------------------------------------------------------------- */

static bool make_room(struct text *text, size_t n)
{
    size_t capacity = text->capacity > 0 ? text->capacity : FIRST_CAPACITY;
    char *at;

    if (text->failed)
        return false;
    if (n <= text->capacity - text->n)
        return true;
    while (capacity < SIZE_MAX / 2 && capacity - text->n < n)
        capacity *= 2;
    at = capacity - text->n >= n ? realloc(text->at, capacity) : NULL;
    if (at == NULL) {
        text->failed = true;
        return false;
    }
    text->at = at;
    text->capacity = capacity;
    return true;
}

void text_add(struct text *text, const char *s, size_t n)
{
    if (n == 0 || !make_room(text, n))
        return;
    memcpy(text->at + text->n, s, n);
    text->n += n;
}

void text_add_lower(struct text *text, const char *s, size_t n)
{
    if (n == 0 || !make_room(text, n))
        return;
    for (size_t i = 0; i < n; i++)
        text->at[text->n++] = to_lower(s[i]);
}

void text_print(struct text *text, const char *format, ...)
{
    char piece[512];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof piece)
        text->failed = true;
    else
        text_add(text, piece, (size_t)n);
}

void text_insert(struct text *text, size_t where, const char *s, size_t n)
{
    if (n == 0 || !make_room(text, n))
        return;
    memmove(text->at + where + n, text->at + where, text->n - where);
    memcpy(text->at + where, s, n);
    text->n += n;
}

char *text_take(struct text *text)
{
    char *at, *shrunk;

    text_add(text, "", 1);
    if (text->failed) {
        text_finish(text);
        return NULL;
    }
    at = text->at;
    shrunk = realloc(at, text->n);
    *text = (struct text){0};
    return shrunk != NULL ? shrunk : at;
}

void text_finish(struct text *text)
{
    free(text->at);
    *text = (struct text){0};
}

/* ---- percent-encoding -------------------------------------------------------------- */

/*
 * The percent-encode sets that contain each ASCII byte. The sets are not nested: for
 * example, the backquote is in the fragment set, but not in the query set.
 */
enum {
    ALL = 63,
    FROM_QUERY = ALL & ~(PERCENT_CONTROL | PERCENT_FRAGMENT),
    FROM_FRAGMENT = ALL & ~PERCENT_CONTROL,
    FROM_PATH = PERCENT_PATH | PERCENT_USERINFO
};

static const unsigned char sets[128] = {
    [0 ... 0x1f] = ALL,
    [0x7f] = ALL,
    [' '] = FROM_FRAGMENT,
    ['"'] = FROM_FRAGMENT,
    ['<'] = FROM_FRAGMENT,
    ['>'] = FROM_FRAGMENT,
    ['`'] = PERCENT_FRAGMENT | FROM_PATH,
    ['#'] = FROM_QUERY,
    ['\''] = PERCENT_SPECIAL_QUERY,
    ['?'] = FROM_PATH,
    ['{'] = FROM_PATH,
    ['}'] = FROM_PATH,
    ['/'] = PERCENT_USERINFO,
    [':'] = PERCENT_USERINFO,
    [';'] = PERCENT_USERINFO,
    ['='] = PERCENT_USERINFO,
    ['@'] = PERCENT_USERINFO,
    ['['] = PERCENT_USERINFO,
    ['\\'] = PERCENT_USERINFO,
    [']'] = PERCENT_USERINFO,
    ['^'] = PERCENT_USERINFO,
    ['|'] = PERCENT_USERINFO,
};

static bool set_contains(char c, enum percent_set set)
{
    unsigned char byte = (unsigned char)c;

    return byte > 0x7f || (sets[byte] & set) != 0;
}

void text_add_encoded(struct text *text, const char *s, size_t n, enum percent_set set)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t plain = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned char byte = (unsigned char)s[i];
        char escape[3] = {'%', digits[byte >> 4], digits[byte & 15]};
        if (!set_contains(s[i], set))
            continue;
        text_add(text, s + plain, i - plain);
        text_add(text, escape, sizeof escape);
        plain = i + 1;
    }
    text_add(text, s + plain, n - plain);
}

void text_add_decoded(struct text *text, const char *s, size_t n)
{
    size_t plain = 0;

    for (size_t i = 0; i + 2 < n; i++) {
        char byte;
        if (s[i] != '%' || hex_value(s[i + 1]) < 0 || hex_value(s[i + 2]) < 0)
            continue;
        byte = (char)(hex_value(s[i + 1]) * 16 + hex_value(s[i + 2]));
        text_add(text, s + plain, i - plain);
        text_add(text, &byte, 1);
        i += 2;
        plain = i + 1;
    }
    text_add(text, s + plain, n - plain);
}

/* ---- UTF-8 ------------------------------------------------------------------------- */

/*
 * Return the length of a UTF-8 sequence according to its first byte, or 0 if this byte is
 * invalid.
 */
static size_t announced_length(unsigned char byte)
{
    if (byte < 0x80)
        return 1;
    if (byte >= 0xc2 && byte <= 0xdf)
        return 2;
    if (byte >= 0xe0 && byte <= 0xef)
        return 3;
    return byte >= 0xf0 && byte <= 0xf4 ? 4 : 0;
}

/*
 * An invalid sequence ends before the first byte that cannot be part of it. The allowed
 * range of the second byte excludes overlong forms, surrogates, and values above
 * U+10FFFF.
 */
size_t text_utf8_length(const char *text, size_t n, bool *is_valid)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t wanted = announced_length(s[0]);
    unsigned char low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;

    *is_valid = wanted > 0;
    for (size_t i = 1; i < wanted; i++) {
        if (i == n || s[i] < low || s[i] > high) {
            *is_valid = false;
            return i;
        }
        low = 0x80;
        high = 0xbf;
    }
    return *is_valid ? wanted : 1;
}

uint32_t text_utf8_point(const char *s, size_t n)
{
    bool is_valid;
    uint32_t point = (unsigned char)s[0];

    if (text_utf8_length(s, n, &is_valid) != n || !is_valid)
        return 0xfffd;
    if (n > 1)
        point &= 0x7fU >> n;
    for (size_t i = 1; i < n; i++)
        point = point << 6 | ((unsigned char)s[i] & 0x3f);
    return point;
}

bool text_is_hidden(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x61c ||
           point == 0x200e || point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069) || point == 0xfeff ||
           (point & 0xfffe) == 0xfffe;
}

void text_put_visible(const char *s, size_t n, const char *instead,
                      void (*put)(void *to, const char *piece, size_t n), void *to)
{
    size_t begin = 0, length;

    for (size_t i = 0; i < n; i += length) {
        bool is_valid;

        length = text_utf8_length(s + i, n - i, &is_valid);
        if (is_valid && !text_is_hidden(text_utf8_point(s + i, length)))
            continue;
        if (i > begin)
            put(to, s + begin, i - begin);
        put(to, instead, strlen(instead));
        begin = i + length;
    }
    if (n > begin)
        put(to, s + begin, n - begin);
}

void text_add_utf8(struct text *text, const char *s, size_t n, const char *dropped)
{
    size_t good = 0, length;

    for (size_t i = 0; i < n; i += length) {
        bool valid, drop;
        length = text_utf8_length(s + i, n - i, &valid);
        drop = s[i] != '\0' && strchr(dropped, s[i]) != NULL;
        if (valid && !drop)
            continue;
        text_add(text, s + good, i - good);
        if (!valid)
            text_add(text, "\xef\xbf\xbd", 3);
        good = i + length;
    }
    if (good < n)
        text_add(text, s + good, n - good);
}
