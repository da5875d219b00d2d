#include "../../crawler/links.h"
#include "../harness/harness.h"

#include <errno.h>

static int trace_link(enum link_kind kind, const char *reference, void *arg)
{
    (void)arg;
    test_trace("%s[%s]", kind == LINK_BASE ? "base" : "", reference);
    return 0;
}

static int find(const char *html)
{
    return links_find(html, strlen(html), trace_link, NULL);
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

TEST(links_of_forms_and_inputs)
{
    CHECK_INT(find("<form action=1></form><form action=2 method=GET></form>"
                   "<form action=no method=post></form><form action=no method=Dialog>"
                   "</form><input type=Image src=3><input src=no><form>"),
              0);
    CHECK_TRACE("[1][2][3]");
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

TEST(links_in_foreign_and_broken_markup)
{
    CHECK_INT(find("<svg><a href=1></a></svg><table><a href=2><td><b><a href=3></i><a "
                   "href=4"),
              0);
    /* What may not stand in a table comes before it; what never ends is dropped. */
    CHECK_TRACE("[1][2][3]");
}

static int stop_at_once(enum link_kind kind, const char *reference, void *arg)
{
    (void)kind;
    (void)reference;
    ++*(int *)arg;
    return -EIO;
}

TEST(links_visitor_can_stop)
{
    const char html[] = "<a href=1><a href=2>";
    int calls = 0;

    CHECK_INT(links_find(html, sizeof html - 1, stop_at_once, &calls), -EIO);
    CHECK_INT(calls, 1);
}

TEST(links_survive_deep_nesting)
{
    size_t n = 20000;
    char *html = malloc(n * 5 + 12);

    for (size_t i = 0; i < n; i++)
        memcpy(html + i * 5, "<div>", 5);
    memcpy(html + n * 5, "<a href=end>", 12);
    CHECK_INT(links_find(html, n * 5 + 12, trace_link, NULL), 0);
    CHECK_TRACE("[end]");
    free(html);
}

TEST(links_of_nothing_and_of_any_bytes)
{
    char bytes[4096];

    CHECK_INT(links_find("", 0, trace_link, NULL), 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 167 + i / 251);
    CHECK_INT(links_find(bytes, sizeof bytes, trace_link, NULL), 0);
}
