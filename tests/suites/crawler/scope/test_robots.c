#include "../../../../crawler/scope/robots.h"
#include "../../../harness/harness.h"

#include <time.h>

static bool allows_line(const char *text, const char *path, unsigned *line)
{
    struct robots *robots = robots_parse(text, strlen(text), "coil-crawl");
    bool allowed = robots_allows(robots, path, line);

    robots_destroy(robots);
    return allowed;
}

static bool allows(const char *text, const char *path)
{
    return allows_line(text, path, NULL);
}

static bool pattern_matches(const char *pattern, const char *path)
{
    char text[500];

    snprintf(text, sizeof text, "User-agent: *\nDisallow: %s\n", pattern);
    return !allows(text, path);
}

TEST(robots_simple_example_of_the_rfc)
{
    /*
     * The example in RFC 9309, section 5.1, is tested for each crawler that the file
     * names.
     */
    static const char text[] =
        "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\n"
        "Allow: /publications/\n\nUser-Agent: foobot\nDisallow:/\n"
        "Allow:/example/page.html\nAllow:/example/allowed.gif\n\n"
        "User-Agent: barbot\nUser-Agent: bazbot\n"
        "Disallow: /example/page.html\n\nUser-Agent: quxbot\n\nEOF";
    static const struct {
        const char *product, *path;
        bool allowed;
    } rows[] = {
        {"otherbot", "/", true},
        {"otherbot", "/a.gif", false},
        {"otherbot", "/a.gif?b", true},
        {"otherbot", "/example/page.html", false},
        {"otherbot", "/publications/", true},
        {"otherbot", "/publications/a.gif", true},
        {"foobot", "/", false},
        {"foobot", "/example/page.html", true},
        {"FooBot", "/example/allowed.gif", true},
        {"foobot", "/example/other.html", false},
        {"barbot", "/example/page.html", false},
        {"barbot", "/example/page.htm", true},
        {"bazbot", "/example/page.html", false},
        {"quxbot", "/example/page.html", true},
        {"quxbot", "/a.gif", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct robots *robots = robots_parse(text, sizeof text - 1, rows[i].product);
        if (robots_allows(robots, rows[i].path, NULL) != rows[i].allowed)
            test_trace("%s %s;", rows[i].product, rows[i].path);
        robots_destroy(robots);
    }
    CHECK_TRACE("");
}

TEST(robots_longest_match_example_of_the_rfc)
{
    /* 5.2 */
    static const char text[] = "User-Agent: foobot\nAllow: /example/page/\nDisallow: "
                               "/example/page/disallowed.gif\n";
    struct robots *robots = robots_parse(text, sizeof text - 1, "foobot");
    unsigned line;

    CHECK(robots_allows(robots, "/example/page/", &line));
    CHECK_INT(line, 2);
    CHECK(!robots_allows(robots, "/example/page/disallowed.gif", &line));
    CHECK_INT(line, 3);
    CHECK(robots_allows(robots, "/", &line));
    CHECK_INT(line, 0);
    robots_destroy(robots);
}

TEST(robots_groups_of_one_agent_are_one_group)
{
    /* RFC 9309, 2.2.1, the second example */
    static const char text[] =
        "user-agent: coil-crawl\ndisallow: /foo\ndisallow: /bar\n\n"
        "user-agent: BarBot\ndisallow: /baz\n\n"
        "user-agent: Coil-Crawl\ndisallow: /qux\n";

    CHECK(!allows(text, "/foo") && !allows(text, "/bar") && !allows(text, "/qux"));
    CHECK(allows(text, "/baz") && allows(text, "/"));
}

TEST(robots_for_everybody_count_only_where_no_group_is_ours)
{
    static const char text[] = "user-agent: *\ndisallow: /a\n\nuser-agent: coil-crawl\n";

    CHECK(allows(text, "/a"));
    CHECK(!allows("user-agent: *\ndisallow: /a\nuser-agent: coil\ndisallow: /b", "/a"));
    CHECK(!allows("user-agent: a\nuser-agent: * everybody\ndisallow: /a\n", "/a"));
    CHECK(allows("user-agent: *b\ndisallow: /a\n", "/a"));
    CHECK(allows("", "/a"));
    CHECK(allows("disallow: /\nallow: /b\n", "/a"));
}

TEST(robots_take_the_product_token_alone)
{
    CHECK(!allows("user-agent: coil-crawl/1.0 (x)\ndisallow: /a", "/a"));
    CHECK(allows("user-agent: coil\ndisallow: /a", "/a"));
    CHECK(allows("user-agent: coil-crawler\ndisallow: /a", "/a"));
    CHECK(allows("user-agent: x coil-crawl\ndisallow: /a", "/a"));
}

TEST(robots_other_records_end_no_group)
{
    /* 2.2.4 */
    CHECK(!allows("user-agent: coil-crawl\nsitemap: /s\nx-y: z\ncrawl-delay: 1\n"
                  "user-agent: b\ndisallow: /a",
                  "/a"));
    CHECK(!allows("user-agent: coil-crawl\ndisallow: /b\n\nsitemap: /s\ndisallow: /a",
                  "/a"));
    CHECK(allows("user-agent: coil-crawl\ndisallow:\nuser-agent: b\ndisallow: /a", "/a"));
}

TEST(robots_allow_wins_over_an_equal_disallow)
{
    unsigned line;

    CHECK(allows_line("user-agent: *\ndisallow: /a\nallow: /a\n", "/a", &line));
    CHECK_INT(line, 3);
    CHECK(allows("user-agent: *\nallow: /a\ndisallow: /a\n", "/ab"));
    CHECK(!allows("user-agent: *\nallow: /a\ndisallow: /a*\n", "/ab"));
    CHECK(!allows("user-agent: *\nallow: /ab\ndisallow: /a*b\n", "/ab"));
}

TEST(robots_empty_patterns_match_nothing)
{
    CHECK(allows("user-agent: *\ndisallow:\n", "/"));
    CHECK(allows("user-agent: *\ndisallow: # /\n", "/"));
    CHECK(!allows("user-agent: *\nallow:\ndisallow: /\n", "/"));
    CHECK(allows("user-agent: *\ndisallow: a\n", "/a"));
}

TEST(robots_wildcards)
{
    /* the examples in RFC 9309, 2.2.3, and similar patterns */
    static const struct {
        const char *pattern, *path;
        bool matches;
    } rows[] = {
        {"/this/path/exactly$", "/this/path/exactly", true},
        {"/this/path/exactly$", "/this/path/exactly/", false},
        {"/this/path/exactly$", "/this/path/exactly?a", false},
        {"/this/*/exactly", "/this/path/exactly", true},
        {"/this/*/exactly", "/this//exactly/and/more", true},
        {"/this/*/exactly", "/this/exactly", false},
        {"/path/file-with-a-%2A.html", "/path/file-with-a-*.html", true},
        {"/path/file-with-a-%2A.html", "/path/file-with-a-b.html", false},
        {"/path/foo-%24", "/path/foo-$", true},
        {"/path/foo-%24", "/path/foo-", false},
        {"/a$b", "/a$b", true},
        {"/a$b", "/a", false},
        {"/a$$", "/a$", true},
        {"*", "/", true},
        {"*$", "/", true},
        {"/$", "/", true},
        {"/$", "/a", false},
        {"**a**b**$", "/xaxb", true},
        {"*.gif$", "/a.gif", true},
        {"*.gif$", "/a.gif.gif", true},
        {"*.gif$", "/a.gif.png", false},
        {"/a*a$", "/a", false},
        {"/a*a$", "/aa", true},
        {"/a*ab*b$", "/aabab", true},
        {"/a*ab*b$", "/aab", false},
        {"/a*ab*b$", "/aababb", true},
        {"/fish*.php", "/fishheads/catfish.php?parameters", true},
        {"/fish*.php", "/Fish.PHP", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (pattern_matches(rows[i].pattern, rows[i].path) != rows[i].matches)
            test_trace("%s %s;", rows[i].pattern, rows[i].path);
    CHECK_TRACE("");
}

TEST(robots_compare_urls_in_one_spelling)
{
    static const struct {
        const char *pattern, *path;
        bool matches;
    } rows[] = {
        /* The table of RFC 9309, 2.2.2: as written, encoded, to match. */
        {"/foo/bar?baz=quz", "/foo/bar?baz=quz", true},
        {"/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", true},
        {"/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar", true},
        {"/foo/bar/\xe3\x83\x84", "/foo/bar/%E3%83%84", true},
        {"/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", true},
        {"/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", true},
        {"/foo/bar/%62%61%7A", "/foo/bar/baz", true},
        {"/foo/bar/baz", "/foo/bar/%62%61%7a", true},
        /* In a path, a delimiter differs from its encoded form. */
        {"/a%2Fb", "/a/b", false},
        {"/a/b", "/a%2Fb", false},
        {"/a%3Fb", "/a?b", false},
        {"/a?b&c", "/a?b%26c", false},
        {"/a(b)", "/a%28b%29", true},
        {"/a%5Bb", "/a[b", true},
        /*
         * A slash in a query is not a delimiter, so it matches an encoded or plain slash
         * in the pattern.
         */
        {"/*/print", "/a?b=/print", true},
        {"/*/print", "/a?b=%2fprint", true},
        {"/*%2Fprint", "/a?b=/print", true},
        {"/*%2Fprint", "/a/print", false},
        {"/*%2Fprint", "/a%2fprint", true},
        {"/100%", "/100%", true},
        {"/100%", "/100%25", true},
        {"/100%zz", "/100%zz", true},
        {"/a b", "/a%20b", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (pattern_matches(rows[i].pattern, rows[i].path) != rows[i].matches)
            test_trace("%s %s;", rows[i].pattern, rows[i].path);
    CHECK_TRACE("");
}

TEST(robots_txt_itself_is_allowed)
{
    CHECK(allows("user-agent: *\ndisallow: /\n", "/robots.txt"));
    CHECK(!allows("user-agent: *\ndisallow: /\n", "/robots.txt.html"));
    CHECK(!allows("user-agent: *\ndisallow: /\n", ""));
}

TEST(robots_lines_end_in_any_way)
{
    unsigned line;

    CHECK(!allows_line("user-agent: *\r\n\r\ndisallow: /a\r\n", "/a", &line));
    CHECK_INT(line, 3);
    CHECK(!allows_line("user-agent: *\r\rdisallow: /a\r", "/a", &line));
    CHECK_INT(line, 3);
    CHECK(!allows("\xef\xbb\xbfuser-agent: *\ndisallow: /a", "/a"));
    CHECK(!allows("\t user-agent \t:\t* \t# all\n disallow :/a#b\n", "/a"));
}

TEST(robots_typos_that_are_understood)
{
    CHECK(!allows("useragent: *\ndissalow: /a", "/a"));
    CHECK(!allows("user agent: *\nDISALOW: /a", "/a"));
    CHECK(!allows("user-agent *\ndisallow /a", "/a"));
    CHECK(allows("user-agent: *\ndisallow /a b", "/a"));
    CHECK(allows("user-agent: *\ndesallow: /a", "/a"));
    CHECK(allows("user-agent: *\ndisallowed: /a", "/a"));
}

TEST(robots_of_a_status)
{
    static const struct {
        int status;
        bool allowed;
    } rows[] = {{404, true},  {401, true},  {429, true}, {499, true}, {302, true},
                {500, false}, {503, false}, {0, false},  {-1, false}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct robots *robots = robots_for_status(rows[i].status);
        CHECK_INT(robots_allows(robots, "/a", NULL), rows[i].allowed);
        CHECK(robots_allows(robots, "/robots.txt", NULL));
        CHECK_INT(robots_delay_ns(robots), -1);
        CHECK_PTR(robots_sitemap(robots, 0), NULL);
        robots_destroy(robots);
    }
    robots_destroy(NULL);
}

static int64_t delay_of(const char *text)
{
    struct robots *robots = robots_parse(text, strlen(text), "coil-crawl");
    int64_t delay_ns = robots_delay_ns(robots);

    robots_destroy(robots);
    return delay_ns;
}

TEST(robots_crawl_delay)
{
    CHECK_INT(delay_of("user-agent: *\ncrawl-delay: 2"), 2000000000);
    CHECK_INT(delay_of("user-agent: *\ncrawl-delay: 0.25 # s"), 250000000);
    CHECK_INT(delay_of("user-agent: *\ncrawl-delay: 99999999999999999999"),
              INT64_C(3600000000000));
    CHECK_INT(delay_of("user-agent: *\ncrawl-delay: 1.0000000000000000000001"),
              1000000000);
    CHECK_INT(delay_of("user-agent: *\ncrawl-delay: -1"), -1);
    CHECK_INT(delay_of("user-agent: *\ncrawl-delay: 1s"), -1);
    CHECK_INT(delay_of("user-agent: *\ncrawl-delay: .5"), -1);
    CHECK_INT(delay_of("crawl-delay: 1\nuser-agent: *\ndisallow:"), -1);
    CHECK_INT(delay_of("user-agent: *\ncrawl-delay: 3\ndisallow:\n"
                       "user-agent: coil-crawl\ndisallow:"),
              -1);
    CHECK_INT(delay_of("user-agent: coil-crawl\ncrawl-delay: 3\nuser-agent: b\n"
                       "disallow: /"),
              3000000000);
}

TEST(robots_sitemaps)
{
    static const char text[] = "sitemap: /a\nuser-agent: b\nSitemap:http://c/d?e  # f\n"
                               "site-map: g\nsitemap:\nsitemap: \n";
    struct robots *robots = robots_parse(text, sizeof text - 1, "coil-crawl");

    CHECK_STR(robots_sitemap(robots, 0), "/a");
    CHECK_STR(robots_sitemap(robots, 1), "http://c/d?e");
    CHECK_STR(robots_sitemap(robots, 2), "g");
    CHECK_PTR(robots_sitemap(robots, 3), NULL);
    for (size_t i = 0; i < 3; i++) {
        uint32_t line, column;
        robots_sitemap_place(robots, i, &line, &column);
        test_trace("%u:%u ", line, column);
    }
    CHECK_TRACE("1:10 3:9 4:11 ");
    robots_destroy(robots);
}

static struct robots *parse_long(const char *first, const char *last, size_t n)
{
    char *text = malloc(n);
    struct robots *robots;

    memset(text, '\n', n);
    memcpy(text, first, strlen(first));
    memcpy(text + n - strlen(last), last, strlen(last));
    robots = robots_parse(text, n, "coil-crawl");
    free(text);
    return robots;
}

TEST(robots_are_read_up_to_500_kib)
{
    struct robots *robots = parse_long("user-agent: *", "\ndisallow: /a", ROBOTS_BYTES);

    CHECK(!robots_allows(robots, "/a", NULL));
    robots_destroy(robots);
    /* A truncated line could have a meaning that its author did not intend. */
    robots = parse_long("user-agent: *", "\ndisallow: /a", ROBOTS_BYTES + 1);
    CHECK(robots_allows(robots, "/", NULL));
    robots_destroy(robots);
    robots = parse_long("user-agent: *", "\ndisallow: /a\n", ROBOTS_BYTES + 1);
    CHECK(!robots_allows(robots, "/a", NULL));
    robots_destroy(robots);
}

static int64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/*
 * Match a rule of 500 KiB against a URL of that length. With backtracking this would take
 * hours.
 */
TEST(robots_take_linear_time)
{
    static const char head[] = "user-agent: *\ndisallow: /";
    char *text = malloc(ROBOTS_BYTES), *url = malloc(ROBOTS_BYTES);
    struct robots *robots;
    int64_t begin = cpu_ns();

    memset(text, 'a', ROBOTS_BYTES);
    memcpy(text, head, sizeof head - 1);
    for (size_t i = sizeof head; i < ROBOTS_BYTES / 2; i += 2)
        text[i] = '*';
    text[ROBOTS_BYTES - 2] = 'b';
    memset(url, 'a', ROBOTS_BYTES - 1);
    url[0] = '/';
    url[ROBOTS_BYTES - 1] = '\0';
    robots = robots_parse(text, ROBOTS_BYTES, "coil-crawl");
    CHECK(robots_allows(robots, url, NULL));
    robots_destroy(robots);
    memset(text, '\r', ROBOTS_BYTES);
    robots_destroy(robots_parse(text, ROBOTS_BYTES, "coil-crawl"));
    CHECK(cpu_ns() - begin < INT64_C(5000000000));
    free(text);
    free(url);
}
