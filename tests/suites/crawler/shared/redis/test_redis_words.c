/*
 * test_redis_words.c - crawler/shared/redis/redis_words.h: building the list of words of
 * a Redis command.
 */
#include "../../../../../crawler/shared/redis/redis_words.h"
#include "../../../../harness/harness.h"

#include <hiredis.h>

static void check_format(const struct redis_words *words, const char *expected, size_t n)
{
    char *bytes = NULL;
    int length = redis_words_format(words, &bytes);

    CHECK_INT(length, n);
    CHECK(length == (int)n && memcmp(bytes, expected, n) == 0);
    redisFreeCommand(bytes);
}

TEST(redis_words_may_have_any_bytes_and_none)
{
    struct redis_words words = {.count = 0};
    static const char expected[] =
        "*4\r\n$3\r\nSET\r\n$3\r\na\0b\r\n$0\r\n\r\n$3\r\n-42\r\n";

    redis_words_add(&words, "SET");
    redis_words_add_bytes(&words, "a\0b", 3);
    redis_words_add(&words, "");
    redis_words_add_number(&words, -42);
    check_format(&words, expected, sizeof expected - 1);
    redis_words_finish(&words);
}

TEST(redis_words_that_are_all_empty_are_a_command)
{
    struct redis_words words = {.count = 0};

    redis_words_add(&words, "");
    check_format(&words, "*1\r\n$0\r\n\r\n", 10);
    redis_words_finish(&words);
}

TEST(redis_words_of_others_come_behind)
{
    struct redis_words words = {.count = 0}, others = {.count = 0};

    redis_words_add(&others, "one");
    redis_words_add(&others, "");
    redis_words_add(&others, "three");
    redis_words_add(&words, "zero");
    redis_words_append(&words, &others, 0, others.count);
    check_format(&words, "*4\r\n$4\r\nzero\r\n$3\r\none\r\n$0\r\n\r\n$5\r\nthree\r\n",
                 40);
    redis_words_clear(&words);
    redis_words_append(&words, &others, 0, others.count);
    check_format(&words, "*3\r\n$3\r\none\r\n$0\r\n\r\n$5\r\nthree\r\n", 30);
    redis_words_finish(&words);
    redis_words_finish(&others);
}
