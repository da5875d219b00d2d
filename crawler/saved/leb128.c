/* leb128.c - see leb128.h */
#include "leb128.h"

void leb128_put(struct text *to, uint64_t value)
{
    char bytes[10];
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (char)(value | 0x80);
    bytes[n++] = (char)value;
    text_add(to, bytes, n);
}

void leb128_put_signed(struct text *to, int64_t value)
{
    leb128_put(to, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

void leb128_put_bytes(struct text *to, const void *bytes, size_t n)
{
    leb128_put(to, n);
    text_add(to, bytes, n);
}

unsigned leb128_take_byte(struct leb128_bytes *from)
{
    if (from->at < from->end)
        return *from->at++;
    from->failed = true;
    return 0;
}

uint64_t leb128_take(struct leb128_bytes *from)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned byte = leb128_take_byte(from);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
    from->failed = true;
    return 0;
}

int64_t leb128_take_signed(struct leb128_bytes *from)
{
    uint64_t value = leb128_take(from);

    return (int64_t)((value >> 1) ^ ((value & 1) != 0 ? UINT64_MAX : 0));
}

const void *leb128_take_bytes(struct leb128_bytes *from, size_t *n)
{
    uint64_t length = leb128_take(from);
    const void *bytes = from->at;

    if (from->failed || length > (uint64_t)(from->end - from->at)) {
        from->failed = true;
        return NULL;
    }
    from->at += length;
    *n = (size_t)length;
    return bytes;
}
