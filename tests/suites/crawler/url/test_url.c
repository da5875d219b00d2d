#include "../../../../crawler/url/url.h"
#include "../../../harness/harness.h"

#include <errno.h>

static void check_resolves(const char *base, const char *reference, const char *expected)
{
    char *url = NULL;

    CHECK_INT(url_resolve(base, reference, &url), 0);
    CHECK_STR(url != NULL ? url : "(none)", expected);
    free(url);
}

static void check_refused(const char *base, const char *reference, int rc)
{
    char *url = NULL;

    CHECK_INT(url_resolve(base, reference, &url), rc);
    CHECK_PTR(url, NULL);
}

/*
 * Decode the fragment of the URL, in which percent-encoded and plain bytes are
 * equivalent.
 */
static void decode_fragment(char *url)
{
    size_t at = strcspn(url, "#");

    at += url_decode(url + at, strlen(url + at));
    url[at] = '\0';
}

/* Check that url_parse(), which has fast paths, agrees with the full parser. */
static void check_parses_alike(const struct whatwg_url *base, const char *reference)
{
    struct whatwg_url expected;
    struct url url;
    int rc = whatwg_url_parse(reference, strlen(reference), base, &expected);

    CHECK_INT(url_parse(base, reference, &url), rc);
    if (rc == 0 && expected.fragment_at + 1 == expected.length)
        expected.href[expected.fragment_at] = '\0';
    if (rc == 0) {
        CHECK_INT(url.n, strlen(url.href));
        decode_fragment(url.href);
        decode_fragment(expected.href);
    }
    if (rc == 0 && strcmp(url.href, expected.href) != 0)
        test_trace("'%s' on '%s' is '%s', not '%s'", reference, base->href, url.href,
                   expected.href);
    if (rc == 0) {
        CHECK_INT(url.fragment_at > 0, strchr(expected.href, '#') != NULL);
        CHECK(url.fragment_at == 0 || url.href[url.fragment_at - 1] == '#');
    }
    free(url.href);
    whatwg_url_finish(&expected);
}

TEST(url_resolves_random_references_as_the_parser_does)
{
    static const char *const bases[] = {
        "http://h/",    "http://h/a/b/c?q#f", "https://u:p@h:8080/a/?/x",
        "http://h?x/y", "file:///C:/a/b",     "mailto:x"};
    static const char *const parts[] = {"a",   "b.c", ".", "..", "/",  "../", "./",
                                        "#",   "?",   ":", "x:", "//", "\\",  " ",
                                        "%2F", "~",   "é", "@",  "\t"};
    unsigned seed = 1;

    for (size_t b = 0; b < sizeof bases / sizeof bases[0]; b++) {
        struct whatwg_url base;
        CHECK_INT(whatwg_url_parse(bases[b], strlen(bases[b]), NULL, &base), 0);
        for (int i = 0; i < 20000; i++) {
            char reference[64] = "";
            for (int n = rand_r(&seed) % 7; n > 0; n--)
                strcat(reference,
                       parts[(size_t)rand_r(&seed) % (sizeof parts / sizeof parts[0])]);
            /* url_parse() removes text directives from the fragment */
            if (strstr(reference, ":~:") == NULL)
                check_parses_alike(&base, reference);
        }
        whatwg_url_finish(&base);
    }
    CHECK_TRACE("");
}

static void check_same(const struct whatwg_url *url, const struct whatwg_url *expected)
{
    CHECK_STR(url->href, expected->href);
    CHECK_INT(url->length, expected->length);
    CHECK_INT(url->path_at, expected->path_at);
    CHECK_INT(url->query_at, expected->query_at);
    CHECK_INT(url->fragment_at, expected->fragment_at);
    CHECK_INT(url->port, expected->port);
    CHECK_INT(url->special, expected->special);
}

/* Check that url_parse_next(), which has a fast path, agrees with the full parser. */
TEST(url_parse_next_agrees_with_the_parser)
{
    static const char *const parts[] = {"http://h",    "http://h/", "http://u:p@h:8080/",
                                        "http://h:80", "HTTP://H/", "https://h",
                                        "file:///a",   "mailto:x",  "/",
                                        ".",           "..",        "a",
                                        "b.html",      "?q",        "#f",
                                        "#",           "%2e",       "\\",
                                        ":81"};
    const size_t count = sizeof parts / sizeof parts[0];
    struct whatwg_url url = {NULL};
    unsigned seed = 1;

    for (int i = 0; i < 50000; i++) {
        struct whatwg_url expected;
        char text[128];
        int n = rand_r(&seed) % 6;
        strcpy(text, parts[(size_t)rand_r(&seed) % 8]);
        while (n-- > 0)
            strcat(text, parts[8 + (size_t)rand_r(&seed) % (count - 8)]);
        CHECK_INT(url_parse_next(&url, text),
                  whatwg_url_parse(text, strlen(text), NULL, &expected));
        if (expected.href != NULL)
            check_same(&url, &expected);
        else
            CHECK_PTR(url.href, NULL);
        whatwg_url_finish(&expected);
    }
    whatwg_url_finish(&url);
}

/* RFC 3986, sections 5.4.1 and 5.4.2, except "g:h", which is not http. */
TEST(url_resolves_the_examples_of_rfc_3986)
{
    static const char *const examples[][2] = {
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g/"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q"},
        {"g#s", "http://a/b/c/g"},
        {"g?y#s", "http://a/b/c/g?y"},
        {";x", "http://a/b/c/;x"},
        {"g;x", "http://a/b/c/g;x"},
        {"g;x?y#s", "http://a/b/c/g;x?y"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"../../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {".g", "http://a/b/c/.g"},
        {"g..", "http://a/b/c/g.."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"g?y/./x", "http://a/b/c/g?y/./x"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
        {"g#s/../x", "http://a/b/c/g"},
        {"http:g", "http://a/b/c/g"},
    };

    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        check_resolves("http://a/b/c/d;p?q", examples[i][0], examples[i][1]);
}

TEST(url_has_one_spelling)
{
    check_resolves(NULL, "HTTP://EXAMPLE.Org", "http://example.org/");
    check_resolves(NULL, "http://h:80/", "http://h/");
    check_resolves(NULL, "https://h:0443/?", "https://h/?");
    check_resolves(NULL, "http://h:443/", "http://h:443/");
    check_resolves(NULL, "http://h?q", "http://h/?q");
    check_resolves(NULL, "http://h/#f", "http://h/");
    check_resolves(NULL, "http://h/a/%2e%2E/./b", "http://h/b");
    check_resolves(NULL, "http://u:p@H/", "http://u:p@h/");
    check_resolves(NULL, "http://[::1]:80/x", "http://[::1]/x");
    check_resolves(NULL, "http://0x7f.1/", "http://127.0.0.1/");
    check_resolves("http://h/x", "a//b/..//c", "http://h/a///c");
}

TEST(url_is_cleaned_as_browsers_do)
{
    check_resolves("http://h/a/b", " \n c d\t", "http://h/a/c%20d");
    check_resolves("http://h/a/b", "c\nd\te", "http://h/a/cde");
    check_resolves("http://h/a/b", "..\\c?x\\y", "http://h/c?x\\y");
    check_resolves("http://h/", "\xc3\xa4\"<>`{}?\xc3\xa4'\"<>",
                   "http://h/%C3%A4%22%3C%3E%60%7B%7D?%C3%A4%27%22%3C%3E");
    check_resolves("http://h/", "100%/%zz/%41", "http://h/100%/%zz/%41");
    check_resolves("http://h/", "a|b~c:d@e^", "http://h/a|b~c:d@e^");
    check_resolves("http://h/", "http:///x", "http://x/");
    check_resolves("http://h/", "https:x", "https://x/");
    check_resolves("http://h/", "a\xff\xe2\x82z", "http://h/a%EF%BF%BD%EF%BF%BDz");
}

TEST(url_refuses_other_schemes_and_nonsense)
{
    check_refused("http://h/", "mailto:a@b", -EPROTONOSUPPORT);
    check_refused("http://h/", "javascript:void(0)", -EPROTONOSUPPORT);
    check_refused("http://h/", "ftp://h/", -EPROTONOSUPPORT);
    check_refused("http://h/", "http://", -EINVAL);
    check_refused("http://h/", "http://a b/", -EINVAL);
    check_refused("http://h/", "http://h:99999/", -EINVAL);
    check_refused("http://h/", "http://h:x/", -EINVAL);
    check_refused(NULL, "h/x", -EINVAL);
    check_refused(NULL, "", -EINVAL);
}

TEST(url_is_mistyped_if_its_scheme_is_hardly_one)
{
    static const char *const mistyped[] = {
        "c:\\docs\\a.html",
        "x:",
        "localhost:3000/docs",
        "localhost:",
        "example.com:8080/x",
        "h.i:1",
        "h.i:1?q",
        "h.i:1#f",
        "htttps://x/",
        "htp://x/",
        "ttps://x/",
        "hhtp:x",
        "httpss://x/",
        "ttp://x/",
    };
    static const char *const meant[] = {
        "http://x/",
        "https://x/",
        "mailto:a@b",
        "tel:1",
        "data:,x",
        "ftp://x/",
        "file:///x",
        "javascript:1",
        "coap+tcp:1",
        "iris.beep:x/y",
        "h.i:1x",
        "h.i:",
        "h.i://x:80/",
        "ss://x/",
        "localhosts:3000/",
        "web+app:x",
        "soap.beep://x:8/",
        "tps2://x/",
        "sftp://x/",
        "irc:x",
        "ssh://g@x/r.git",
        "shttp://x/",
        "tts:x",
        "sps:x",
    };

    for (size_t i = 0; i < sizeof mistyped / sizeof *mistyped; i++)
        CHECK(url_is_mistyped(mistyped[i]));
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        CHECK(!url_is_mistyped(meant[i]));
}

TEST(url_host_names_beyond_ascii)
{
    check_resolves(NULL, "http://M\xc3\x9cnchen.example/",
                   "http://xn--mnchen-3ya.example/");
    check_resolves(NULL, "http://fa%C3%9F.example/", "http://xn--fa-hia.example/");
    check_resolves(NULL, "http://XN--FA-hia.example/", "http://xn--fa-hia.example/");
    check_refused(NULL, "http://xn--a/", -EINVAL);
    check_refused(NULL, "http://\xff/", -EINVAL);
}

TEST(url_origins)
{
    CHECK(url_same_origin("http://h/a?b", "http://h/"));
    CHECK(!url_same_origin("http://h/", "http://h:8080/"));
    CHECK(!url_same_origin("http://h/", "https://h/"));
    CHECK(!url_same_origin("http://h/", "http://hh/"));
    CHECK_INT(url_origin_length("http://h:8080/x"), 13);
}

TEST(url_trust_goes_to_the_same_host_and_from_http_to_https)
{
    CHECK(url_is_trusted_as("http://h/a", "http://h/b"));
    CHECK(url_is_trusted_as("http://h/", "http://u:p@h/"));
    CHECK(url_is_trusted_as("https://h/", "http://h/"));
    CHECK(url_is_trusted_as("https://[::1]/", "http://[::1]/"));
    CHECK(!url_is_trusted_as("http://h/", "https://h/"));
    CHECK(!url_is_trusted_as("https://h:8443/", "http://h/"));
    CHECK(!url_is_trusted_as("https://h:8443/", "http://h:8443/"));
    CHECK(!url_is_trusted_as("http://h:81/", "http://h/"));
    CHECK(!url_is_trusted_as("http://h.evil/", "http://h/"));
    CHECK(!url_is_trusted_as("http://h@evil/", "http://h/"));
}

static void check_credentials(const char *url, const char *expected)
{
    struct whatwg_span span = url_credentials(url);
    char *copy = strndup(span.at, span.n);

    CHECK_STR(copy, expected);
    free(copy);
}

TEST(url_credentials_are_as_written)
{
    check_credentials("http://h/a@b", "");
    check_credentials("http://u@h:80/", "u");
    check_credentials("http://u:p%40@h/x:y@z", "u:p%40");
    check_credentials("file:///a", "");
}

static void check_host_and_port(const char *url, const char *expected)
{
    struct whatwg_span span = url_host_and_port(url);
    char *copy = strndup(span.at, span.n);

    CHECK_STR(copy, expected);
    free(copy);
}

TEST(url_host_and_port_are_without_credentials)
{
    check_host_and_port("http://h/", "h");
    check_host_and_port("http://h:8080/a@b", "h:8080");
    check_host_and_port("http://localhost:8080@h/", "h");
    check_host_and_port("http://u:p@[::1]:8080", "[::1]:8080");
    check_host_and_port("file:///a", "");
}

TEST(url_sibling_hosts_differ_by_www_alone)
{
    CHECK(url_sibling_hosts("http://h.org/", "https://www.h.org/x"));
    CHECK(url_sibling_hosts("http://www.h.org:81/", "http://u:p@h.org/"));
    CHECK(url_sibling_hosts("http://[::1]:81/", "http://[::1]/"));
    CHECK(!url_sibling_hosts("http://h.org/", "http://wwwh.org/"));
    CHECK(!url_sibling_hosts("http://h.org/", "http://w.h.org/"));
    CHECK(!url_sibling_hosts("http://[::1]/", "http://[::2]/"));
}

static void put_piece(void *to, const char *piece, size_t n)
{
    strncat(to, piece, n);
}

TEST(url_put_masked_tells_no_password)
{
    static const char *const texts[][2] = {
        {"", ""},
        {"http://h/a@b", "http://h/a@b"},
        {"http://u:pass@h/", "http://u:***@h/"},
        {"from http://u:one@h/?to=http://v:two@i/ on",
         "from http://u:***@h/?to=http://v:***@i/ on"},
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char masked[80] = "";

        url_put_masked(texts[i][0], put_piece, masked);
        CHECK_STR(masked, texts[i][1]);
    }
}

static void check_password(const char *text, const char *password)
{
    struct whatwg_span found = url_password(text);
    char copy[64];

    snprintf(copy, sizeof copy, "%.*s", (int)found.n, found.at);
    CHECK_STR(copy, password);
}

TEST(url_password_is_found_where_browsers_see_one)
{
    check_password("http://u:pass@h/", "pass");
    check_password("http://:pass@h/", "pass");
    check_password("http://u:a:b@c@h/", "a:b@c");
    check_password("HTTPS:u:pass@h", "pass");
    check_password("http:\\\\u:pass@h\\x", "pass");
    check_password("//u:pass@h", "pass");
    check_password(" \tht\ntp:/\t/u:pass@h", "pass");
    check_password("a redirect to ftp://u:pass@h/", "pass");
    check_password("/login?next=http://u:pass@h/", "pass");
    check_password("http://u@h/?next=http://u:pass@h/", "pass");
    check_password("http://u@h/", "");
    check_password("http://u:@h/", "");
    check_password("http://h:80/a@b", "");
    check_password("http://h/?a:b@c", "");
    check_password("mailto:a@b", "");
    check_password("a/b:c@d", "");
    check_password("", "");
    check_password("@", "");
}

TEST(url_has_host_and_port_of_its_own_or_of_its_scheme)
{
    CHECK(url_has_host("http://h/", "h", 0) && url_has_host("http://h/", "h", 80));
    CHECK(url_has_host("https://h/a:81/", "h", 443) &&
          !url_has_host("https://h/", "h", 80));
    CHECK(url_has_host("http://u:p@h:81/", "h", 81) &&
          url_has_host("http://h:81/", "h", 0));
    CHECK(url_has_host("http://[::1]/", "[::1]", 80) &&
          url_has_host("http://[::1]:8/", "[::1]", 8));
    CHECK(!url_has_host("http://h.i/", "h", 0) && !url_has_host("http://i.h/", "h", 0));
    CHECK(url_is_below_host("http://i.h/", "h", 0) &&
          url_is_below_host("http://i.h:8/", "h", 8));
    CHECK(!url_is_below_host("http://h/", "h", 0) &&
          !url_is_below_host("http://ih/", "h", 0));
    CHECK(!url_is_below_host("http://127.0.0.1/", "0.0.1", 0));
}
