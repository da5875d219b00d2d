/*
 * block.h - look at sixteen bytes at once, using the compiler's vector types (SSE2, NEON,
 * or ordinary words on other machines).
 *
 *     block truth = block_load(text) == block_of('<');
 *     if (block_mask(truth) != 0)
 *         at = __builtin_ctz(block_mask(truth));   // the first '<'
 *
 * Comparing two blocks yields -1 in each byte for which the comparison is true, and 0 in
 * the others.
 */
#ifndef CRAWLER_BLOCK_H
#define CRAWLER_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BLOCK ((ptrdiff_t)16)

typedef signed char block __attribute__((vector_size(16)));

static inline block block_load(const char *bytes)
{
    block text;

    memcpy(&text, bytes, sizeof text);
    return text;
}

static inline void block_store(char *bytes, block text)
{
    memcpy(bytes, &text, sizeof text);
}

/* Return a block in which each byte is `c`. */
static inline block block_of(char c)
{
    return (block){0} + (signed char)c;
}

/* Collect the lowest bits of eight bytes, beginning with the first byte of the text. */
static inline unsigned block_half_mask(uint64_t half)
{
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        half = __builtin_bswap64(half);
    return (unsigned)((half & 0x0101010101010101) * 0x0102040810204080 >> 56);
}

/* Return a number in which bit i is set if byte i of the block is true. */
static inline unsigned block_mask(block truth)
{
#ifdef __SSE2__
    return (unsigned)__builtin_ia32_pmovmskb128(
        (char __attribute__((vector_size(16))))truth);
#else
    uint64_t halves[2];

    memcpy(halves, &truth, sizeof halves);
    return block_half_mask(halves[0]) | block_half_mask(halves[1]) << 8;
#endif
}

#endif
