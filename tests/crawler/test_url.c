#include "../../crawler/url.h"
#include "../harness/harness.h"

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

/* RFC 3986, sections 5.4.1 and 5.4.2, less "g:h", which is not http. */
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

TEST(url_sibling_hosts_differ_by_www_alone)
{
    CHECK(url_sibling_hosts("http://h.org/", "https://www.h.org/x"));
    CHECK(url_sibling_hosts("http://www.h.org:81/", "http://u:p@h.org/"));
    CHECK(url_sibling_hosts("http://[::1]:81/", "http://[::1]/"));
    CHECK(!url_sibling_hosts("http://h.org/", "http://wwwh.org/"));
    CHECK(!url_sibling_hosts("http://h.org/", "http://w.h.org/"));
    CHECK(!url_sibling_hosts("http://[::1]/", "http://[::2]/"));
}
