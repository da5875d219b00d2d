#include "../../../../crawler/page/search.h"
#include "../../../harness/harness.h"

#include <coil.h>

#include <errno.h>

static int trace_found(const struct search_found *found, void *arg)
{
    (void)arg;
    switch (found->kind) {
    case SEARCH_URL:
        test_trace("[%s]", found->url->href);
        break;
    case SEARCH_NO_URL:
        test_trace("![%s]", found->link->reference);
        break;
    case SEARCH_TOO_LONG:
        test_trace("long[%.100s...]", found->link->reference);
        break;
    case SEARCH_ID:
        test_trace("#[%s]", found->link->reference);
        break;
    }
    return 0;
}

/* Search the page as a whole, and then byte by byte. */
static void check(const char *content_type, const char *html, size_t n,
                  const char *expected)
{
    struct search *search = search_create();

    for (size_t piece = n; piece > 0; piece = piece > 1 ? 1 : 0) {
        search_begin(search, content_type);
        for (size_t at = 0; at < n; at += piece)
            CHECK_INT(search_feed(search, html + at, piece), 0);
        CHECK_INT(search_end(search, "http://h/p/q",
                             &(struct search_visitor){.visit = trace_found}),
                  0);
        CHECK_TRACE(expected);
    }
    search_destroy(search);
}

#define CHECK_SEARCH(content_type, html, expected)                                       \
    check(content_type, html, sizeof html - 1, expected)

TASK_TEST(search_resolves_links)
{
    CHECK_SEARCH(NULL,
                 "<a href=a#b><a href=/c><a href=//d/><a href=mailto:x><a href=http://>",
                 "[http://h/p/a#b][http://h/c][http://d/][mailto:x]![http://]");
}

TASK_TEST(search_tells_of_ids_in_the_order_of_the_page)
{
    CHECK_SEARCH(NULL, "<p id=one><a href=#two name=two><svg id=three>",
                 "#[one][http://h/p/q#two]#[two]#[three]");
}

/*
 * In a srcdoc document, a base URL is resolved against the base URL of the outer
 * document. A malformed base URL is ignored.
 */
TASK_TEST(search_resolves_links_in_srcdoc_against_bases_of_their_own)
{
    CHECK_SEARCH(
        NULL,
        "<iframe srcdoc='<a href=a><base href=i/><iframe srcdoc=\"<base href=j/><a "
        "href=b>\">'></iframe><iframe srcdoc='<base href=http://><a href=c>'></iframe>"
        "<base href=/d/><a href=e>",
        "[http://h/d/i/a][http://h/d/i/j/b][http://h/d/c][http://h/d/e]");
}

TASK_TEST(search_cuts_off_empty_fragments_and_text_directives)
{
    CHECK_SEARCH(NULL, "<a href=a#><a href=#:~:text=x><a href=b#c:~:text=x>",
                 "[http://h/p/a][http://h/p/q][http://h/p/b#c]");
}

TASK_TEST(search_writes_equal_fragments_alike)
{
    CHECK_SEARCH(NULL, "<a href=#%61%2f%C3%a9><a href='#a%2Fé'>",
                 "[http://h/p/q#a/%C3%A9][http://h/p/q#a/%C3%A9]");
    CHECK_SEARCH(NULL, "<a href=##a><a href=#%23a><a href=#5%><a href=#5%25>",
                 "[http://h/p/q##a][http://h/p/q##a][http://h/p/q#5%][http://h/p/q#5%]");
    CHECK_SEARCH(NULL, "<a href=#%2541><a href=#%20><a href=#%00>",
                 "[http://h/p/q#%2541][http://h/p/q#%20][http://h/p/q#%00]");
}

TASK_TEST(search_resolves_against_the_base_wherever_it_stands)
{
    CHECK_SEARCH(NULL, "<a href=a><base href=/b/><base href=/c/>", "[http://h/b/a]");
    CHECK_SEARCH(NULL, "<a href=a><base href=http://>", "[http://h/p/a]");
}

TASK_TEST(search_has_queries_in_the_encoding_of_the_page)
{
    CHECK_SEARCH("text/html; charset=iso-8859-2",
                 "<a href='\xb1?\xb1=\xb1&a b#\xb1'><a href='?&#x2603;x&#x105;'>"
                 "<a href='mailto:a?\xb1'>",
                 "[http://h/p/%C4%85?%B1=%B1&a%20b#%C4%85]"
                 "[http://h/p/q?%26%239731%3Bx%B1][mailto:a?%C4%85]");
    CHECK_SEARCH("text/html; charset=shift_jis", "<a href=?\x83\x5c>",
                 "[http://h/p/q?%83\\]");
    CHECK_SEARCH("text/html; charset=iso-2022-jp", "<a href='?a&#x3042;&#x3044;b'>",
                 "[http://h/p/q?a%1B$B$%22$$%1B(Bb]");
    CHECK_SEARCH(NULL, "<a href='?\xe9&#8364;&#x105;'>",
                 "[http://h/p/q?%E9%80%26%23261%3B]");
    CHECK_SEARCH("text/html; charset=utf-8", "<a href='?\xc3\xa9'>",
                 "[http://h/p/q?%C3%A9]");
    CHECK_SEARCH("text/html; charset=utf-16le", "<\0a\0 \0h\0r\0e\0f\0=\0?\0\xe9\0>\0",
                 "[http://h/p/q?%C3%A9]");
}

TASK_TEST(search_takes_no_base_that_nothing_can_be_relative_to)
{
    CHECK_SEARCH(NULL, "<a href=a><base href=data:x>", "[http://h/p/a]");
    CHECK_SEARCH(NULL, "<a href=a><base href=javascript:x>", "[http://h/p/a]");
}

TASK_TEST(search_in_the_encoding_of_the_header)
{
    CHECK_SEARCH("text/html; charset=iso-8859-1", "<meta charset=utf-8><a href=\xe9>",
                 "[http://h/p/%C3%A9]");
    CHECK_SEARCH("text/html; charset=nonsense", "<a href=x>", "[http://h/p/x]");
    CHECK_SEARCH("text/html; charset=utf-8", "<a href=\xe9>", "[http://h/p/%EF%BF%BD]");
}

TASK_TEST(search_in_the_encoding_of_a_meta)
{
    CHECK_SEARCH("text/html", "<meta charset=shift_jis><a href=\x83\x5c>",
                 "[http://h/p/%E3%82%BD]");
}

#define LATIN2 "iso-8859-2><a href=\xb1>" /* U+0105 there */
#define AS_LATIN2 "[http://h/p/%C4%85]"
#define AS_WINDOWS_1252 "[http://h/p/%C2%B1]"

TASK_TEST(search_in_the_encoding_of_the_meta_that_counts)
{
    CHECK_SEARCH(NULL,
                 "<meta http-equiv=Content-Type content='text/html; charset=iso-8859-2'>"
                 "<a href=\xb1>",
                 AS_LATIN2);
    CHECK_SEARCH(NULL,
                 "<!--<meta charset=utf-8>--><p title='<meta charset=utf-8>'>"
                 "<meta name=x content='charset=utf-8'><metacharset=utf-8>"
                 "<META charset=" LATIN2,
                 AS_LATIN2);
    CHECK_SEARCH(NULL, "<meta test='x' charset=' iso-8859-2 '><a href=\xb1>", AS_LATIN2);
    CHECK_SEARCH(NULL, "<meta charset=" LATIN2 "<meta charset=utf-8>", AS_LATIN2);
    CHECK_SEARCH(NULL, "<meta name=x content='charset=" LATIN2, "");
    CHECK_SEARCH(NULL, "<meta content='charset=iso-8859-2'><a href=\xb1>",
                 AS_WINDOWS_1252);
    CHECK_SEARCH(NULL, "<meta charset=nonsense><a href=\xb1>", AS_WINDOWS_1252);
    CHECK_SEARCH(NULL, "<meta charset=utf-16><a href=\xc4\x85>", AS_LATIN2);
}

/*
 * If the label of an encoding is invalid, the search for a declaration continues after
 * the tag (HTML standard: step "if charset is failure").
 */
TASK_TEST(search_skips_a_meta_with_an_invalid_label)
{
    CHECK_SEARCH(NULL, "<meta charset=''><a href=\xb1>", AS_WINDOWS_1252);
    CHECK_SEARCH(NULL, "<meta charset><meta charset=' \t'><meta charset=" LATIN2,
                 AS_LATIN2);
    CHECK_SEARCH(NULL,
                 "<meta charset=utf-8-of-thirty-two-bytes-or-more><meta charset=" LATIN2,
                 AS_LATIN2);
    CHECK_SEARCH(NULL,
                 "<meta http-equiv=content-type content='charset=\"\"'>"
                 "<meta charset=" LATIN2,
                 AS_LATIN2);
    CHECK_SEARCH(NULL,
                 "<meta content='charset=utf-8' http-equiv=content-type charset=''>"
                 "<meta charset='' content='charset=utf-8' http-equiv=content-type>"
                 "<meta charset=" LATIN2,
                 AS_LATIN2);
    CHECK_SEARCH(NULL, "<meta charset=klingon><meta charset=" LATIN2, AS_LATIN2);
}

TASK_TEST(search_passes_over_a_header_whose_label_can_be_none)
{
    CHECK_SEARCH("text/html; charset=\"\"", "<meta charset=" LATIN2, AS_LATIN2);
    CHECK_SEARCH("text/html; charset=utf-8-of-thirty-two-bytes-or-more",
                 "<meta charset=" LATIN2, AS_LATIN2);
    CHECK_SEARCH("text/html; charset=klingon", "<meta charset=" LATIN2, AS_LATIN2);
    CHECK_SEARCH("text/html; charset=' iso-8859-2 '", "<meta charset=utf-8><a href=\xb1>",
                 AS_LATIN2);
}

/*
 * Only labels that browsers accept are accepted. iconv(3) supports additional encodings,
 * but lacks some of the browsers' labels.
 */
TASK_TEST(search_knows_the_labels_that_browsers_know)
{
    CHECK_SEARCH("text/html; charset=utf-7", "+ADw-a href=a+AD4-<a href=b>",
                 "[http://h/p/b]");
    CHECK_SEARCH("text/html; charset=ibm1047", "<a href=b>", "[http://h/p/b]");
    CHECK_SEARCH("text/html; charset=iso-2022-kr", "<a href=b>", "[http://h/p/b]");
    CHECK_SEARCH("text/html; charset=X-SJIS", "<a href=\x82\xa0>",
                 "[http://h/p/%E3%81%82]");
    CHECK_SEARCH("text/html; charset=ks_c_5601-1987", "<a href=\xc7\xd1>",
                 "[http://h/p/%ED%95%9C]");
    CHECK_SEARCH("text/html; charset=l2", "<a href=\xb1>", AS_LATIN2);
    CHECK_SEARCH("text/html; charset=latin1", "<a href=\x80>", "[http://h/p/%E2%82%AC]");
}

TASK_TEST(search_in_utf_16)
{
    CHECK_SEARCH(NULL, "\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0\xe4\0<\0\x3e\xd8\xde\xdd>\0",
                 "[http://h/p/%C3%A4%3C%F0%9F%A7%9E]");
    CHECK_SEARCH(NULL, "\xfe\xff\0<\0a\0 \0h\0r\0e\0f\0=\0a\xd8\0\0b\0>",
                 "[http://h/p/a%EF%BF%BDb]");
}

TASK_TEST(search_in_an_encoding_with_ascii_bytes_for_other_characters)
{
    CHECK_SEARCH("text/html; charset=iso-2022-jp",
                 "\x1b$B<a>c\x1b(B<a href=\x1b$B$\"\x1b(B>", "[http://h/p/%E3%81%82]");
}

TASK_TEST(search_takes_what_is_not_utf_8_for_windows_1252)
{
    CHECK_SEARCH(NULL, "<a href=\xe9><a href=\x80>",
                 "[http://h/p/%C3%A9][http://h/p/%E2%82%AC]");
    CHECK_SEARCH(NULL, "<a href=\xc3\xa9>", "[http://h/p/%C3%A9]");
}

TASK_TEST(search_of_a_mark_does_not_begin_the_body)
{
    CHECK_SEARCH(NULL, "\xef\xbb\xbf<frameset><frame src=a>", "[http://h/p/a]");
}

TASK_TEST(search_of_nothing)
{
    check(NULL, "x", 1, "");
}

/* The page is <img src='http:...'><a href='/...'>, with 100,000 bytes in each URL. */
TASK_TEST(search_tells_of_links_that_are_too_long)
{
    size_t n = 200000;
    char *html = malloc(n);
    char expected[512];

    memset(html, 'x', n);
    memcpy(html, "<img src='http:", 15);
    memcpy(html + n / 2, "'><a href='/", 12);
    memcpy(html + n - 2, "'>", 2);
    snprintf(expected, sizeof expected, "long[http:%.95s...]long[/%.99s...]", html + 15,
             html + n / 2 + 12);
    check(NULL, html, n, expected);
    free(html);
}

/*
 * In XML, an empty element such as <title/> ends at once. In HTML, the title would
 * contain the rest of the page.
 */
TASK_TEST(search_of_xhtml)
{
    static const char empty[] =
        "<?xml version=\"1.0\"?><html><head><title/><script "
        "src=\"a\"/><style/></head><body>"
        "<iframe src=\"b\"/><textarea/><form method=\"get\"/><form action=\"c\"></form>"
        "<select/><p><![CDATA[<a href=\"no\">]]></p><svg><g><g/><a href=\"d\"/></g></svg>"
        "<div/><template/><a href=\"e\"/><script>\"<a href='no'>\"</script><a "
        "href=\"f\"/>";

    CHECK_SEARCH("application/xhtml+xml; charset=utf-8", empty,
                 "[http://h/p/a][http://h/p/b][http://h/p/c][http://h/p/d][http://h/p/e]"
                 "[http://h/p/f]");
    CHECK_SEARCH("application/xml", "<html><title/><a href=\"a\"/></html>",
                 "[http://h/p/a]");
    CHECK_SEARCH("text/html", "<title/><a href=no></title><a href=a>", "[http://h/p/a]");
    CHECK_SEARCH("text/html", "<p><![CDATA[<p><a href=a>]]>", "[http://h/p/a]");
}

/* ---- style sheets and sitemaps ----------------------------------------------------- */

TASK_TEST(search_of_a_style_sheet)
{
    CHECK_SEARCH("Text/CSS",
                 "@import 'a?\xc3\xa9';b{c:url(../d),url(http://),url(#e)}<p id=no>",
                 "[http://h/p/a?%C3%A9][http://h/d]![http://]");
}

TASK_TEST(search_of_a_style_sheet_in_its_encoding)
{
    CHECK_SEARCH("text/css;charset=iso-8859-1", "@charset \"utf-8\";url(\xe9?\xe9)",
                 "[http://h/p/%C3%A9?%C3%A9]");
    CHECK_SEARCH("text/css", "@charset \"koi8-r\";url(\xd1)", "[http://h/p/%D1%8F]");
    CHECK_SEARCH("text/css", "@charset  \"koi8-r\";url(\xd1)", "[http://h/p/%EF%BF%BD]");
    CHECK_SEARCH("text/css", "@charset \"utf-16\";url(\xc3\xa9)", "[http://h/p/%C3%A9]");
    CHECK_SEARCH("text/css", "\xff\xfeu\0r\0l\0(\0\xe9\0)\0", "[http://h/p/%C3%A9]");
    CHECK_SEARCH("text/css", "\xef\xbb\xbf@charset \"koi8-r\";url(\xc3\xa9)",
                 "[http://h/p/%C3%A9]");
}

TASK_TEST(search_of_styles_has_queries_in_utf_8)
{
    CHECK_SEARCH("text/html;charset=iso-8859-1",
                 "<p style='a:url(?\xe9)'><a href='?\xe9'>",
                 "[http://h/p/q?%C3%A9][http://h/p/q?%E9]");
}

/* Search a sitemap with this content type as a whole, and then byte by byte. */
static void check_sitemap(const char *content_type, bool is_named, bool else_html,
                          const char *text, size_t n, bool is_page, const char *expected)
{
    struct search *search = search_create();

    for (size_t piece = n; piece > 0; piece = piece > 1 ? 1 : 0) {
        search_begin(search, content_type);
        search_expect_sitemap(search, is_named, else_html);
        for (size_t at = 0; at < n; at += piece)
            CHECK_INT(search_feed(search, text + at, piece), 0);
        CHECK_INT(search_end(search, "http://h/p/q",
                             &(struct search_visitor){.visit = trace_found}),
                  0);
        CHECK_INT(search_was_page(search), is_page);
        CHECK_TRACE(expected);
    }
    search_destroy(search);
}

#define URLSET "<urlset><url><loc>/a</loc></url></urlset>"
#define FEED "<feed><link href='a'/></feed>"

TASK_TEST(search_of_a_sitemap)
{
    check_sitemap("text/xml", false, false, URLSET, strlen(URLSET), true, "[http://h/a]");
    check_sitemap("application/xml", false, true, URLSET, strlen(URLSET), true,
                  "[http://h/a]");
    check_sitemap("text/xml", false, false, FEED, strlen(FEED), false, "");
    check_sitemap("application/xml", false, true, FEED, strlen(FEED), true,
                  "[http://h/p/a]");
    check_sitemap("text/xml", true, false, FEED, strlen(FEED), true, "[http://h/p/a]");
    check_sitemap("text/plain", true, false, "b\nc", 3, true,
                  "[http://h/p/b][http://h/p/c]");
    check_sitemap("text/plain", false, false, "b\nc", 3, false, "");
    check_sitemap("image/png", true, false, "\x89PNG\0", 5, false, "");
    check_sitemap("text/html", true, true, "x<a href=b>", 11, true, "[http://h/p/b]");
    check_sitemap("text/xml", false, false, "<svg/>", 6, false, "");
}

/* In text/xml, only XHTML is searched as HTML. */
TASK_TEST(search_of_xml_that_is_no_page)
{
    static const char page[] = "<?xml version='1.0'?><html><a href='b'/></html>";
    static const char other[] = "<?xml version='1.0'?><list><a href='b'/></list>";

    check_sitemap("text/xml", false, true, page, sizeof page - 1, true, "[http://h/p/b]");
    check_sitemap("text/xml", false, true, other, sizeof other - 1, false, "");
    check_sitemap("application/rss+xml", false, true, other, sizeof other - 1, false, "");
    check_sitemap("application/xml", false, true, other, sizeof other - 1, true,
                  "[http://h/p/b]");
}

/*
 * In a feed, the content of a CDATA section is text. Tags in such a section are ignored.
 */
TASK_TEST(search_of_a_feed_that_would_be_html)
{
    static const char rss[] =
        "<?xml version='1.0'?><rss><channel><link>a</link><item><link>b</link><enclosure "
        "url='c'/><description><![CDATA[<p><a href=no>]]></description></item></channel>"
        "</rss>";
    static const char atom[] =
        "<feed><link href='a'/><entry><link href='b'/><content "
        "type='html'><![CDATA[<p><a href=no>]]></content></entry></feed>";

    check_sitemap("application/xml", false, true, rss, sizeof rss - 1, true,
                  "[http://h/p/a][http://h/p/b][http://h/p/c]");
    check_sitemap("application/xml", false, true, atom, sizeof atom - 1, true,
                  "[http://h/p/a][http://h/p/b]");
    check_sitemap("text/xml", false, false, rss, sizeof rss - 1, false, "");
}

TASK_TEST(search_of_a_sitemap_in_gzip)
{
    static const char packed[] = /* "/a\n/b" */
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xd3\x4f\xe4\xd2\x4f\x02\x00\x61\x62\x1e"
        "\xba\x05\x00\x00\x00";

    check_sitemap("application/gzip", true, false, packed, sizeof packed - 1, true,
                  "[http://h/a][http://h/b]");
    check_sitemap("application/gzip", false, false, packed, sizeof packed - 1, false, "");
}

TASK_TEST(search_tells_what_is_wrong_with_a_sitemap)
{
    struct search *search = search_create();

    search_begin(search, "text/xml");
    search_expect_sitemap(search, true, false);
    CHECK_INT(search_feed(search, "<urlset><url><loc>a</loc>", 25), 0);
    CHECK_INT(
        search_end(search, "http://h/", &(struct search_visitor){.visit = trace_found}),
        0);
    CHECK_TRACE("[http://h/a]");
    CHECK_STR(search_problem(search), "line 1: no element found");
    search_begin(search, "text/html");
    CHECK_PTR(search_problem(search), NULL);
    search_destroy(search);
}

/* ---- many links -------------------------------------------------------------------- */

static int ignore(const struct search_found *found, void *arg)
{
    (void)found;
    ++*(int *)arg;
    return 0;
}

static int search_many(void *arg)
{
    struct search *search = search_create();
    int rc = 0;

    search_begin(search, NULL);
    for (int i = 0; i < 10000; i++)
        rc += search_feed(search, "<a href=x>", 10);
    CHECK_INT(rc, 0);
    rc = search_end(search, "http://h/",
                    &(struct search_visitor){.visit = ignore, .arg = arg});
    search_destroy(search);
    return rc;
}

TASK_TEST(search_lets_others_run_among_many_links)
{
    coil_task *task;
    int found = 0, turns = 0;

    CHECK_INT(coil_spawn(search_many, &found, NULL, &task), 0);
    for (; !coil_future_done(coil_task_future(task)) && turns < 1000; turns++)
        coil_yield();
    CHECK_INT(coil_task_await(task), 0);
    CHECK_INT(found, 10000);
    CHECK(turns >= 10);
    coil_task_release(task);
}

TASK_TEST(search_can_be_cancelled_among_many_links)
{
    coil_task *task;
    int found = 0;

    CHECK_INT(coil_spawn(search_many, &found, NULL, &task), 0);
    while (found == 0)
        coil_yield();
    coil_task_cancel(task, "enough");
    CHECK_INT(coil_task_await(task), -ECANCELED);
    CHECK(found < 10000);
    coil_task_release(task);
}

/* Memory allocated for a long page is released before the next page. */
TASK_TEST(search_keeps_no_memory_of_a_long_page)
{
    struct links links;

    links_init(&links);
    for (int i = 0; i < 100000; i++)
        CHECK_INT(links_feed(&links, "<a href='/some/where'>", 22), 0);
    CHECK(links.capacity >= 100000 && links.bytes.capacity >= 1000000);
    links_reset(&links);
    CHECK(links.capacity == 0 && links.bytes.capacity == 0);
    links_finish(&links);
}

static int count_found(const struct search_found *found, void *arg)
{
    *(size_t *)arg += found->kind == SEARCH_URL;
    return 0;
}

/*
 * libcmark-gfm recurses for each e-mail address, which would overflow the stack of a
 * task.
 */
TASK_TEST(search_of_markdown_needs_no_stack_of_its_task)
{
    static const char address[] = "a@b.c ";
    struct search *search = search_create();
    size_t count = 0;

    search_begin(search, "text/markdown");
    for (int i = 0; i < 20000; i++)
        CHECK_INT(search_feed(search, address, sizeof address - 1), 0);
    CHECK_INT(search_end(search, "file:///a.md",
                         &(struct search_visitor){.visit = count_found, .arg = &count}),
              0);
    CHECK(count >= 1000);
    search_destroy(search);
}
