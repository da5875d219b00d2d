#include "../../../../../crawler/page/link/links.h"
#include "../../../../harness/harness.h"

#include <errno.h>

static int trace_link(const struct link *link, void *arg)
{
    (void)arg;
    test_trace("%s[%.100s]%s",
               link->kind == LINK_BASE ? "base"
               : link->kind == LINK_ID ? "#"
                                       : "",
               link->reference, link->cut ? "(cut)" : "");
    return 0;
}

static int trace_nothing(const struct link *link, void *arg)
{
    (void)link;
    (void)arg;
    return 0;
}

static int find_pieces(const char *html, size_t n, size_t piece,
                       links_visit_function visit, void *arg)
{
    struct links links;
    int rc = 0;

    links_init(&links);
    for (size_t at = 0; at < n && rc == 0; at += piece)
        rc = links_feed(&links, html + at, n - at < piece ? n - at : piece);
    if (rc == 0)
        rc = links_end(&links);
    if (rc == 0)
        rc = links_visit(&links, false, visit, arg);
    links_finish(&links);
    return rc;
}

static int find(const char *html)
{
    return find_pieces(html, strlen(html), 1000000, trace_link, NULL);
}

TEST(links_in_the_order_of_the_page)
{
    CHECK_INT(find("<a href=1><img src=2><p><link href=3><area href=4></p><script src=5>"
                   "</script><iframe src=6></iframe><video src=7 poster=8></video>"),
              0);
    CHECK_TRACE("[1][2][3][4][5][6][7][8]");
}

TEST(links_are_decoded)
{
    CHECK_INT(find("<A HREF='a&amp;b&#x20;c'></A><a href>x</a><a name=no><img src>"), 0);
    CHECK_TRACE("[a&b c][]");
}

TEST(links_begin_with_the_first_base_that_has_an_href)
{
    CHECK_INT(find("<a href=1><base target=x><base href=/b/><base href=/c/>"), 0);
    CHECK_TRACE("base[/b/][1]");
}

static int trace_base(const struct link *link, void *arg)
{
    (void)arg;
    test_trace("%u:%u %s=%s", link->place.line, link->place.column,
               link->element != NULL ? link->element : "", link->reference);
    for (const char *c = link->base; c != NULL && *c != '\0'; c++)
        test_trace("%s%c", c == link->base ? " from " : "", *c == '\n' ? '>' : *c);
    test_trace("\n");
    return 0;
}

/* A document in a srcdoc attribute counts as a part of the page. */
TEST(links_in_srcdoc)
{
    static const char html[] =
        "<iframe srcdoc=\"&lt;img src=/a.png>&lt;a "
        "href=&quot;b&amp;amp;c&quot;>x&lt;/a>\n"
        "<p id=no><base href=/d/><link href=e>\" src=f></iframe>"
        "<iframe srcdoc=\"<iframe srcdoc='<base href=g><a href=h>'></iframe><base "
        "href=i>\">"
        "<div srcdoc='<a href=no>'></div><iframe srcdoc></iframe><a href=j>";

    CHECK_INT(find_pieces(html, strlen(html), 1000000, trace_base, NULL), 0);
    CHECK_TRACE("1:17 img=/a.png from /d/\n1:17 a=b&c from /d/\n1:17 link=e from /d/\n"
                "2:44 iframe=f\n2:71 a=h from i>g\n2:200 a=j\n");
}

TEST(links_in_srcdoc_of_srcdoc_have_an_end)
{
    size_t n = 60000;
    char *html = malloc(n + 1);

    for (size_t at = 0; at < n; at++)
        html[at] = "<iframe/srcdoc="[at % 15];
    html[n] = '\0';
    CHECK_INT(find(html), 0);
    for (size_t at = 0; at + 64 < n; at += 64)
        memcpy(html + at,
               "<iframe srcdoc='<a href=x><iframe srcdoc=<a/href=y>></iframe>'> ", 64);
    CHECK_INT(find_pieces(html, n, 1000, trace_nothing, NULL), 0);
    free(html);
    CHECK_TRACE("");
}

TEST(links_of_forms_and_inputs)
{
    CHECK_INT(find("<form action=1></form><form action=2 method=GET></form>"
                   "<form action=no method=post></form><form action=no method=Dialog>"
                   "</form><input type=Image src=3><input src=no><form>"),
              0);
    CHECK_TRACE("[1][2][3]");
}

/* Unlike a link in SVG, <use> is ignored here, and <image> is an <img>. */
TEST(links_of_misplaced_svg_elements_in_the_body)
{
    CHECK_INT(find("<p>x<use href=no></use><image href=no src=1><base href=/>"), 0);
    CHECK_TRACE("base[/][1]");
    CHECK_INT(find("<p>x<form method=post action=no></form><form action=2></form>"), 0);
    CHECK_TRACE("[2]");
}

TEST(links_of_frames_and_media)
{
    CHECK_INT(find("<frameset><frame src=1></frameset>"), 0);
    CHECK_INT(find("<audio src=2></audio><embed src=3><object data=4></object>"
                   "<picture><source srcset='5 1x'></picture>"
                   "<video><source src=6><track src=7></video>"),
              0);
    CHECK_TRACE("[1][2][3][4][5][6][7]");
}

TEST(links_of_a_srcset)
{
    CHECK_INT(find("<img src=1 srcset=' ,2, 3 2x,\n4,,5 100w (a,b) , 6,7 8,'>"), 0);
    CHECK_TRACE("[1][2][3][4,,5][6,7]");
    CHECK_INT(find("<img srcset=''><img srcset=' , '><img srcset='data:,x 1x'>"), 0);
    CHECK_TRACE("[data:,x]");
}

TEST(links_of_a_refresh)
{
    CHECK_INT(find("<meta http-equiv=Refresh content='0; URL=\"a b\"'>"
                   "<meta http-equiv=refresh content='5;url=c'>"
                   "<meta http-equiv=refresh content=' 1.5 , d'>"
                   "<meta http-equiv=refresh content='5'>"
                   "<meta http-equiv=content-type content='0;url=no'>"
                   "<meta http-equiv=refresh content='1 uRl = e'>"
                   "<meta http-equiv=refresh content='1;urlf'>"
                   "<meta http-equiv=refresh content=\"1;'g'h\">"
                   "<meta http-equiv=refresh content='no'>"
                   "<meta http-equiv=refresh content='1x;no'>"),
              0);
    CHECK_TRACE("[a b][c][d][e][urlf][g]");
}

TEST(links_that_are_none)
{
    CHECK_INT(find("<!-- <a href=1> --><script>'<a href=2>'</script><template><a href=3>"
                   "</template><link rel=preconnect href=//4><textarea><a href=5>"),
              0);
    CHECK_TRACE("");
}

TEST(links_to_hosts_that_are_only_got_ready_are_none)
{
    CHECK_INT(find("<link rel='dns-prefetch preconnect' href=1><link rel=' preconnect '"
                   " href=2><link rel='preconnect icon' href=3><link rel='' href=4>"),
              0);
    CHECK_TRACE("[3][4]");
}

TEST(links_to_what_is_posted_to_are_none)
{
    CHECK_INT(find("<link rel=pingback href=1><link rel='WebMention' href=2>"
                   "<link rel='webmention pingback' href=3><link rel=profile href=4>"
                   "<link rel='pingback help' href=5><link rel=webmentions href=6>"),
              0);
    CHECK_TRACE("[5][6]");
}

/* In an unclosed <svg>, a "</div>" ends the <svg> only if a <div> is open. */
TEST(links_behind_repeated_tags)
{
    CHECK_INT(find("x<div></div><div></div><div><svg></div><a xlink:href=no><a href=1>"),
              0);
    CHECK_TRACE("[1]");
    CHECK_INT(find("x<div></div><div></div><svg></div><a xlink:href=1><a href=2>"), 0);
    CHECK_TRACE("[1][2]");
    CHECK_INT(find("x<div><div></div></div><svg><desc><div></div></desc></div><a "
                   "xlink:href=1><a href=2>"),
              0);
    CHECK_TRACE("[1][2]");
}

TEST(links_have_no_base_of_svg)
{
    CHECK_INT(find("<svg><base href=1><base href=2 /></svg><a href=3><base href=4>"), 0);
    CHECK_TRACE("base[4][3]");
}

TEST(links_of_svg)
{
    CHECK_INT(
        find("<svg><use href=1 /><image xlink:href=2 /><a xlink:href=3></a>"
             "<use xlink:href=no href=4 /><image href=5 xlink:href=no />"
             "<use href='#no'/><image href=' #no'/><a href='#6'></a><a xlink:href=''>"
             "</a><image src=no srcset=no /><g href=no xlink:href=no /></svg>"
             "<use href=no></use><image href=no src=7><a xlink:href=no>"
             "<img href=no><svg><desc><image href=no src=8><use href=no>"),
        0);
    CHECK_TRACE("[1][2][3][4][5][#6][][7][8]");
}

TEST(links_of_backgrounds)
{
    CHECK_INT(find("<body background=1><table background=2><tr background=no><td "
                   "background=3><th background=4><td background=#FFFFFF></table>"
                   "<p background=no>"),
              0);
    CHECK_TRACE("[1][2][3][4]");
}

TEST(links_of_imagesrcset)
{
    CHECK_INT(find("<link rel=preload as=image href=1 imagesrcset='2 1x, 3 2x'>"
                   "<link rel=preload as=image imagesrcset=4><img imagesrcset=no>"
                   "<link rel=preconnect imagesrcset=no>"),
              0);
    CHECK_TRACE("[1][2][3][4]");
}

TEST(links_of_formaction)
{
    CHECK_INT(
        find("<form><button formaction=1></button><button formaction=no "
             "formmethod=POST></button><button type=button formaction=no></button>"
             "<input type=submit formaction=2><input type=image src=3 formaction=4>"
             "<input type=text formaction=no></form><button formaction=no></button>"
             "<form method=post><button formaction=no></button><button formaction=5 "
             "formmethod=get></button></form><button formaction=no></button>"),
        0);
    CHECK_TRACE("[1][2][3][4][5]");
}

TEST(links_in_foreign_and_broken_markup)
{
    CHECK_INT(find("<svg><a href=1></a></svg><table><a href=2><td><b><a href=3></i><a "
                   "href=4"),
              0);
    /*
     * Content that is not allowed in a table is moved before the table. The unfinished
     * tag at the end is dropped.
     */
    CHECK_TRACE("[1][2][3]");
}

static int stop_at_once(const struct link *link, void *arg)
{
    (void)link;
    ++*(int *)arg;
    return -EIO;
}

TEST(links_visitor_can_stop)
{
    const char html[] = "<a href=1><a href=2>";
    int calls = 0;

    CHECK_INT(find_pieces(html, strlen(html), 100, stop_at_once, &calls), -EIO);
    CHECK_INT(calls, 1);
}

/* Elements that are nested more deeply than HTML_TREE_DEPTH are treated as empty. */
TEST(links_survive_deep_nesting)
{
    size_t n = 20000;
    char *html = malloc(24 * n + 64), *at = html;

    at += sprintf(at, "<svg>");
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "<g>");
    at += sprintf(at, "<a href=1></svg>");
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "<template>");
    at += sprintf(at, "<a href=no>");
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "</template>");
    at += sprintf(at, "<a href=2>");
    CHECK_INT(find_pieces(html, (size_t)(at - html), 1000, trace_link, NULL), 0);
    CHECK_TRACE("[1][2]");
    free(html);
}

TEST(links_of_nothing_and_of_any_bytes)
{
    char bytes[4096];

    CHECK_INT(find_pieces("", 0, 1, trace_link, NULL), 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 167 + i / 251);
    CHECK_INT(find_pieces(bytes, sizeof bytes, 7, trace_link, NULL), 0);
}

TEST(links_are_the_same_in_any_pieces)
{
    const char html[] =
        "<title><a href=no></title><base href=b><img src='a&amp;\n' srcset=c,d>"
        "<script>'</a><a href=no>'</script><a href=\"e\">";

    for (size_t piece = 1; piece < 8; piece++) {
        CHECK_INT(find_pieces(html, strlen(html), piece, trace_link, NULL), 0);
        CHECK_TRACE("base[b][a&\n][c,d][e]");
    }
}

static int trace_place(const struct link *link, void *arg)
{
    (void)arg;
    test_trace("%s.%s@%u:%u ", link->element, link->attribute, link->place.line,
               link->place.column);
    return 0;
}

TEST(links_have_places)
{
    const char html[] = "<p>\n<a\n href='1'>\u00e4<img srcset='2, 3' src=4><meta\n"
                        "http-equiv=refresh content='0;url=5'>";

    CHECK_INT(find_pieces(html, strlen(html), 5, trace_place, NULL), 0);
    CHECK_TRACE(
        "a.href@3:8 img.srcset@3:25 img.srcset@3:25 img.src@3:35 meta.content@4:29 ");
}

static int find_with_ids(const char *html)
{
    struct links links;
    int rc;

    links_init(&links);
    links.wants_ids = true;
    rc = links_feed(&links, html, strlen(html));
    if (rc == 0)
        rc = links_end(&links);
    if (rc == 0)
        rc = links_visit(&links, false, trace_link, NULL);
    links_finish(&links);
    return rc;
}

TEST(links_and_names_of_places)
{
    const char html[] =
        "<a name=1 href=2><p id='3&amp;'><a id=4><p name=no><template><p id=no>";

    CHECK_INT(find_with_ids(html), 0);
    CHECK_TRACE("#[1][2]#[3&]#[4]");
}

/*
 * Links in shadow trees are reported, but fragments cannot refer to ids in shadow trees.
 */
TEST(links_in_shadow_trees)
{
    CHECK_INT(
        find_with_ids("<template shadowrootmode=open><a href=1 id=no></a><template>"
                      "<a href=no></a></template><a href=2></a></template><template>"
                      "<a href=no><template shadowrootmode=open><a href=no></template>"
                      "<a href=no></template><p id=i><template shadowrootmode=CLOSED>"
                      "<img src=3></template><template shadowrootmode=x><a href=no>"
                      "</template><template shadowrootmode=open><base href=no><meta "
                      "http-equiv=refresh content='0;no'></template><a href=4>"),
        0);
    CHECK_TRACE("[1][2]#[i][3][4]");
}

/*
 * Links and ids are also found in custom elements and in the elements of SVG drawings.
 */
TEST(links_and_names_of_places_in_any_element)
{
    CHECK_INT(
        find_with_ids("<my-menu id=1></my-menu><svg id=2><g id=3><image id=4 src=no>"
                      "</g></svg>"),
        0);
    CHECK_TRACE("#[1]#[2]#[3]#[4]");
}

/*
 * A font element ends the SVG if it has a color, face or size, but not if it has only an
 * id.
 */
TEST(links_in_a_font_within_svg_are_those_of_a_drawing)
{
    CHECK_INT(find_with_ids("<svg><font id=1><![CDATA[><a href=no>]]>"), 0);
    CHECK_INT(find_with_ids("<svg><font id=2 SIZE=3><![CDATA[><a href=4>]]>"), 0);
    CHECK_TRACE("#[1]#[2][4]");
    CHECK_INT(find_with_ids("<svg><font face><![CDATA[><a href=5>]]>"), 0);
    CHECK_TRACE("[5]");
}

/*
 * A page with a frameset has a frameset instead of a body, so the content before the
 * frameset is dropped.
 */
TEST(links_of_a_frameset_keep_its_own)
{
    CHECK_INT(find_with_ids("<base href=1><div id=no></div><a href=no></a><base href=no>"
                            "<frameset id=2><frame id=3 src=4>"),
              0);
    CHECK_TRACE("base[1]#[2]#[3][4]");
}

TEST(links_of_one_page_after_the_other)
{
    struct links links;

    links_init(&links);
    CHECK_INT(links_feed(&links, "<template><svg><a href=1", 24), 0);
    links_reset(&links);
    CHECK_INT(links_feed(&links, "<a href=2>", 10), 0);
    CHECK_INT(links_end(&links), 0);
    CHECK_INT(links_visit(&links, false, trace_link, NULL), 0);
    CHECK_TRACE("[2]");
    links_finish(&links);
}

TEST(links_that_are_too_long_are_cut)
{
    size_t n = 10 << 20;
    char *html = malloc(n + 40);

    memset(html, 'x', n + 40);
    memcpy(html, "<a href=1><img srcset='2, ", 26);
    memcpy(html + n, "'><a href=3>", 12);
    CHECK_INT(find_pieces(html, n + 12, 16384, trace_link, NULL), 0);
    CHECK_TRACE(
        "[1][2][xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxx](cut)[3]");
    free(html);
}

TEST(links_in_a_page_of_windows_1252)
{
    const char html[] = "<a href='\xe9\x80&eacute;'>";
    struct links links;

    links_init(&links);
    CHECK_INT(links_feed(&links, html, strlen(html)), 0);
    CHECK_INT(links_end(&links), 0);
    CHECK_INT(links_visit(&links, true, trace_link, NULL), 0);
    CHECK_TRACE("[\u00e9\u20ac\u00e9]");
    links_finish(&links);
}

static int count_link(const struct link *link, void *arg)
{
    (void)link;
    ++*(size_t *)arg;
    return 0;
}

/*
 * Parsing an SVG with n open elements, and n end tags that do not match them, must take
 * linear time.
 */
TEST(links_take_time_in_proportion_in_foreign_markup)
{
    size_t n = 1000000, count = 0;
    char *html = malloc(7 * n + 32), *at = html;

    at += sprintf(at, "<svg>");
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "<g></q>");
    at += sprintf(at, "<a href=1>");
    CHECK_INT(find_pieces(html, (size_t)(at - html), 16384, count_link, &count), 0);
    CHECK_INT(count, 1);
    free(html);
}

static int trace_style(const struct link *link, void *arg)
{
    (void)arg;
    test_trace("%s %s[%.100s]%s@%u:%u ", link->element != NULL ? link->element : "-",
               link->attribute, link->reference, link->cut ? "(cut)" : "",
               link->place.line, link->place.column);
    return 0;
}

/* Parse the page in pieces of several sizes, and compare the links in its styles. */
static void check_styles(const char *html, const char *expected)
{
    for (size_t piece = 1; piece < 40; piece += 6) {
        struct links links;
        size_t n = strlen(html);

        links_init(&links);
        links.wants_css = true;
        for (size_t at = 0; at < n; at += piece)
            CHECK_INT(links_feed(&links, html + at, n - at < piece ? n - at : piece), 0);
        CHECK_INT(links_end(&links), 0);
        CHECK_INT(links_visit(&links, false, trace_style, NULL), 0);
        CHECK_TRACE(expected);
        links_finish(&links);
    }
}

TEST(links_in_style_elements)
{
    check_styles("<p>\n<style>a{b:url(c)}\r\n@import 'd';</style><a href=e>",
                 "style url()[c]@2:16 style @import[d]@3:10 a href[e]@3:29 ");
    check_styles("<style type=''>url(a)</style><style type=TEXT/css>url(b)</style>"
                 "<style type=text/less>url(no)</style>",
                 "style url()[a]@1:20 style url()[b]@1:55 ");
    check_styles("<style><a href=no>url(a</styl></style><a href=b>",
                 "style url()[a</styl>]@1:23 a href[b]@1:47 ");
    check_styles(
        "<template><style>url(no)</style></template><svg><style>url(no)</style></svg>"
        "<title><style>url(no)</style></title><style>url(a",
        "style url()[a]@1:125 ");
    check_styles("<style>url(#no) url(' #no') url(\\23 no) url(a#b)</style>",
                 "style url()[a#b]@1:45 ");
    check_styles("<style>url(a)</style", "style url()[a]@1:12 ");
}

TEST(links_in_style_attributes)
{
    check_styles("<p style=\"a:url('b');c:url(d)\"><my-box href=no style=a:url(b)>",
                 "p style[b]@1:11 p style[d]@1:11 my-box style[b]@1:54 ");
    check_styles(
        "<p style='a:url&#40;b&rpar;;c:url(&quot;d&quot;)' class=x><p style=x><p style>",
        "p style[b]@1:11 p style[d]@1:11 ");
    check_styles(
        "<svg><image style=a:url(b)><g style='fill:url(#c)'></svg><image style=a:url(b)>",
        "image style[b]@1:19 img style[b]@1:71 ");
    check_styles("<template><p style=a:url(b)></template><p style='a:url(b", "");
}

TEST(links_of_a_style_sheet)
{
    struct links links;

    links_init(&links);
    links_expect_sheet(&links);
    CHECK_INT(links_feed(&links, "@import 'a';<style>url(b", 24), 0);
    CHECK_INT(links_end(&links), 0);
    CHECK_INT(links_visit(&links, false, trace_style, NULL), 0);
    CHECK_TRACE("- @import[a]@1:10 - url()[b]@1:24 ");
    links_reset(&links);
    CHECK_INT(links_feed(&links, "<a href=c><style>url(no)</style>", 32), 0);
    CHECK_INT(links_end(&links), 0);
    CHECK_INT(links_visit(&links, false, trace_style, NULL), 0);
    CHECK_TRACE("a href[c]@1:9 ");
    links_finish(&links);
}

/* CSS escapes are decoded after the text has been converted to UTF-8. */
TEST(links_of_a_style_in_windows_1252)
{
    const char html[] = "<style>url(\xe9\\e9 \x80)</style><p style='a:url(\xe9)'>";
    struct links links;

    links_init(&links);
    links.wants_css = true;
    CHECK_INT(links_feed(&links, html, sizeof html - 1), 0);
    CHECK_INT(links_end(&links), 0);
    CHECK_INT(links_visit(&links, true, trace_link, NULL), 0);
    CHECK_TRACE("[\u00e9\u00e9\u20ac][\u00e9]");
    links_finish(&links);
}

TEST(links_in_a_style_that_is_too_long_are_cut)
{
    size_t n = 1 << 20;
    char *html = malloc(n + 64);
    struct links links;

    memset(html, 'x', n + 64);
    memcpy(html, "<p style='a:url(", 16);
    memcpy(html + n, ");b:url(c)'>", 12);
    links_init(&links);
    links.wants_css = true;
    CHECK_INT(links_feed(&links, html, n + 12), 0);
    CHECK_INT(links_end(&links), 0);
    CHECK_INT(links_visit(&links, false, trace_style, NULL), 0);
    CHECK_TRACE("p style[xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx](cut)@1:11 ");
    links_finish(&links);
    free(html);
}

static int trace_followed(const struct link *link, void *arg)
{
    (void)arg;
    test_trace("%s%s ", link->reference, link->nofollow ? "-" : "+");
    return 0;
}

static bool find_followed(const char *html, bool wants_rel, size_t piece)
{
    struct links links;
    size_t n = strlen(html);
    bool nofollow;

    links_init(&links);
    links.wants_rel = wants_rel;
    for (size_t at = 0; at < n; at += piece)
        CHECK_INT(links_feed(&links, html + at, n - at < piece ? n - at : piece), 0);
    CHECK_INT(links_end(&links), 0);
    CHECK_INT(links_visit(&links, false, trace_followed, NULL), 0);
    nofollow = links.nofollow;
    links_finish(&links);
    return nofollow;
}

TEST(links_that_are_not_to_be_followed_say_so_in_rel)
{
    static const char html[] =
        "<a href=1 rel=nofollow></a><a rel='x NoFollow\ty' href=2></a><a href=3></a>"
        "<a href=4 rel=nofollowing></a><a href=5 rel></a><area rel=nofollow href=6>"
        "<a rel='ugc sponsored' href=7></a><img src=8 rel=x><a href=9 "
        "rel='&#110;ofollow'></a>";

    CHECK(!find_followed(html, true, sizeof html));
    CHECK_TRACE("1- 2- 3+ 4+ 5+ 6- 7+ 8+ 9- ");
    CHECK(!find_followed(html, true, 1));
    CHECK_TRACE("1- 2- 3+ 4+ 5+ 6- 7+ 8+ 9- ");
    CHECK(!find_followed(html, false, sizeof html));
    CHECK_TRACE("1+ 2+ 3+ 4+ 5+ 6+ 7+ 8+ 9+ ");
}

TEST(links_of_a_page_that_are_not_to_be_followed_say_so_in_a_meta)
{
    static const struct {
        const char *html;
        bool nofollow;
    } rows[] = {
        {"<meta name=robots content=nofollow>", true},
        {"<meta content='noindex, NOFOLLOW' name=Robots>", true},
        {"<meta name=robots content=none>", true},
        {"<meta name=coil-crawl content=nofollow>", true},
        {"<meta name=robots content='noindex, follow'>", false},
        {"<meta name=robots content=nofollowing>", false},
        {"<meta name=googlebot content=nofollow>", false},
        {"<meta name=description content=nofollow>", false},
        {"<!--<meta name=robots content=nofollow>-->", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_trace("%s ", rows[i].html);
        CHECK_INT(find_followed(rows[i].html, true, 1000), rows[i].nofollow);
        CHECK_INT(find_followed(rows[i].html, true, 1), rows[i].nofollow);
        CHECK(!find_followed(rows[i].html, false, 1000));
        test_trace_clear();
    }
}
