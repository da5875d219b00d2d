/*
 * test_pattern.c - crawler/scope/pattern.h: patterns, which are Perl regular expressions,
 * and errors in them.
 */
#include "../../../../crawler/scope/pattern.h"
#include "../../../harness/harness.h"

#include <errno.h>
#include <string.h>

static int matches(const char *text, const char *url)
{
    struct pattern_list list = {NULL, 0};
    char why[PATTERN_WHY_BYTES];
    int rc = patterns_add(&list, text, why);

    if (rc == 0)
        rc = patterns_match(&list, url, NULL);
    patterns_finish(&list);
    return rc;
}

/* Patterns have the syntax that grep -P, git and nginx also accept. */
TEST(pattern_is_a_perl_regular_expression)
{
    CHECK_INT(matches("/p\\d+$", "http://h/p12"), 1);
    CHECK_INT(matches("/p\\d+$", "http://h/pd"), 0);
    CHECK_INT(matches("\\.(png|jpe?g)$", "http://h/a.jpg"), 1);
    CHECK_INT(matches("\\.(png|jpe?g)$", "http://h/a.jpg?x"), 0);
    CHECK_INT(matches("(?i)/PRIVATE/", "http://h/private/x"), 1);
    CHECK_INT(matches("^https?://(?!www\\.)\\w+\\.example/", "http://m.example/"), 1);
    CHECK_INT(matches("^https?://(?!www\\.)\\w+\\.example/", "http://www.example/"), 0);
    CHECK_INT(matches("/.*?\\bnew\\b", "http://h/a-new-b"), 1);
    CHECK_INT(matches("[[:digit:]]{3}", "http://h/404"), 1);
    CHECK_INT(matches("\\Q(x)\\E", "http://h/(x)"), 1);
    CHECK_INT(matches(".", "http://h/"), 1);
    CHECK_INT(matches("a\\|", "http://h/a|"), 1);
}

/*
 * Patterns that are obviously mistakes are refused, because they would silently match
 * every URL or none.
 */
TEST(pattern_that_matches_all_or_nothing_by_mistake_is_refused)
{
    static const struct {
        const char *text, *why;
    } refused[] = {
        {"", "an empty pattern"},
        {"|a", "the empty alternative"},
        {"a|", "the empty alternative"},
        {"a\\\\|", "the empty alternative"},
        {"\\<a", "write \\b"},
        {"a\\>", "write \\b"},
        {"caf\xc3\xa9", "%C3%A9"},
        {"(", "missing closing parenthesis (at character 2)"},
        {"a**", "quantifier does not follow"},
        {"[z-a]", "range out of order"},
        {"\\", "\\ at end of pattern"},
    };
    struct pattern_list list = {NULL, 0};
    char why[PATTERN_WHY_BYTES];

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        CHECK_INT(patterns_add(&list, refused[i].text, why), -EINVAL);
        CHECK(strstr(why, refused[i].why) != NULL);
    }
    CHECK_INT(list.count, 0);
    patterns_finish(&list);
}

/* Matching a malicious URL against a pattern could take a year, so there is a limit. */
TEST(pattern_gives_up_where_it_would_take_very_long)
{
    struct pattern_list list = {NULL, 0};
    char why[PATTERN_WHY_BYTES], url[2049] = "http://h/";
    size_t which = 9;

    memset(url + 9, 'a', sizeof url - 11);
    url[sizeof url - 2] = '!';
    CHECK_INT(patterns_add(&list, "x", why), 0);
    CHECK_INT(patterns_add(&list, "(a+)+$", why), 0);
    CHECK_INT(patterns_match(&list, url, &which), -ETIMEDOUT);
    CHECK_INT(which, 1);
    CHECK(pattern_is_news(&list, which) && !pattern_is_news(&list, which));
    CHECK_INT(patterns_match(&list, "http://h/aa", &which), 1);
    CHECK_INT(pattern_matches(&list, 0, "http://h/x"), 1);
    CHECK_STR(pattern_text(&list, 1), "(a+)+$");
    patterns_finish(&list);
    CHECK_INT(matches("([a-z/]*b)*[a-z/]*c", url), 0); /* fast enough */
}
