#include "../../../../crawler/url/whatwg_url.h"
#include "../../../harness/harness.h"

#include <errno.h>

/*
 * tests/suites/url/run runs the test cases of the URL standard. This file tests the other
 * guarantees of whatwg_url.h.
 */

static int parse(const char *input, const struct whatwg_url *base, struct whatwg_url *url)
{
    return whatwg_url_parse(input, strlen(input), base, url);
}

static void check_part(const struct whatwg_url *url, enum whatwg_part part,
                       const char *expected)
{
    struct whatwg_span span = whatwg_url_part(url, part);
    char *copy = strndup(span.at, span.n);

    CHECK_STR(copy, expected);
    free(copy);
}

TEST(whatwg_url_has_its_parts)
{
    static const char *const parts[] = {
        "https:", "user",  "password", "example.com:8080", "example.com",
        "8080",   "/path", "?query",   "#fragment"};
    struct whatwg_url url;

    CHECK_INT(
        parse("https://user:password@example.com:8080/path?query#fragment", NULL, &url),
        0);
    CHECK_INT(url.length, strlen(url.href));
    CHECK_INT(url.port, 8080);
    for (int part = WHATWG_PROTOCOL; part <= WHATWG_HASH; part++)
        check_part(&url, (enum whatwg_part)part, parts[part]);
    whatwg_url_finish(&url);
    CHECK_PTR(url.href, NULL);
}

TEST(whatwg_url_without_parts)
{
    struct whatwg_url url;

    CHECK_INT(parse("a:", NULL, &url), 0);
    check_part(&url, WHATWG_PROTOCOL, "a:");
    for (int part = WHATWG_USERNAME; part <= WHATWG_HASH; part++)
        check_part(&url, (enum whatwg_part)part, "");
    CHECK_INT(url.port, -1);
    CHECK(!url.has_host && !url.special && url.opaque_path);
    whatwg_url_finish(&url);
}

TEST(whatwg_url_is_zeroed_by_failure)
{
    struct whatwg_url url = {.length = 1};

    CHECK_INT(parse("http://h:99999/", NULL, &url), -EINVAL);
    CHECK_PTR(url.href, NULL);
    CHECK_INT(url.length, 0);
    CHECK_INT(parse("", NULL, &url), -EINVAL);
    whatwg_url_finish(&url);
}

TEST(whatwg_url_keeps_its_base)
{
    struct whatwg_url base, url;

    CHECK_INT(parse("web+demo:/.//a/b", NULL, &base), 0);
    CHECK_STR(base.href, "web+demo:/.//a/b");
    CHECK_INT(parse("c", &base, &url), 0);
    CHECK_STR(url.href, "web+demo:/.//a/c");
    whatwg_url_finish(&url);
    CHECK_INT(parse("/d", &base, &url), 0); /* "/." is not needed here */
    CHECK_STR(url.href, "web+demo:/d");
    whatwg_url_finish(&url);
    CHECK_STR(base.href, "web+demo:/.//a/b");
    whatwg_url_finish(&base);
}

TEST(whatwg_url_of_any_bytes)
{
    static const char bytes[] = "http://h/\0\xff?\x80\0";
    struct whatwg_url url;

    CHECK_INT(whatwg_url_parse(bytes, sizeof bytes - 1, NULL, &url), 0);
    CHECK_STR(url.href, "http://h/%00%EF%BF%BD?%EF%BF%BD");
    whatwg_url_finish(&url);
    CHECK_INT(whatwg_url_parse("http://a\0b/", 11, NULL, &url), -EINVAL);
}

TEST(whatwg_url_origins)
{
    static const char *const origins[][2] = {
        {"HTTPS://u@h:443/x", "https://h"},
        {"ws://[0:0::1]:81", "ws://[::1]:81"},
        {"file:///x", "null"},
        {"mailto:a@b", "null"},
        {"blob:http://h:8080/x", "http://h:8080"},
        {"blob:blob:http://h/x", "null"},
    };

    for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++) {
        struct whatwg_url url;
        char *origin;
        CHECK_INT(parse(origins[i][0], NULL, &url), 0);
        CHECK_INT(whatwg_url_origin(&url, &origin), 0);
        CHECK_STR(origin, origins[i][1]);
        free(origin);
        whatwg_url_finish(&url);
    }
}
