#include "../../../../../crawler/page/link/header_links.h"
#include "../../../../harness/harness.h"

#include <errno.h>

static int trace_link(const struct link *link, void *arg)
{
    (void)arg;
    CHECK_PTR(link->element, NULL);
    CHECK_INT(link->place.line, 0);
    test_trace("%s[%s]", link->attribute, link->reference);
    return 0;
}

static void check_link(const char *value, const char *expected)
{
    CHECK_INT(header_links_visit(HEADER_LINK, value, trace_link, NULL), 0);
    CHECK_TRACE(expected);
}

TEST(header_links_of_link)
{
    check_link("<a>; rel=next", "Link[a]");
    check_link("<a>;rel=\"next\",<b>; rel='x' ,\t< c >;title=x;REL=up",
               "Link[a]Link[b]Link[ c ]");
    check_link(", <a,b;c>; rel=up ,, <>; rel=self,", "Link[a,b;c]Link[]");
    check_link("<a>; title=\"b; rel=\\\"c\\\", <d>; rel=e\"; rel=f, <g>;rel=h",
               "Link[a]Link[g]");
    check_link("<a> ; rel = up ; x ; y=, <b> ;; rel=up", "Link[a]Link[b]");
}

TEST(header_links_by_relation)
{
    check_link("<a>, <b>; title=x, <c>; rel, <d>; rel=, <e>; rel=\"\", <f>; rev=up", "");
    check_link("<a>; rel=preconnect, <b>; rel=\"DNS-prefetch preconnect\", <c>; rel=Type,"
               "<d>; rel=profile, <e>; rel=\"type canonical\", <f>; rel=typed",
               "Link[e]Link[f]");
    check_link(
        "<a>; rel=pingback, <b>; rel=\"webmention PINGBACK\", <c>; rel=\"webmention up\"",
        "Link[c]");
    check_link("<a>; rel=type; rel=next, <b>; rel=next; rel=type", "Link[b]");
    check_link("<a>; rel=\"https://example.org/rel\"", "Link[a]");
}

TEST(header_links_that_are_malformed)
{
    check_link("", "");
    check_link("a; rel=up", "");
    check_link("<a", "");
    check_link("<a>; rel=\"up", "Link[a]");
    check_link("<a>; rel=\"up\\", "Link[a]");
    check_link("<a> x; rel=up, <b>; rel=up", "Link[b]");
    check_link("<a>; rel=up b, <c>; rel=\"up\" d, <e>; rel=up", "Link[a]Link[c]Link[e]");
    check_link("<a>; rel=up, b, <c>; rel=up", "Link[a]");
}

TEST(header_links_of_refresh)
{
    CHECK_INT(header_links_visit(HEADER_REFRESH, "5; url=a b", trace_link, NULL), 0);
    CHECK_INT(header_links_visit(HEADER_REFRESH, "0;URL='c'", trace_link, NULL), 0);
    CHECK_INT(header_links_visit(HEADER_REFRESH, "5", trace_link, NULL), 0);
    CHECK_INT(header_links_visit(HEADER_REFRESH, "", trace_link, NULL), 0);
    CHECK_TRACE("Refresh[a b]Refresh[c]");
}

static int stop_at_once(const struct link *link, void *arg)
{
    (void)link;
    (void)arg;
    return -EIO;
}

TEST(header_links_visitor_can_stop)
{
    CHECK_INT(header_links_visit(HEADER_LINK, "<a>;rel=b,<c>;rel=d", stop_at_once, NULL),
              -EIO);
}
