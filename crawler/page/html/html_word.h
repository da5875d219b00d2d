/*
 * html_word.h - look at eight bytes of a page at once, without vector instructions.
 *
 * A word contains the bytes in the order of the text: the first one is the lowest. The
 * functions compute with all bytes of a word in parallel. (H. S. Warren, "Hacker's
 * Delight", 6-1)
 */
#ifndef CRAWLER_HTML_WORD_H
#define CRAWLER_HTML_WORD_H

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

static inline void html_store_word(char *bytes, uint64_t word)
{
    word = html_in_text_order(word);
    memcpy(bytes, &word, sizeof word);
}

/* Return the index of the first byte whose highest bit is set. `bits` must not be 0. */
static inline size_t html_first_of(uint64_t bits)
{
    return (size_t)__builtin_ctzll(bits) / 8;
}

/*
 * Return a word in which the highest bit of a byte is set for the first byte that is
 * equal to `c`. It may also be set for bytes after it. Returns 0 if no byte is equal.
 */
static inline uint64_t html_find_in_word(uint64_t word, char c)
{
    uint64_t zero = word ^ HTML_EACH_BYTE((unsigned char)c);

    return (zero - HTML_EACH_BYTE(1)) & ~zero & HTML_EACH_BYTE(0x80);
}

/*
 * Return a word in which the highest bit of each byte is set that is not a letter of
 * ASCII.
 */
static inline uint64_t html_find_no_letter(uint64_t word)
{
    uint64_t lower = (word | HTML_EACH_BYTE(0x20)) & HTML_EACH_BYTE(0x7f);
    uint64_t from_a = lower + HTML_EACH_BYTE(0x80 - 'a');
    uint64_t after_z = lower + HTML_EACH_BYTE(0x80 - 'z' - 1);

    return (~from_a | after_z | word) & HTML_EACH_BYTE(0x80);
}

/* Like memchr(), for a byte that is usually among the next few bytes. */
static inline const char *html_find_near(const char *p, const char *end, char c)
{
    uint64_t found;

    if ((size_t)(end - p) >= 2 * HTML_WORD) {
        found = html_find_in_word(html_load_word(p), c);
        if (found != 0)
            return p + html_first_of(found);
        p += HTML_WORD;
        found = html_find_in_word(html_load_word(p), c);
        if (found != 0)
            return p + html_first_of(found);
        p += HTML_WORD;
    }
    return memchr(p, c, (size_t)(end - p));
}

#endif
