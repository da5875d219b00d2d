/*
 * test_leb128.c - crawler/saved/leb128.h: numbers are stored in as few bytes as possible,
 * and truncated numbers are refused.
 */
#include "../../../../crawler/saved/leb128.h"
#include "../../../harness/harness.h"

static struct leb128_bytes bytes_of(const struct text *text)
{
    const unsigned char *at = (const unsigned char *)text->at;

    return (struct leb128_bytes){at, at + text->n, false};
}

static void check_number(uint64_t value, size_t length)
{
    struct text text = {0};
    struct leb128_bytes from;

    leb128_put(&text, value);
    CHECK_INT(text.n, length);
    from = bytes_of(&text);
    CHECK(leb128_take(&from) == value && !from.failed && from.at == from.end);
    from = bytes_of(&text);
    from.end--;
    leb128_take(&from);
    CHECK(from.failed);
    text_finish(&text);
}

static void check_signed(int64_t value, size_t length)
{
    struct text text = {0};
    struct leb128_bytes from;

    leb128_put_signed(&text, value);
    CHECK_INT(text.n, length);
    from = bytes_of(&text);
    CHECK_INT(leb128_take_signed(&from), value);
    CHECK(!from.failed);
    text_finish(&text);
}

TEST(leb128_numbers_take_seven_bits_a_byte)
{
    check_number(0, 1);
    check_number(127, 1);
    check_number(128, 2);
    check_number(16383, 2);
    check_number(16384, 3);
    check_number(UINT64_MAX, 10);
    check_signed(0, 1);
    check_signed(-64, 1);
    check_signed(63, 1);
    check_signed(64, 2);
    check_signed(INT64_MIN, 10);
    check_signed(INT64_MAX, 10);
}

TEST(leb128_bytes_may_be_none_and_not_more_than_there_are)
{
    struct text text = {0};
    struct leb128_bytes from;
    const char *bytes;
    size_t n = 9;

    leb128_put_bytes(&text, "abc", 3);
    leb128_put_bytes(&text, "", 0);
    from = bytes_of(&text);
    bytes = leb128_take_bytes(&from, &n);
    CHECK(n == 3 && memcmp(bytes, "abc", 3) == 0);
    CHECK(leb128_take_bytes(&from, &n) != NULL);
    CHECK_INT(n, 0);
    CHECK(!from.failed);
    from = bytes_of(&text);
    from.end -= 2;
    CHECK_PTR(leb128_take_bytes(&from, &n), NULL);
    CHECK(from.failed);
    text_finish(&text);
}

TEST(leb128_number_that_does_not_end_is_refused)
{
    static const unsigned char endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                            0x80, 0x80, 0x80, 0x80, 0x80, 0};
    struct leb128_bytes from = {endless, endless + sizeof endless, false};

    CHECK_INT(leb128_take(&from), 0);
    CHECK(from.failed);
}
