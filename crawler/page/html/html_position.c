/*
 * html_position.c - count lines and columns, sixteen bytes at a time.
 *
 * Characters matter only after the last line end, and line ends only before it. So the
 * last line end is found first. Comparing two blocks yields -1 in each byte for which the
 * comparison is true. So subtracting the result from a block of sums counts these bytes.
 */
#include "html_position.h"

#include "../../base/block.h"

#include <string.h>

#define SUMMED_BYTES (126 * BLOCK) /* with more bytes, the one-byte sums could overflow */

typedef uint64_t halves __attribute__((vector_size(16)));

/* Return the sum of all bytes of a vector. Each byte must be below 0x80. */
static unsigned sum_of(block bytes)
{
    const uint64_t even = 0x00ff00ff00ff00ff;
    halves words = (halves)bytes;
    uint64_t pairs = (words[0] & even) + (words[0] >> 8 & even) + (words[1] & even) +
                     (words[1] >> 8 & even);

    return (unsigned)(pairs * 0x0001000100010001 >> 48);
}

/*
 * Return a block that ends with the n bytes before `end`. Its other bytes are values that
 * are not counted. n must be less than the size of a block, and at least a whole block
 * must precede `end`.
 */
static block load_last(const char *end, ptrdiff_t n)
{
    static const char none_then_all[] = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                        "\xff\xff\xff\xff\xff\xff\xff\xff"
                                        "\xff\xff\xff\xff\xff\xff\xff\xff";
    block counts = block_load(none_then_all + n);

    return (block_load(end - BLOCK) & counts) | (block_of(INT8_MIN) & ~counts);
}

static inline block is_newline(block text)
{
    return text == block_of('\n');
}

/*
 * True for the bytes that begin a character: all except 0x80 to 0xbf, the continuation
 * bytes of UTF-8.
 */
static inline block begins_character(block text)
{
    return text > block_of(-65);
}

/* Count the bytes for which is_counted() is true. It must be false for INT8_MIN. */
static inline uint32_t count_bytes(const char *bytes, const char *end,
                                   block (*is_counted)(block text))
{
    uint32_t count = 0;
    block sums;

    if (end - bytes < BLOCK) {
        for (; bytes < end; bytes++)
            count += is_counted((block){*bytes})[0] != 0;
        return count;
    }
    sums = -is_counted(load_last(end, (end - bytes) % BLOCK));
    while (end - bytes >= BLOCK) {
        ptrdiff_t n = end - bytes < SUMMED_BYTES ? end - bytes : SUMMED_BYTES;
        const char *stop = bytes + n / BLOCK * BLOCK;
        for (; stop - bytes >= 4 * BLOCK; bytes += 4 * BLOCK)
            sums -= is_counted(block_load(bytes)) +
                    is_counted(block_load(bytes + BLOCK)) +
                    is_counted(block_load(bytes + 2 * BLOCK)) +
                    is_counted(block_load(bytes + 3 * BLOCK));
        for (; bytes < stop; bytes += BLOCK)
            sums -= is_counted(block_load(bytes));
        count += sum_of(sums);
        sums = (block){0};
    }
    return count;
}

/* Count each CR that is not followed by LF. */
static uint32_t count_lone_crs(const char *bytes, const char *end)
{
    uint32_t count = 0;

    while ((bytes = memchr(bytes, '\r', (size_t)(end - bytes))) != NULL) {
        bytes++;
        count += bytes == end || *bytes != '\n';
    }
    return count;
}

/* The part of a text after its last line end. */
struct last_line {
    const char *at;
    bool is_ascii; /* false if the part may contain other characters */
};

/* Search backwards, because the last line end is usually near. */
static struct last_line find_last_line(const char *bytes, const char *end)
{
    const char *at = end;
    block all = {0};

    for (; at - bytes >= BLOCK; at -= BLOCK) {
        block text = block_load(at - BLOCK);
        unsigned ends = block_mask((text == block_of('\n')) | (text == block_of('\r')));
        all |= text;
        if (ends != 0) {
            at -= __builtin_clz(ends) - 16; /* of 32 bits, 16 belong to the block */
            return (struct last_line){at, block_mask(all < block_of(0)) == 0};
        }
    }
    while (at > bytes && at[-1] != '\n' && at[-1] != '\r')
        at--;
    return (struct last_line){at, false};
}

void html_count(struct html_counter *counter, const char *bytes, size_t n)
{
    const char *end = bytes + n;
    struct last_line line;

    if (n == 0)
        return;
    if (counter->after_cr && *bytes == '\n')
        bytes++;
    line = find_last_line(bytes, end);
    if (line.at > bytes) {
        counter->place.line +=
            count_bytes(bytes, line.at, is_newline) + count_lone_crs(bytes, line.at);
        counter->place.column = 1;
    }
    counter->place.column += line.is_ascii ? (uint32_t)(end - line.at)
                                           : count_bytes(line.at, end, begins_character);
    counter->after_cr = end[-1] == '\r';
}
