#include "../../../../../crawler/page/css/css.h"
#include "../../../../../crawler/page/html/html_tokenizer.h"
#include "../../../../harness/harness.h"

#include <errno.h>

static int trace_url(const struct css_url *url, void *arg)
{
    static const char *const marks[CSS_KINDS] = {"", "@", "!"};
    char text[512];
    size_t n = url->n < 100 ? url->n : 100;

    (void)arg;
    n = css_decode(url->bytes, n, text);
    test_trace("%s[%.*s]%s", marks[url->kind], (int)n, text, url->cut ? "(cut)" : "");
    return 0;
}

static int find_pieces(const char *text, size_t n, size_t piece, css_visit_function visit,
                       void *arg)
{
    struct css css;
    int rc = 0;

    css_init(&css, visit, arg);
    for (size_t at = 0; at < n && rc == 0; at += piece) {
        size_t part = n - at < piece ? n - at : piece;
        char *copy = malloc(part);
        memcpy(copy, text + at, part);
        rc = css_feed(&css, copy, part);
        free(copy);
    }
    if (rc == 0)
        rc = css_end(&css);
    css_finish(&css);
    return rc;
}

/*
 * Find the URLs in the text: in pieces of one byte, in pieces of two bytes, and as a
 * whole.
 */
static void check(const char *text, size_t n, const char *expected)
{
    for (size_t piece = 1; piece <= 3; piece++) {
        CHECK_INT(find_pieces(text, n, piece < 3 ? piece : n + 1, trace_url, NULL), 0);
        CHECK_TRACE(expected);
    }
}

#define CHECK_CSS(text, expected) check(text, sizeof text - 1, expected)

TEST(css_urls_quoted_or_not)
{
    CHECK_CSS("a{b:url(c);d:url( \t\n'e f'\n);g:URL(\"h)i\")}", "[c][e f][h)i]");
    CHECK_CSS("a{b:url(\n c/d.png?e#f \r\n)}", "[c/d.png?e#f]");
    CHECK_CSS("url(a)url(b)", "[a][b]");
    CHECK_CSS("a{b:url()url( )url('')url(\"\")}", "");
    CHECK_CSS("a{b:url('c' d(e) f)}", "[c]");
}

TEST(css_imports)
{
    CHECK_CSS("@import 'a';@import\"b\";@IMPORT url(c) print;@import url('d');",
              "@[a]@[b]@[c]@[d]");
    CHECK_CSS("@import/**/ /**/'a'", "@[a]");
    CHECK_CSS(
        "@import x 'a';@imported 'b';@-import 'c';@ import 'd';import 'e';#import 'f'",
        "");
    CHECK_CSS("@\\69mport 'a';@im\\70 ort 'b';", "@[a]@[b]");
    CHECK_CSS("@import\\\n'a'", "");
    CHECK_CSS("@import 'a' layer(b) supports(background: url(c));", "@[a][c]");
}

TEST(css_image_sets)
{
    CHECK_CSS(
        "a{b:image-set('c' 1x,\"d\" type('image/png') 2x,url(e) 3x,url('f'));g:'h'}",
        "![c]![d][e][f]");
    CHECK_CSS("a{b:-webkit-image-set(url(c) 1x);d:Image-Set('e')}", "[c]![e]");
    CHECK_CSS("a{b:cross-fade(image-set('c'),'d')}", "![c]");
}

TEST(css_names_are_no_resources)
{
    CHECK_CSS("@namespace url(a);@namespace svg 'b';@namespace x url('c');a{b:url(d)}",
              "[d]");
    CHECK_CSS("@document url(a),url('b'){c{d:url(e)}}@-moz-document url(f){}", "[e]");
}

TEST(css_comments_and_strings_hide)
{
    CHECK_CSS("/*url(a)*/a{b:/**/url(c)/***/;d:'url(e)';f:\"/*\";g:url(h)}", "[c][h]");
    CHECK_CSS("a{b:url/**/(c)}", "");
    CHECK_CSS("/*/url(a)*/url(b)/* url(c)", "[b]");
    CHECK_CSS("a{b:url(/*c*/)}", "[/*c*/]");
    CHECK_CSS("a / url(b) /", "[b]");
}

TEST(css_names_that_only_end_in_url)
{
    CHECK_CSS("a{b:curl(c);d:-url(e);f:url-x(g);h:_url(i);j:\xc3\xa4url(k)}", "");
    CHECK_CSS("a{b:urL (c);d:#url(e);f:@url(g);h:--url(i)}", "");
    CHECK_CSS("a{b:\\url(c)}", "[c]");
    CHECK_CSS("a{b:\\75rl(c);d:u\\000072 l(e);f:\\55 \\52 \\4c('g')}", "[c][e][g]");
    CHECK_CSS("a{b:c\\\nurl(d)}", "[d]");
    CHECK_CSS("\\\nurl(a)", "[a]");
}

TEST(css_numbers_with_units)
{
    CHECK_CSS(
        "1url(a)1.5url(a).5url(a)1e3url(a)1e-3url(a)1e-url(a)1-url(a)-1url(a)+1url(a)",
        "");
    CHECK_CSS("1--url(a)1\\75rl(a)-.5url(a)1.5e+2url(a)1e3.4url(a)1-2url(a)", "");
    CHECK_CSS("1.url(a)1e+url(b)1 url(c)1%url(d)1..url(e)+url(f).url(g)-+url(h)",
              "[a][b][c][d][e][f][g][h]");
    CHECK_CSS("1e+.5url(a)1-.url(b)", "[b]");
}

TEST(css_marks_of_html_comments)
{
    CHECK_CSS("<!--url(a)-->url(b)<!-url(c)<!url(d)<url(e)", "[a][b][d][e]");
}

TEST(css_escapes_in_urls)
{
    CHECK_CSS("url(a\\)b\\ c)url('d\\'e')url(\"f\\\ng\")url('h\\\r\ni')",
              "[a)b c][d'e][fg][hi]");
    CHECK_CSS("url(\\26 b)url('\\000026b')url(\\26\r\nb)url('\\26\r\n\nno",
              "[&b][&b][&b]");
    CHECK_CSS("url(\\0)url(\\d800 )url(\\110000 )url(\\10ffff )",
              "[\xef\xbf\xbd][\xef\xbf\xbd][\xef\xbf\xbd][\xf4\x8f\xbf\xbf]");
    CHECK_CSS("url(\\e4)url(\xc3\xa4)url('\\\xc3\xa4')",
              "[\xc3\xa4][\xc3\xa4][\xc3\xa4]");
    CHECK_CSS("url(a\0b)url('\\\0')", "[a\xef\xbf\xbd"
                                      "b][\xef\xbf\xbd]");
}

TEST(css_urls_that_are_bad)
{
    CHECK_CSS("url(a b)url(c\"d)url(e'f)url(g(h)url(i\x01j)url(k\x7f)url(l)", "[l]");
    CHECK_CSS("url(a b\\)url(c))url(d\\\ne)url(f)", "[f]");
    CHECK_CSS("url('a\n)url(b);url('c')url(d)", "[b][c][d]");
    CHECK_CSS("a{b:'c\nurl(d)'e\\'url(f)'}", "[d]");
}

TEST(css_that_breaks_off)
{
    CHECK_CSS("url(a", "[a]");
    CHECK_CSS("url(a ", "[a]");
    CHECK_CSS("url( 'a", "[a]");
    CHECK_CSS("url('a\\", "[a]");
    CHECK_CSS("url(a\\", "[a\xef\xbf\xbd]");
    CHECK_CSS("url(\\4", "[\x04]");
    CHECK_CSS("@import 'a", "@[a]");
    CHECK_CSS("url(", "");
    CHECK_CSS("url(a b", "");
    CHECK_CSS("/* url(a)", "");
    CHECK_CSS("ur", "");
}

static int trace_place(const struct css_url *url, void *arg)
{
    (void)arg;
    test_trace("%u:%u ", url->place.line, url->place.column);
    return 0;
}

TEST(css_urls_have_places)
{
    static const char text[] =
        "a{b:url(c);\r\n d:url( 'e');/*\r\xc3\xa4*/f:url(\n\n g\n)}@import\n\"h\"";

    for (size_t piece = 1; piece < sizeof text; piece += 3) {
        CHECK_INT(find_pieces(text, sizeof text - 1, piece, trace_place, NULL), 0);
        CHECK_TRACE("1:9 2:10 5:2 7:2 ");
    }
}

TEST(css_urls_that_are_too_long_are_cut)
{
    size_t n = 3 << 20;
    char *text = malloc(n + 64);

    memset(text, 'x', n + 64);
    memcpy(text, "url(", 4);
    memcpy(text + n, ")url('y')", 9);
    for (size_t piece = 1000; piece <= n + 9; piece += n) {
        CHECK_INT(find_pieces(text, n + 9, piece, trace_url, NULL), 0);
        CHECK_TRACE(
            "[xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx](cut)[y]");
    }
    free(text);
}

static int stop_at_once(const struct css_url *url, void *arg)
{
    (void)url;
    ++*(int *)arg;
    return -EIO;
}

TEST(css_visitor_can_stop)
{
    int calls = 0;

    CHECK_INT(find_pieces("url(a)url(b)", 12, 100, stop_at_once, &calls), -EIO);
    CHECK_INT(find_pieces("url(a", 5, 100, stop_at_once, &calls), -EIO);
    CHECK_INT(calls, 2);
}

TEST(css_of_any_bytes)
{
    char bytes[8192];

    CHECK_INT(find_pieces("", 0, 1, trace_url, NULL), 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 167 + i / 251);
    CHECK_INT(find_pieces(bytes, sizeof bytes, 7, trace_place, NULL), 0);
}

TEST(css_of_one_text_after_the_other)
{
    struct css css;

    css_init(&css, trace_url, NULL);
    CHECK_INT(css_feed(&css, "@namespace image-set(url('a", 27), 0);
    css_begin(&css, (struct html_position){5, 6});
    CHECK_INT(css_feed(&css, "'b'url(c)", 9), 0);
    CHECK_INT(css_end(&css), 0);
    CHECK_TRACE("[c]");
    css_finish(&css);
}
