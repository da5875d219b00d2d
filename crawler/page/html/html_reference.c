/*
 * html_reference.c - decode character references byte by byte, because a piece of a page
 * may end inside a reference.
 *
 *      NAME ----- a byte that continues no name --------> over
 *       | '#'
 *       v        'x'
 *      NUMBER ------------> HEXADECIMAL
 *       | digit              | digit
 *       v                    v
 *      (code) --- ';' is consumed, other bytes not -----> over
 *
 * The table of names is sorted, so the names that begin with the bytes read so far form a
 * range of the table, which each further byte narrows. The reference is the longest name
 * in the table that was read completely.
 */
#include "html_reference.h"

#include "../../base/ascii.h"
#include "html_word.h"

#include <string.h>

enum { NAME, NUMBER, HEXADECIMAL, OVER };

#define REPLACEMENT 0xfffd
#define LAST_CODE 0x10ffff

/* ---- names ------------------------------------------------------------------------- */

static void store_byte(struct html_reference *reference, unsigned char byte)
{
    reference->text[reference->n++] = (char)byte;
}

/*
 * Return the index of the first name in [low, high) whose byte at `depth` is at least
 * `byte`.
 */
static uint16_t first_from(uint16_t low, uint16_t high, unsigned depth, unsigned byte)
{
    while (low < high) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        if ((unsigned char)html_entities[middle].name[depth] < byte)
            low = (uint16_t)(middle + 1);
        else
            high = middle;
    }
    return low;
}

static bool feed_name(struct html_reference *reference, unsigned char byte)
{
    unsigned depth = reference->n;
    uint16_t low, high;

    if (depth == 0 && byte == '#') {
        store_byte(reference, byte);
        reference->state = NUMBER;
        return true;
    }
    if (byte == '\0' || byte >= 0x80)
        return false;
    low = first_from(reference->low, reference->high, depth, byte);
    high = first_from(low, reference->high, depth, byte + 1U);
    if (low == high)
        return false;
    reference->low = low;
    reference->high = high;
    store_byte(reference, byte);
    /* If a name equals the bytes read so far, it is the first one in the range, because
       shorter names sort first. */
    if (html_entities[low].name[reference->n] == '\0') {
        reference->matched = reference->n;
        reference->entity = low;
    }
    return true;
}

/* ---- numbers ----------------------------------------------------------------------- */

static bool feed_number(struct html_reference *reference, unsigned char byte)
{
    bool hexadecimal = reference->state == HEXADECIMAL;
    int digit = hexadecimal || is_digit((char)byte) ? hex_value((char)byte) : -1;

    if (!hexadecimal && !reference->has_digits && (byte | 0x20) == 'x') {
        store_byte(reference, byte);
        reference->state = HEXADECIMAL;
        return true;
    }
    if (digit >= 0) {
        reference->code = reference->code * (hexadecimal ? 16 : 10) + (uint32_t)digit;
        if (reference->code > LAST_CODE)
            reference->code = LAST_CODE + 1;
        reference->has_digits = true;
        return true;
    }
    if (byte != ';' || !reference->has_digits)
        return false;
    reference->state = OVER;
    return true;
}

uint32_t html_windows_1252(unsigned char byte)
{
    static const uint16_t upper[32] = {
        0x20ac, 0x81,   0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
        0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d,   0x017d, 0x8f,
        0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
        0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d,   0x017e, 0x0178};

    return byte >= 0x80 && byte < 0xa0 ? upper[byte - 0x80] : byte;
}

/* Return the character of a numeric reference. For historical reasons, the numbers 0x80
   to 0x9f refer to characters of Windows-1252. */
static uint32_t point_of(uint32_t code)
{
    if (code == 0 || code > LAST_CODE || (code >= 0xd800 && code < 0xe000))
        return REPLACEMENT;
    return code < 0x100 ? html_windows_1252((unsigned char)code) : code;
}

/* ---- both -------------------------------------------------------------------------- */

void html_reference_begin(struct html_reference *reference)
{
    reference->state = NAME;
    reference->n = reference->matched = 0;
    reference->low = reference->entity = 0;
    reference->high = HTML_ENTITY_COUNT;
    reference->code = 0;
    reference->has_digits = false;
}

bool html_reference_feed(struct html_reference *reference, unsigned char byte)
{
    switch (reference->state) {
    case NAME:
        return feed_name(reference, byte);
    case NUMBER:
    case HEXADECIMAL:
        return feed_number(reference, byte);
    default:
        return false;
    }
}

size_t html_put_utf8(uint32_t point, char *out)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (char)(0xc0 | point >> 6);
        out[1] = (char)(0x80 | (point & 0x3f));
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (char)(0xe0 | point >> 12);
        out[1] = (char)(0x80 | (point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (point & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | point >> 18);
    out[1] = (char)(0x80 | (point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (point & 0x3f));
    return 4;
}

static bool names_something(const struct html_reference *reference, bool in_attribute,
                            unsigned char next)
{
    unsigned matched = reference->matched;

    if (matched == 0 || !in_attribute || reference->text[matched - 1] == ';')
        return matched > 0;
    if (matched < reference->n)
        next = (unsigned char)reference->text[matched];
    return next != '=' && !is_letter((char)next) && !is_digit((char)next);
}

size_t html_reference_end(const struct html_reference *reference, bool in_attribute,
                          unsigned char next, char out[HTML_REFERENCE_OUT_BYTES])
{
    const uint32_t *points = html_entities[reference->entity].points;
    size_t n, left;

    if (reference->has_digits)
        return html_put_utf8(point_of(reference->code), out);
    if (!names_something(reference, in_attribute, next)) {
        out[0] = '&';
        memcpy(out + 1, reference->text, reference->n);
        return reference->n + 1U;
    }
    n = html_put_utf8(points[0], out);
    if (points[1] != 0)
        n += html_put_utf8(points[1], out + n);
    left = (size_t)reference->n - reference->matched;
    memcpy(out + n, reference->text + reference->matched, left);
    return n + left;
}

/* ---- values ------------------------------------------------------------------------ */

static const char *decode_reference(const char *s, const char *end, char **out)
{
    struct html_reference reference;
    char text[HTML_REFERENCE_OUT_BYTES];
    size_t n;

    html_reference_begin(&reference);
    while (s < end && html_reference_feed(&reference, (unsigned char)*s))
        s++;
    n = html_reference_end(&reference, true, s < end ? (unsigned char)*s : 0, text);
    memcpy(*out, text, n);
    *out += n;
    return s;
}

/* True if the eight bytes at `s` are decoded to themselves. */
static inline bool are_decoded(const char *s)
{
    uint64_t word = html_load_word(s);

    return (html_find_in_word(word, '\0') | html_find_in_word(word, '&') |
            html_find_in_word(word, '\r')) == 0;
}

/*
 * Copy bytes, eight at a time, as long as none of the eight must be decoded. Returns the
 * number of bytes copied.
 */
static size_t copy_plain(const char *s, size_t n, char *out)
{
    size_t at = 0;

    for (; at + HTML_WORD <= n && are_decoded(s + at); at += HTML_WORD)
        memcpy(out + at, s + at, HTML_WORD);
    return at;
}

bool html_is_decoded(const char *value, size_t n)
{
    const char *s = value, *end = value + n;

    if (n >= HTML_WORD) {
        for (; end - s > (ptrdiff_t)HTML_WORD; s += HTML_WORD)
            if (!are_decoded(s))
                return false;
        return are_decoded(end - HTML_WORD);
    }
    for (; s < end; s++)
        if (*s == '\0' || *s == '&' || *s == '\r')
            return false;
    return true;
}

size_t html_decode(const char *value, size_t n, char *out)
{
    size_t plain = copy_plain(value, n, out);
    const char *s = value + plain, *end = value + n;
    char *begin = out;

    out += plain;
    while (s < end) {
        char c = *s++;
        if (c == '&') {
            s = decode_reference(s, end, &out);
        } else if (c == '\r') {
            *out++ = '\n';
            s += s < end && *s == '\n';
        } else if (c == '\0') {
            memcpy(out, "\xef\xbf\xbd", 3);
            out += 3;
        } else {
            *out++ = c;
        }
    }
    return (size_t)(out - begin);
}
