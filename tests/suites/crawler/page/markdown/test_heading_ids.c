#include "../../../../../crawler/page/markdown/heading_ids.h"
#include "../../../../harness/harness.h"

#include <stdlib.h>

TEST(heading_ids_are_those_of_github)
{
    static const struct {
        const char *text, *id;
    } rows[] = {
        {"Installation", "installation"},
        {"This is a Heading", "this-is-a-heading"},
        {"heading with a - dash", "heading-with-a---dash"},
        {"heading with an _ underscore", "heading-with-an-_-underscore"},
        {"heading with a period.txt", "heading-with-a-periodtxt"},
        {"exchange.bind_headers(exchange, routing [, bindCallback])",
         "exchangebind_headersexchange-routing--bindcallback"},
        {"I will \u2665 unicode", "i-will--unicode"},
        {"C++ & C#", "c--c"},
        {"What's new in 1.2.3?", "whats-new-in-123"},
        {"--verbose, -v", "--verbose--v"},
        {"a/b: c", "ab-c"},
        {"\u041f\u0440\u0438\u0432\u0435\u0442 non-latin \u4f60\u597d",
         "\u043f\u0440\u0438\u0432\u0435\u0442-non-latin-\u4f60\u597d"},
        {"\u00c4rger und \u00dcbermut", "\u00e4rger-und-\u00fcbermut"},
        {"\U0001f604 emoji", "-emoji"},
        {"\u26a0\ufe0f Warning", "\ufe0f-warning"},
        {":rocket: Launch", "rocket-launch"},
        {"\u2014 dash \u2013", "-dash-"},
        {"\u0939\u093f\u0928\u094d\u0926\u0940", "\u0939\u093f\u0928\u094d\u0926\u0940"},
        {"\u0661\u00b2", "\u0661"},
        {"\u0130stanbul", "i\u0307stanbul"},
        {"a\nb", "ab"},
        {"", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct heading_ids ids;
        heading_ids_init(&ids);
        CHECK_STR(heading_ids_add(&ids, rows[i].text, strlen(rows[i].text)), rows[i].id);
        heading_ids_finish(&ids);
    }
}

TEST(heading_ids_in_lower_case)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"a-B_1!", "a-b_1!"},
        {"\u00c4\u0130\u4f60", "\u00e4i\u0307\u4f60"},
        {"\xc4X", "\ufffdx"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *lower = heading_ids_lower(rows[i][0], strlen(rows[i][0]));
        CHECK_STR(lower, rows[i][1]);
        free(lower);
    }
}

TEST(heading_ids_of_equal_headings_are_counted)
{
    static const char *const rows[][2] = {
        {"a", "a"},   {"A!", "a-1"},    {"a", "a-2"}, {"b-1", "b-1"}, {"b", "b"},
        {"b", "b-2"}, {"a 1", "a-1-1"}, {"", ""},     {"?", "-1"},    {"a 1", "a-1-2"},
    };
    struct heading_ids ids;

    heading_ids_init(&ids);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(heading_ids_add(&ids, rows[i][0], strlen(rows[i][0])), rows[i][1]);
    heading_ids_finish(&ids);
}
