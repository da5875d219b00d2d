/*
 * leb128.h - numbers and texts in as few bytes as they need: seven bits a byte, the low ones first.
 *
 *     leb128_put(&text, 300);
 *
 *     struct leb128_bytes from = {bytes, bytes + n, false};
 *     number = leb128_take(&from);
 *
 * Bytes that are read may be anybody's: whoever takes more than there is, or what is no number, gets 0,
 * and finds `failed` at the end.
 */
#ifndef CRAWLER_LEB128_H
#define CRAWLER_LEB128_H

#include "../base/text.h"

void leb128_put(struct text *to, uint64_t value);

/* What is near 0, on both sides, is short. (zigzag) */
void leb128_put_signed(struct text *to, int64_t value);

/* Their number, and the bytes. */
void leb128_put_bytes(struct text *to, const void *bytes, size_t n);

struct leb128_bytes {
    const unsigned char *at, *end;
    bool failed;
};

unsigned leb128_take_byte(struct leb128_bytes *from);
uint64_t leb128_take(struct leb128_bytes *from);
int64_t leb128_take_signed(struct leb128_bytes *from);

/* Bytes with their number before them, where they are; NULL if it failed. */
const void *leb128_take_bytes(struct leb128_bytes *from, size_t *n);

#endif
