/*
 * html_position.c - count lines and columns, sixteen bytes at a time.
 *
 * Nearly all blocks are without CR. Such blocks are counted with the compiler's vector
 * types (SSE2, NEON, or ordinary words on other machines). Comparing two vectors yields
 * -1 in each byte that is equal. So subtracting the result from a vector of sums counts
 * equal bytes.
 */
#include "html_position.h"

#include <string.h>

#define BLOCK 16
#define BLOCKS_SUMMED 127 /* with more blocks, the one-byte sums could overflow */

/*
 * Big-endian machines do not use the vector code, because the bytes in a word are in
 * reverse order there.
 */
#define IS_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

typedef signed char block __attribute__((vector_size(BLOCK)));
typedef uint64_t halves __attribute__((vector_size(BLOCK)));

static void count_byte(struct html_counter *counter, unsigned char c)
{
    struct html_position *place = &counter->place;
    bool ends_line = c == '\r' || (c == '\n' && !counter->after_cr);

    if (ends_line)
        *place = (struct html_position){place->line + 1, 1};
    else if (c != '\n')
        place->column += (c & 0xc0) != 0x80;
    counter->after_cr = c == '\r';
}

static void count_bytes(struct html_counter *counter, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        count_byte(counter, (unsigned char)bytes[i]);
}

static bool is_any_set(block mask)
{
    halves words = (halves)mask;

    return (words[0] | words[1]) != 0;
}

/*
 * Count the set bytes of a mask. Multiplication puts the sum of all bytes into the
 * highest byte.
 */
static unsigned count_mask(halves mask)
{
    const uint64_t ones = 0x0101010101010101;

    return (unsigned)(((mask[0] & ones) + (mask[1] & ones)) * ones >> 56);
}

/*
 * Clear the bytes of the mask up to and including the position of the last set byte of
 * `ends`, in which at least one byte must be set.
 */
static halves mask_after_last(halves mask, halves ends)
{
    unsigned half = ends[1] != 0;

    if (half)
        mask[0] = 0;
    mask[half] &= ~(UINT64_MAX >> __builtin_clzll(ends[half]));
    return mask;
}

/*
 * Return a mask of the bytes that begin a character: all except 0x80 to 0xbf, the
 * continuation bytes of UTF-8.
 */
static block begins_character(block text)
{
    return text > (block){0} - 65;
}

/* Return the sum of all bytes of a vector. Each byte must be below 0x80. */
static unsigned sum_of(block bytes)
{
    const uint64_t even = 0x00ff00ff00ff00ff;
    halves words = (halves)bytes;
    uint64_t pairs = (words[0] & even) + (words[0] >> 8 & even) + (words[1] & even) +
                     (words[1] >> 8 & even);

    return (unsigned)(pairs * 0x0001000100010001 >> 48);
}

/* Count a block in which all line ends are LF. */
static void count_line_ends(struct html_position *place, block text)
{
    halves newlines = (halves)(text == (block){0} + '\n');

    place->line += count_mask(newlines);
    place->column =
        1 + count_mask(mask_after_last((halves)begins_character(text), newlines));
}

/* Count the last n bytes of a block, which are also at `bytes`. */
static void count_rest(struct html_counter *counter, block text, const char *bytes,
                       size_t n)
{
    if (!IS_LITTLE_ENDIAN || counter->after_cr || is_any_set(text == (block){0} + '\r'))
        count_bytes(counter, bytes, n);
    else if (is_any_set(text == (block){0} + '\n'))
        count_line_ends(&counter->place, text);
    else
        counter->place.column += count_mask((halves)begins_character(text));
}

/*
 * Return a block that ends with the n bytes before `end`. Its other bytes are values that
 * do not count as characters. n must be less than the size of a block, and at least a
 * whole block must precede `end`.
 */
static block load_last(const char *end, size_t n)
{
    static const signed char none_then_all[2 * BLOCK] = {
        0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    block text, counts;

    memcpy(&text, end - BLOCK, BLOCK);
    memcpy(&counts, none_then_all + n, BLOCK);
    return (text & counts) | (((block){0} + INT8_MIN) & ~counts);
}

/* Count whole blocks up to the first one with a CR. Returns the address after them. */
static const char *count_blocks(struct html_counter *counter, const char *bytes, size_t n)
{
    unsigned summed = 0;
    block sums = {0};

    for (; n >= BLOCK; bytes += BLOCK, n -= BLOCK) {
        block text;
        memcpy(&text, bytes, BLOCK);
        if (!is_any_set((text == (block){0} + '\n') | (text == (block){0} + '\r'))) {
            sums -= begins_character(text);
            if (++summed < BLOCKS_SUMMED)
                continue;
            counter->place.column += sum_of(sums);
        } else if (IS_LITTLE_ENDIAN && !is_any_set(text == (block){0} + '\r')) {
            count_line_ends(&counter->place, text); /* overwrites the column */
        } else {
            break;
        }
        summed = 0;
        sums = (block){0};
    }
    counter->place.column += sum_of(sums);
    return bytes;
}

void html_count(struct html_counter *counter, const char *bytes, size_t n)
{
    const char *end = bytes + n;
    bool has_block = n >= BLOCK;

    while (n >= BLOCK) {
        if (!counter->after_cr)
            bytes = count_blocks(counter, bytes, n);
        n = (size_t)(end - bytes);
        if (n < BLOCK)
            break;
        count_bytes(counter, bytes, BLOCK);
        bytes += BLOCK;
        n -= BLOCK;
    }
    if (has_block && n > 0)
        count_rest(counter, load_last(end, n), bytes, n);
    else
        count_bytes(counter, bytes, n);
}
