/*
 * test_escape.c - crawler/report/escape.h: whatever the format, escaped text cannot
 * contain markup or a control sequence.
 */
#include "../../../../crawler/report/escape.h"
#include "../../../harness/harness.h"

static char got[1024];

static void append(void *to, const char *piece, size_t n)
{
    size_t *length = to;

    memcpy(got + *length, piece, n);
    *length += n;
    got[*length] = '\0';
}

static const char *escaped(void (*escape)(const char *text, escape_put put, void *to),
                           const char *text)
{
    size_t length = 0;

    got[0] = '\0';
    escape(text, append, &length);
    return got;
}

#define REPLACED "\xef\xbf\xbd"

TEST(escape_replaces_what_is_no_visible_character)
{
    CHECK_STR(escaped(escape_plain, "a\tb\n\x7f\xff\xc3z"),
              "a" REPLACED "b" REPLACED REPLACED REPLACED REPLACED "z");
    CHECK_STR(escaped(escape_plain, "\xe2\x80\xae"
                                    "exe\xe2\x81\xa6\xc2\x85\xef\xbf\xbf"),
              REPLACED "exe" REPLACED REPLACED REPLACED);
    CHECK_STR(escaped(escape_plain, "\xc3\xa4\xf0\x9f\x98\x80 \xd7\xa9"),
              "\xc3\xa4\xf0\x9f\x98\x80 \xd7\xa9");
}

TEST(escape_masks_passwords_in_every_format)
{
    CHECK_STR(escaped(escape_plain, "http://u:p@h/"), "http://u:***@h/");
    CHECK_STR(escaped(escape_json, "http://u:p@h/"), "http://u:***@h/");
    CHECK_STR(escaped(escape_sarif, "http://u:p@h/"), "http://u:***@h/");
    CHECK_STR(escaped(escape_markup, "http://u:p@h/"), "http://u:***@h/");
    CHECK_STR(escaped(escape_csv, "http://u:p@h/"), "\"http://u:***@h/\"");
    CHECK_STR(escaped(escape_markdown, "http://u:p@h/"),
              "http&#58;//u&#58;&#42;&#42;&#42;&#64;h/");
}

TEST(escape_markup_leaves_no_tag_and_no_quote)
{
    CHECK_STR(escaped(escape_markup, "\"><script>alert('1' && `2`)</script>"),
              "&#34;&#62;&#60;script&#62;alert(&#39;1&#39; &#38;&#38; &#96;2&#96;)"
              "&#60;/script&#62;");
}

TEST(escape_json_and_sarif)
{
    CHECK_STR(escaped(escape_json, "a\"b\\c\n[d]"), "a\\\"b\\\\c" REPLACED "[d]");
    CHECK_STR(escaped(escape_sarif, "[a](http://x) {0} \\ \""),
              "\\\\[a\\\\](http://x) {{0}} \\\\\\\\ \\\"");
}

TEST(escape_csv_quotes_and_disarms_formulas)
{
    CHECK_STR(escaped(escape_csv, "a,\"b\"\r\nc"),
              "\"a,\"\"b\"\"" REPLACED REPLACED "c\"");
    CHECK_STR(escaped(escape_csv, ""), "\"\"");
    CHECK_STR(escaped(escape_csv, "=1+1"), "\"'=1+1\"");
    CHECK_STR(escaped(escape_csv, "+1"), "\"'+1\"");
    CHECK_STR(escaped(escape_csv, "-1"), "\"'-1\"");
    CHECK_STR(escaped(escape_csv, "@SUM(A1)"), "\"'@SUM(A1)\"");
    CHECK_STR(escaped(escape_csv, "\uff1d1"), "\"'\uff1d1\"");
    CHECK_STR(escaped(escape_csv, "\t=1"), "\"" REPLACED "=1\"");
    CHECK_STR(escaped(escape_csv, "a=1"), "\"a=1\"");
}

TEST(escape_markdown_leaves_no_mark)
{
    static const char harmless[] = " %+,-./=?";

    for (char c = ' '; c < 0x7f; c++) {
        char text[] = {c, '\0'}, expected[8] = {c, '\0'};
        bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                        (c >= 'a' && c <= 'z') || strchr(harmless, c) != NULL;

        if (!is_plain)
            snprintf(expected, sizeof expected, "&#%d;", c);
        CHECK_STR(escaped(escape_markdown, text), expected);
    }
}
