/*
 * html_word.h - look at several bytes of a page at once.
 *
 * A word contains eight bytes in the order of the text: the first one is the lowest.
 */
#ifndef CRAWLER_HTML_WORD_H
#define CRAWLER_HTML_WORD_H

#include "../../base/block.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HTML_WORD sizeof(uint64_t)

#define HTML_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t html_in_text_order(uint64_t word)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
}

static inline uint64_t html_load_word(const char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    return html_in_text_order(word);
}

/*
 * Return a word in which the highest bit of each byte equal to `c` is set. The highest
 * bits of later bytes may also be set. Returns 0 if no byte is equal.
 */
static inline uint64_t html_find_in_word(uint64_t word, char c)
{
    uint64_t zero = word ^ HTML_EACH_BYTE((unsigned char)c);

    return (zero - HTML_EACH_BYTE(1)) & ~zero & HTML_EACH_BYTE(0x80);
}

/* Like memchr(), for a byte that is usually among the next few bytes. */
static inline const char *html_find_near(const char *p, const char *end, char c)
{
    unsigned found;

    if (end - p >= BLOCK) {
        found = block_mask(block_load(p) == block_of(c));
        if (found != 0)
            return p + __builtin_ctz(found);
        p += BLOCK;
    }
    return memchr(p, c, (size_t)(end - p));
}

#endif
