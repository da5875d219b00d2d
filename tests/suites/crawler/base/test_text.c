#include "../../../../crawler/base/text.h"
#include "../../../harness/harness.h"

/* Compare the content of the text with `expected`, and empty the text. */
static void check_text(struct text *text, const char *expected)
{
    char *taken = text_take(text);

    CHECK_STR(taken, expected);
    free(taken);
}

TEST(text_points_of_characters)
{
    CHECK_INT(text_utf8_point("a", 1), 'a');
    CHECK_INT(text_utf8_point("\xc3\xa9", 2), 0xe9);
    CHECK_INT(text_utf8_point("\xe2\x82\xac", 3), 0x20ac);
    CHECK_INT(text_utf8_point("\xf0\x9f\x98\x80", 4), 0x1f600);
    CHECK_INT(text_utf8_point("\xff", 1), 0xfffd);
    CHECK_INT(text_utf8_point("\xed\xa0\x80", 3), 0xfffd);
}

TEST(text_grows)
{
    struct text text = {0};

    for (int i = 0; i < 100000; i++)
        text_add(&text, "abc", 3);
    CHECK_INT(text.n, 300000);
    CHECK(memcmp(text.at + 299997, "abc", 3) == 0);
    text_finish(&text);
    check_text(&text, "");
}

TEST(text_inserts)
{
    struct text text = {0};

    text_insert(&text, 0, "ad", 2);
    text_insert(&text, 1, "bc", 2);
    text_insert(&text, 4, "e", 1);
    check_text(&text, "abcde");
}

TEST(text_encodes_what_belongs_to_the_set)
{
    static const char all[] = "a%41 \"'#?`{}/:|^\x7f\xc3\xa4";
    struct text text = {0};

    text_add_encoded(&text, all, sizeof all - 1, PERCENT_CONTROL);
    check_text(&text, "a%41 \"'#?`{}/:|^%7F%C3%A4");
    text_add_encoded(&text, all, sizeof all - 1, PERCENT_FRAGMENT);
    check_text(&text, "a%41%20%22'#?%60{}/:|^%7F%C3%A4");
    text_add_encoded(&text, all, sizeof all - 1, PERCENT_QUERY);
    check_text(&text, "a%41%20%22'%23?`{}/:|^%7F%C3%A4");
    text_add_encoded(&text, all, sizeof all - 1, PERCENT_SPECIAL_QUERY);
    check_text(&text, "a%41%20%22%27%23?`{}/:|^%7F%C3%A4");
    text_add_encoded(&text, all, sizeof all - 1, PERCENT_PATH);
    check_text(&text, "a%41%20%22'%23%3F%60%7B%7D/:|^%7F%C3%A4");
    text_add_encoded(&text, all, sizeof all - 1, PERCENT_USERINFO);
    check_text(&text, "a%41%20%22'%23%3F%60%7B%7D%2F%3A%7C%5E%7F%C3%A4");
}

TEST(text_decodes_complete_escapes)
{
    struct text text = {0};

    text_add_decoded(&text, "%41%6g%%42%4", 12);
    check_text(&text, "A%6g%B%4");
}

static void check_utf8(const char *bytes, size_t n, const char *expected)
{
    struct text text = {0};

    text_add_utf8(&text, bytes, n, "\t");
    check_text(&text, expected);
}

/* U+FFFD in UTF-8, the replacement for invalid bytes. */
#define BAD "\xef\xbf\xbd"

TEST(text_repairs_utf8)
{
    check_utf8("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x92\xa9", 10,
               "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x92\xa9");
    check_utf8("\xff"
               "a\x80",
               3, BAD "a" BAD);
    /* a truncated character becomes one U+FFFD */
    check_utf8("\xe2\x82", 2, BAD);
    check_utf8("\xe2\x82z", 3, BAD "z");                /* the next byte is preserved */
    check_utf8("\xc0\xaf", 2, BAD BAD);                 /* overlong */
    check_utf8("\xed\xa0\x80", 3, BAD BAD BAD);         /* a surrogate */
    check_utf8("\xf4\x90\x80\x80", 4, BAD BAD BAD BAD); /* beyond U+10FFFF */
    check_utf8("a\tb\0c", 2, "a");
    /* removing the tab must not join the bytes around it into a character */
    check_utf8("\xc3\t\xa4", 3, BAD BAD);
}
