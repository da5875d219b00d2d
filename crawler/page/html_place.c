/*
 * html_place.c - counting lines and columns, sixteen bytes at a time.
 *
 * Blocks without a CR, and almost all are, are counted by vectors that the compiler knows
 * (SSE2, NEON, or words where there is neither). Comparing gives -1 in each byte that is
 * equal; subtracted, it counts how many are.
 */
#include "html_place.h"

#include <string.h>

#define BLOCK 16
#define BLOCKS_SUMMED 127 /* before a byte of the sums might overflow */

/* Else the bytes of a word would have to be looked at from the other end. */
#define IS_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

typedef signed char block __attribute__((vector_size(BLOCK)));
typedef uint64_t halves __attribute__((vector_size(BLOCK)));

static void count_byte(struct html_counter *counter, unsigned char c)
{
    struct html_place *place = &counter->place;
    bool ends_line = c == '\r' || (c == '\n' && !counter->after_cr);

    if (ends_line)
        *place = (struct html_place){place->line + 1, 1};
    else if (c != '\n')
        place->column += (c & 0xc0) != 0x80;
    counter->after_cr = c == '\r';
}

static void count_bytes(struct html_counter *counter, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        count_byte(counter, (unsigned char)bytes[i]);
}

static bool any(block mask)
{
    halves words = (halves)mask;

    return (words[0] | words[1]) != 0;
}

/* How many bytes of a mask are set: each adds 1 to a byte of the product's highest. */
static unsigned count_mask(halves mask)
{
    const uint64_t ones = 0x0101010101010101;

    return (unsigned)(((mask[0] & ones) + (mask[1] & ones)) * ones >> 56);
}

/* The mask without what is not behind the last byte of `ends`, which has one. */
static halves behind_last(halves mask, halves ends)
{
    unsigned half = ends[1] != 0;

    if (half)
        mask[0] = 0;
    mask[half] &= ~(UINT64_MAX >> __builtin_clzll(ends[half]));
    return mask;
}

/* True for all bytes but 0x80 to 0xbf. */
static block begins_character(block text)
{
    return text > (block){0} - 65;
}

/* The sum of all bytes, which are below 0x80. */
static unsigned sum_of(block bytes)
{
    const uint64_t even = 0x00ff00ff00ff00ff;
    halves words = (halves)bytes;
    uint64_t pairs = (words[0] & even) + (words[0] >> 8 & even) + (words[1] & even) +
                     (words[1] >> 8 & even);

    return (unsigned)(pairs * 0x0001000100010001 >> 48);
}

/* Blocks in which no line ends. Returns how many bytes they have. */
static size_t count_within_line(struct html_counter *counter, const char *bytes, size_t n)
{
    block sums = {0};
    size_t at, end = n < BLOCKS_SUMMED * BLOCK ? n : BLOCKS_SUMMED * BLOCK;

    for (at = 0; at + BLOCK <= end; at += BLOCK) {
        block text;
        memcpy(&text, bytes + at, BLOCK);
        if (any((text == (block){0} + '\n') | (text == (block){0} + '\r')))
            break;
        sums -= begins_character(text);
    }
    if (at > 0)
        counter->place.column += sum_of(sums);
    return at;
}

/* A block in which a line ends, but with LF alone. */
static void count_line_ends(struct html_place *place, block text)
{
    halves newlines = (halves)(text == (block){0} + '\n');

    place->line += count_mask(newlines);
    place->column = 1 + count_mask(behind_last((halves)begins_character(text), newlines));
}

static void count_block(struct html_counter *counter, const char *bytes)
{
    block text;

    memcpy(&text, bytes, BLOCK);
    if (!IS_LITTLE_ENDIAN || counter->after_cr || any(text == (block){0} + '\r'))
        count_bytes(counter, bytes, BLOCK);
    else
        count_line_ends(&counter->place, text);
}

void html_count(struct html_counter *counter, const char *bytes, size_t n)
{
    while (n >= BLOCK) {
        size_t counted = counter->after_cr ? 0 : count_within_line(counter, bytes, n);
        if (counted == 0) {
            count_block(counter, bytes);
            counted = BLOCK;
        }
        bytes += counted;
        n -= counted;
    }
    count_bytes(counter, bytes, n);
}
