/*
 * test_plain_text.c - crawler/page/plain_text.h: finding URLs in plain text.
 */
#include "../../../../crawler/page/plain_text.h"
#include "../../../harness/harness.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static int trace_link(const struct link *link, void *arg)
{
    (void)arg;
    test_trace("%u:%u [%s]%s\n", link->place.line, link->place.column, link->reference,
               link->cut ? " cut" : "");
    return 0;
}

static void find(const char *text)
{
    size_t n = strlen(text);
    /* without a NUL, so that sanitizers find overruns */
    char *copy = malloc(n > 0 ? n : 1);

    memcpy(copy, text, n);
    CHECK_INT(plain_text_visit(copy, n, trace_link, NULL), 0);
    free(copy);
}

TEST(plain_text_has_urls_between_white_space_and_delimiters)
{
    find("see http://a.example/x, <https://b.example/y> and\n\"HTTPS://c.example/z\"\n");
    CHECK_TRACE("1:5 [http://a.example/x]\n1:26 [https://b.example/y]\n"
                "2:2 [HTTPS://c.example/z]\n");
    find("\u00e4\u00f6 \u201chttp://a/\u201d http://a/\u3002 "
         "http://\u00e4.example/\u00f6! "
         "http://a/\u00bb");
    CHECK_TRACE("1:5 [http://a/]\n1:16 [http://a/]\n1:27 [http://\u00e4.example/\u00f6]\n"
                "1:47 [http://a/]\n");
    find("http://[::1]:80/ http://1.2.3.4");
    CHECK_TRACE("1:1 [http://[::1]:80/]\n1:18 [http://1.2.3.4]\n");
}

TEST(plain_text_leaves_the_punctuation_to_the_sentence)
{
    find("(http://a/b). http://a/b_(c)?! [http://a/][1] http://a/..., http://a/'");
    CHECK_TRACE("1:2 [http://a/b]\n1:15 [http://a/b_(c)]\n1:33 [http://a/]\n"
                "1:47 [http://a/]\n1:61 [http://a/]\n");
    find("http://a/?x=1&y=2#z; http://a/*");
    CHECK_TRACE("1:1 [http://a/?x=1&y=2#z]\n1:22 [http://a/]\n");
}

TEST(plain_text_without_urls)
{
    find("");
    find("http:// https:/ http: ://a xhttp://a ftp://a/ http:///a http://{host}/x");
    find("git+https://a/b.git svn+http://a/");
    find("http://a/{name} http://a/<name>/x http://a/${x} https://");
    CHECK_TRACE("");
    find("http://a/</b> http");
    CHECK_TRACE("1:1 [http://a/]\n");
}

/*
 * Searching a text takes time in proportion to its length, even for texts that are
 * designed to be slow.
 */
TEST(plain_text_takes_time_in_proportion_to_it)
{
    size_t n = 4 << 20;
    char *text = malloc(n);
    clock_t begin = clock();

    memset(text, ')', n);
    memcpy(text, "http://a/", 9);
    CHECK_INT(plain_text_visit(text, n, trace_link, NULL), 0);
    for (size_t i = 0; i + 3 <= n; i += 3)
        memcpy(text + i, "://", 3);
    CHECK_INT(plain_text_visit(text, n, trace_link, NULL), 0);
    CHECK_TRACE("1:1 [http://a/]\n");
    CHECK((clock() - begin) / CLOCKS_PER_SEC < 5);
    free(text);
}
