#include "../../../../../crawler/page/feed/sitemap.h"
#include "../../../../harness/harness.h"

#include <errno.h>
#include <zlib.h>

static int trace_link(const struct link *link, void *arg)
{
    (void)arg;
    test_trace("%s[%.100s]%s", link->is_sitemap ? "map" : "", link->reference,
               link->cut ? "(cut)" : "");
    return 0;
}

static struct sitemap *read_pieces(const char *text, size_t n, size_t piece)
{
    struct sitemap *sitemap = sitemap_create();

    for (size_t at = 0; at < n; at += piece)
        CHECK_INT(sitemap_feed(sitemap, text + at, n - at < piece ? n - at : piece), 0);
    CHECK_INT(sitemap_end(sitemap), 0);
    return sitemap;
}

/* Parse the text as a whole, and then byte by byte. */
static void check(const char *text, size_t n, const char *problem, const char *expected)
{
    for (int i = 0; i < 2; i++) {
        struct sitemap *sitemap = read_pieces(text, n, i == 0 ? n + 1 : 1);

        CHECK_STR(sitemap_problem(sitemap) != NULL ? sitemap_problem(sitemap) : "",
                  problem);
        CHECK_INT(sitemap_visit(sitemap, trace_link, NULL), 0);
        CHECK_TRACE(expected);
        sitemap_destroy(sitemap);
    }
}

#define CHECK_SITEMAP(text, problem, expected)                                           \
    check(text, sizeof text - 1, problem, expected)

TEST(sitemap_of_urls)
{
    CHECK_SITEMAP(
        "<?xml version='1.0'?><urlset "
        "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
        "<url><loc>http://h/a</loc><lastmod>2026-01-01</lastmod></url>"
        "<url>\n<loc>\n http://h/b?c&amp;d \n</loc></url><url><loc/></url></urlset>",
        "", "[http://h/a][http://h/b?c&d]");
    CHECK_SITEMAP(
        "\xef\xbb\xbf\n<sm:urlset xmlns:sm='x'><sm:url><sm:loc><![CDATA[a&b]]></sm:loc>"
        "</sm:url></sm:urlset>",
        "", "[a&b]");
}

TEST(sitemap_of_other_languages_images_and_videos)
{
    CHECK_SITEMAP(
        "<urlset xmlns:x='x' xmlns:i='i' xmlns:v='v'><url><loc>a</loc>"
        "<x:link rel='alternate' hreflang='de' href=' b&#x20;'/>"
        "<i:image><i:loc>c</i:loc></i:image><v:video><v:thumbnail_loc>d</v:thumbnail_loc>"
        "<v:content_loc>e</v:content_loc><v:player_loc>f</v:player_loc></v:video></url></"
        "urlset>",
        "", "[a][b][c][d][e][f]");
}

TEST(sitemap_of_sitemaps)
{
    CHECK_SITEMAP(
        "<sitemapindex><sitemap><loc>a.xml</loc></sitemap><sitemap><loc>b.xml.gz</loc>"
        "</sitemap></sitemapindex>",
        "", "map[a.xml]map[b.xml.gz]");
}

TEST(sitemap_of_feeds)
{
    CHECK_SITEMAP(
        "<rss xmlns:atom='a'><channel><link>a</link><atom:link href='b' rel='self'/>"
        "<atom:link rel='hub' href='no'/><item><link> c </link><guid>no</guid>"
        "<enclosure url='d' length='1'/><comments>no</comments></item></channel></rss>",
        "", "[a][b][c][d]");
    CHECK_SITEMAP(
        "<rdf:RDF xmlns:rdf='r'><item rdf:about='no'><link>a</link></item></rdf:RDF>", "",
        "[a]");
    CHECK_SITEMAP(
        "<feed><id>no</id><link href='a'/><entry><link rel='alternate' href='b'/>"
        "<content src='c'/><link>no</link></entry></feed>",
        "", "[a][b][c]");
}

static int trace_base(const struct link *link, void *arg)
{
    (void)arg;
    test_trace("[%s", link->reference);
    for (const char *c = link->base; c != NULL && *c != '\0'; c++)
        test_trace("%s%c", c == link->base ? " from " : "", *c == '\n' ? '>' : *c);
    test_trace("]");
    return 0;
}

static void check_bases(const char *text, const char *expected)
{
    struct sitemap *sitemap = read_pieces(text, strlen(text), 7);

    CHECK_INT(sitemap_visit(sitemap, trace_base, NULL), 0);
    CHECK_TRACE(expected);
    sitemap_destroy(sitemap);
}

/* The attribute xml:base. (RFC 4287, 2) */
TEST(sitemap_of_feeds_with_bases)
{
    check_bases("<feed xml:base='http://h/'><link href='a'/><entry xml:base='b/'>"
                "<link xml:base='c/' href='d'/><content src='e'/></entry><link href='f'/>"
                "<entry><link base='no' href='g'/></entry></feed>",
                "[a from http://h/][d from http://h/>b/>c/][e from http://h/>b/]"
                "[f from http://h/][g from http://h/]");
    check_bases("<rss><channel xml:base='/x/'><link>a</link></channel></rss>",
                "[a from /x/]");
    check_bases("<urlset xml:base='/x/'><url><loc>a</loc></url></urlset>", "[a]");
    check_bases("<feed xml:base=''><link href='a'/></feed>", "[a]");
}

TEST(sitemap_of_lines)
{
    CHECK_SITEMAP("http://h/a\nhttp://h/b\r\n\r\n  c d\t\n\xc3\xa4", "",
                  "[http://h/a][http://h/b][c d][\xc3\xa4]");
    CHECK_SITEMAP("\xef\xbb\xbfhttp://h/a\n", "", "[http://h/a]");
    CHECK_SITEMAP("", "", "");
    CHECK_SITEMAP("\n \n", "", "");
}

TEST(sitemap_in_other_encodings)
{
    CHECK_SITEMAP("<?xml version='1.0' "
                  "encoding='iso-8859-1'?><urlset><url><loc>\xe4</loc></url></urlset>",
                  "", "[\xc3\xa4]");
    CHECK_SITEMAP("\xff\xfe<\0u\0r\0l\0s\0e\0t\0>\0<\0u\0r\0l\0>\0<\0l\0o\0c\0>\0\xe4\0<"
                  "\0/\0l\0o\0c\0>\0"
                  "<\0/\0u\0r\0l\0>\0<\0/\0u\0r\0l\0s\0e\0t\0>\0",
                  "", "[\xc3\xa4]");
    CHECK_SITEMAP("<?xml version='1.0' encoding='klingon'?><urlset/>",
                  "line 1: unknown encoding", "");
}

TEST(sitemap_that_is_malformed_tells_what_it_had)
{
    CHECK_SITEMAP("<urlset><url><loc>a</loc></url>\n<url><loc>b</url></urlset>",
                  "line 2: mismatched tag", "[a]");
    CHECK_SITEMAP("<urlset><url><loc>a</loc></url>", "line 1: no element found", "[a]");
    CHECK_SITEMAP("<urlset><url><loc>a&nbsp;b</loc></url></urlset>",
                  "line 1: undefined entity", "");
    CHECK_SITEMAP("<html><a href='a'/></html>", "it is neither a sitemap nor a feed", "");
}

TEST(sitemap_declares_no_entities)
{
    CHECK_SITEMAP("<!DOCTYPE urlset [<!ENTITY a 'ha'><!ENTITY b "
                  "'&a;&a;'>]><urlset><url><loc>&b;</loc></url>"
                  "</urlset>",
                  "its document type has declarations, which are refused", "");
    CHECK_SITEMAP("<!DOCTYPE rss PUBLIC 'x' "
                  "'http://my.netscape.com/rss.dtd'><rss><link>a</link></rss>",
                  "", "[a]");
}

static char *repeat(const char *before, const char *part, size_t count, const char *after,
                    size_t *n)
{
    size_t length = strlen(part);
    char *text = malloc(strlen(before) + count * length + strlen(after) + 1), *at = text;

    at = stpcpy(at, before);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, part);
    *n = (size_t)(stpcpy(at, after) - text);
    return text;
}

static int count_link(const struct link *link, void *arg)
{
    (void)link;
    ++*(size_t *)arg;
    return 0;
}

static void check_count(char *text, size_t n, size_t count, const char *problem)
{
    struct sitemap *sitemap = read_pieces(text, n, 10000);
    size_t found = 0;

    CHECK_STR(sitemap_problem(sitemap) != NULL ? sitemap_problem(sitemap) : "", problem);
    CHECK_INT(sitemap_visit(sitemap, count_link, &found), 0);
    CHECK_INT(found, count);
    sitemap_destroy(sitemap);
    free(text);
}

TEST(sitemap_has_50000_urls_at_most)
{
    const char *problem = "it has more than 50,000 URLs, and only those are read";
    size_t n;
    char *text = repeat("<urlset>", "<url><loc>a</loc></url>", 50000, "</urlset>", &n);

    check_count(text, n, 50000, "");
    text = repeat("<urlset>", "<url><loc>a</loc></url>", 50001, "</urlset>", &n);
    check_count(text, n, 50000, problem);
    text = repeat("", "a\n", 50000, "", &n);
    check_count(text, n, 50000, "");
    text = repeat("", "a\n", 50001, "", &n);
    check_count(text, n, 50000, problem);
    text = repeat("<urlset><url>", "<i:image><i:loc>a</i:loc></i:image>", 60000,
                  "</url></urlset>", &n);
    check_count(text, n, 60000, "");
}

TEST(sitemap_has_50_mib_at_most)
{
    size_t n, blanks = SITEMAP_BYTES - strlen("<urlset><url><loc>a</loc></url></urlset>");
    char *text = repeat("<urlset>", " ", blanks, "<url><loc>a</loc></url></urlset>", &n);

    check_count(text, n, 1, "");
    text = repeat("<urlset><url><loc>a</loc></url>", " ", blanks + 1, "</urlset>", &n);
    check_count(text, n, 1, "it is longer than 50 MiB, and no more than that is read");
}

TEST(sitemap_takes_bounded_memory_and_time)
{
    size_t n;
    char *text = repeat("<urlset>", "<a>", 1000000, "", &n);

    check_count(text, n, 0, "its elements are nested too deep");
    text = repeat("<urlset><url ", "a", 40 << 20, "='b'/></urlset>", &n);
    check_count(text, n, 0, "one of its tags or comments is too long");
    text = repeat("<urlset><!--", "a", 40 << 20, "--></urlset>", &n);
    check_count(text, n, 0, "one of its tags or comments is too long");
    text = repeat("<urlset><url><loc>", "a", 40 << 20, "</loc></url></urlset>", &n);
    check_count(text, n, 1, "");
    text = repeat("", "a", 40 << 20, "", &n);
    check_count(text, n, 1, "");
}

static int trace_place(const struct link *link, void *arg)
{
    (void)arg;
    test_trace("%s.%s@%u:%u ", link->element != NULL ? link->element : "-",
               link->attribute != NULL ? link->attribute : "-", link->place.line,
               link->place.column);
    return 0;
}

static void check_places(const char *text, const char *expected)
{
    for (size_t piece = 1; piece <= 4; piece++) {
        struct sitemap *sitemap = read_pieces(text, strlen(text), piece);

        CHECK_INT(sitemap_visit(sitemap, trace_place, NULL), 0);
        CHECK_TRACE(expected);
        sitemap_destroy(sitemap);
    }
}

TEST(sitemap_has_places)
{
    check_places("<urlset><url><loc>a</loc>\n\xc3\xa4<loc> \r\n b</loc><x:link "
                 "href='c'/></url></urlset>",
                 "loc.-@1:19 loc.-@3:2 link.href@3:9 ");
    check_places("\n <urlset><url><loc>a&amp;b</loc></url></urlset>", "loc.-@2:20 ");
    check_places("a\n\n\xc3\xa4 b\r\n  c", "-.-@1:1 -.-@3:1 -.-@4:3 ");
}

/* Compress the text with gzip. Returns the length. The caller frees *out. */
static size_t deflate_all(const char *text, size_t n, char **out)
{
    size_t room = n + n / 1000 + 1024;
    z_stream stream = {.next_in = (unsigned char *)text, .avail_in = (unsigned)n};

    *out = malloc(room);
    stream.next_out = (unsigned char *)*out;
    stream.avail_out = (unsigned)room;
    CHECK_INT(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
              Z_OK);
    CHECK_INT(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return room - stream.avail_out;
}

static void check_gzip(const char *bytes, size_t n, const char *problem,
                       const char *expected)
{
    struct sitemap *sitemap = sitemap_create();

    CHECK(sitemap_is_gzip(bytes, n));
    CHECK_INT(sitemap_inflate(sitemap, bytes, n), 0);
    CHECK_STR(sitemap_problem(sitemap) != NULL ? sitemap_problem(sitemap) : "", problem);
    CHECK_INT(sitemap_visit(sitemap, trace_link, NULL), 0);
    CHECK_TRACE(expected);
    sitemap_destroy(sitemap);
}

TEST(sitemap_in_gzip)
{
    const char *text = "<urlset><url><loc>a</loc></url></urlset>";
    char *bytes, *both;
    size_t n = deflate_all(text, strlen(text), &bytes);

    check_gzip(bytes, n, "", "[a]");
    check_gzip(bytes, n - 9, "its gzip data is cut off", "[a]");
    bytes[n - 5] ^= 1; /* damages the checksum */
    check_gzip(bytes, n, "its gzip data is damaged", "[a]");
    free(bytes);
    n = deflate_all("a\nb", 3, &bytes);
    both = malloc(2 * n);
    memcpy(both, bytes, n);
    memcpy(both + n, bytes, n);
    check_gzip(both, 2 * n, "", "[a][ba][b]");
    free(bytes);
    free(both);
}

TEST(sitemap_in_gzip_that_is_a_bomb)
{
    size_t n, packed_n;
    char *text = repeat("a\n", " ", SITEMAP_BYTES + 1, "b", &n), *packed;

    packed_n = deflate_all(text, n, &packed);
    free(text);
    check_gzip(packed, packed_n,
               "it is longer than 50 MiB, and no more than that is read", "[a]");
    free(packed);
}

TEST(sitemap_is_known_by_its_root)
{
    static const struct {
        const char *text;
        enum sitemap_root root;
    } rows[] = {
        {"<urlset>", SITEMAP_URLSET},
        {"\xef\xbb\xbf <?xml version='1.0'?>\n<!-- <rss> --><!DOCTYPE x><x:urlset a='b'>",
         SITEMAP_URLSET},
        {"<sitemapindex/>", SITEMAP_INDEX},
        {"<rss version='2.0'>", SITEMAP_RSS},
        {"<rdf:RDF\n>", SITEMAP_RSS},
        {"<feed>", SITEMAP_ATOM},
        {"<html>", SITEMAP_HTML},
        {"<list>", SITEMAP_OTHER},
        {"<urlset", SITEMAP_OTHER},
        {"<!-- urlset", SITEMAP_OTHER},
        {"<?xml", SITEMAP_OTHER},
        {"<", SITEMAP_OTHER},
        {"", SITEMAP_OTHER},
        {"http://h/", SITEMAP_NO_XML},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_INT(sitemap_root_of(rows[i].text, strlen(rows[i].text)), rows[i].root);
}
