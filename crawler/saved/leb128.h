/*
 * leb128.h - encode and decode integers and byte strings in LEB128: seven bits per byte,
 * low bits first.
 *
 *     leb128_put(&text, 300);
 *
 *     struct leb128_bytes from = {bytes, bytes + n, false};
 *     number = leb128_take(&from);
 *
 * Input is not trusted. If it ends too early or a number is invalid, the leb128_take
 * functions set `failed` and return 0 or NULL. It is sufficient to check `failed` after
 * the last call.
 */
#ifndef CRAWLER_LEB128_H
#define CRAWLER_LEB128_H

#include "../base/text.h"

void leb128_put(struct text *to, uint64_t value);

/*
 * Append a signed number in zigzag coding, which is short for positive and negative
 * numbers close to 0.
 */
void leb128_put_signed(struct text *to, int64_t value);

/* Append n, followed by n bytes. */
void leb128_put_bytes(struct text *to, const void *bytes, size_t n);

struct leb128_bytes {
    const unsigned char *at, *end;
    bool failed;
};

unsigned leb128_take_byte(struct leb128_bytes *from);
uint64_t leb128_take(struct leb128_bytes *from);
int64_t leb128_take_signed(struct leb128_bytes *from);

/* Return the address of the bytes inside the input, or NULL on failure. */
const void *leb128_take_bytes(struct leb128_bytes *from, size_t *n);

#endif
