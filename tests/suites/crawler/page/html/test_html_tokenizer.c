#include "../../../../../crawler/page/html/html_tokenizer.h"
#include "../../../../harness/harness.h"

#include <errno.h>
#include <time.h>

/* ---- a sink that traces ------------------------------------------------------------ */

struct page {
    struct html_tokenizer tokenizer;
    const char *skipped; /* the name of an attribute to skip, or NULL */
    bool traces_places;
    char text[256];
    size_t text_n;
};

static void end_text(struct page *page)
{
    if (page->text_n > 0)
        test_trace("'%.*s'", (int)page->text_n, page->text);
    page->text_n = 0;
}

static bool on_tag(const struct html_name *name, bool is_end, void *arg)
{
    (void)name;
    (void)is_end;
    end_text(arg);
    return true;
}

static bool on_wants(const struct html_name *name, void *arg)
{
    struct page *page = arg;

    return page->skipped == NULL || strcmp(name->bytes, page->skipped) != 0;
}

static int on_attribute(const struct html_name *name, const struct html_value *value,
                        void *arg)
{
    struct page *page = arg;

    test_trace("%.*s=%.*s", (int)name->n, name->bytes,
               (int)(value->n > 40 ? 40 : value->n), value->bytes);
    if (value->cut)
        test_trace("(cut)");
    if (page->traces_places)
        test_trace("@%u:%u", value->place.line, value->place.column);
    test_trace(" ");
    return 0;
}

static enum html_content content_of(const char *name)
{
    if (strcmp(name, "script") == 0)
        return HTML_SCRIPT;
    return strcmp(name, "title") == 0   ? HTML_RCDATA
           : strcmp(name, "style") == 0 ? HTML_RAWTEXT
                                        : HTML_DATA;
}

static int on_tag_end(const struct html_name *name, bool is_end, bool is_self_closing,
                      void *arg)
{
    struct page *page = arg;

    test_trace("<%s%s%s>", is_end ? "/" : "", name->bytes, is_self_closing ? "/" : "");
    if (page->traces_places)
        test_trace("@%u:%u ", page->tokenizer.tag_place.line,
                   page->tokenizer.tag_place.column);
    if (!is_end)
        html_tokenizer_set_content(&page->tokenizer, content_of(name->bytes),
                                   name->bytes);
    return 0;
}

static int on_text(const char *bytes, size_t n, void *arg)
{
    struct page *page = arg;

    for (size_t i = 0; i < n && page->text_n < sizeof page->text; i++)
        page->text[page->text_n++] = bytes[i];
    return 0;
}

static int on_comment(const char *bytes, size_t n, void *arg)
{
    end_text(arg);
    test_trace("<!--%.*s-->", (int)n, bytes);
    return 0;
}

static int on_doctype(const struct html_doctype *doctype, void *arg)
{
    end_text(arg);
    test_trace("<!%.*s%s>", (int)doctype->name.n,
               doctype->name.bytes != NULL ? doctype->name.bytes : "",
               doctype->force_quirks ? "?" : "");
    return 0;
}

static const struct html_sink sink = {on_tag,  on_wants,   on_attribute, on_tag_end,
                                      on_text, on_comment, on_doctype,   NULL};

static int trace_pieces(struct page *page, const char *html, size_t n, size_t piece)
{
    int rc = 0;

    for (size_t at = 0; at < n && rc == 0; at += piece)
        rc = html_tokenizer_feed(&page->tokenizer, html + at,
                                 n - at < piece ? n - at : piece);
    if (rc == 0)
        rc = html_tokenizer_end(&page->tokenizer);
    end_text(page);
    return rc;
}

/*
 * Parse the page as a whole, byte by byte, and in pieces of three bytes, and compare the
 * tokens.
 */
static void check_page(const char *html, const char *expected, bool traces_places)
{
    static const size_t pieces[] = {1 << 20, 1, 3};

    for (size_t i = 0; i < 3; i++) {
        struct page page = {.traces_places = traces_places};
        html_tokenizer_init(&page.tokenizer, &sink, &page);
        page.tokenizer.marks_tags = traces_places;
        CHECK_INT(trace_pieces(&page, html, strlen(html), pieces[i]), 0);
        html_tokenizer_finish(&page.tokenizer);
        CHECK_TRACE(expected);
    }
}

static void check(const char *html, const char *expected)
{
    check_page(html, expected, false);
}

/* ---- tokens ------------------------------------------------------------------------ */

TEST(html_tokens_of_a_page)
{
    check("<!DOCTYPE html><P CLASS=x>Hi &amp; bye</p><br/>",
          "<!html>class=x <p>'Hi & bye'</p><br/>");
}

TEST(html_tokens_of_attributes)
{
    check("<a b='1' c=\"2\" d=3 e f = 4 g=>", "b=1 c=2 d=3 e= f=4 g= <a>");
    check("<a/b/ =c '=d\"=e>", "b= =c= '=d\"=e <a>");
    check("<a b='1'c='2'/d>", "b=1 c=2 d= <a>");
    check("<a b='&amp;\n'>", "b=&amp;\n <a>"); /* as written */
}

TEST(html_tokens_of_attributes_named_twice)
{
    check("<a b=1 B=2 c=3 b>", "b=1 c=3 <a>");
    check("<a a b c d e f g h i j k=1 l k=2 a=3 j=4>",
          "a= b= c= d= e= f= g= h= i= j= k=1 l= <a>");
    check("<a b=1><a b=2>", "b=1 <a>b=2 <a>");
}

/* Return the trace of a page that arrives in pieces of this size. */
static char *trace_of(const char *html, size_t piece)
{
    struct page page = {.traces_places = true, .skipped = "skipped"};
    char *text;

    html_tokenizer_init(&page.tokenizer, &sink, &page);
    page.tokenizer.marks_tags = true;
    CHECK_INT(trace_pieces(&page, html, strlen(html), piece), 0);
    html_tokenizer_finish(&page.tokenizer);
    text = strdup(test_trace_text());
    test_trace_clear();
    return text;
}

/* Append random parts, which together are nearly always tags. */
static void make_tags(char *html, size_t room, unsigned *random)
{
    static const char *const parts[] = {"<a",
                                        "<TITLES",
                                        "</b",
                                        "<eightbit",
                                        "</ninebytes",
                                        "<h1",
                                        "<p>",
                                        "</P>",
                                        "<x-y",
                                        "<aa\xc3\xa4",
                                        " ",
                                        "\n",
                                        "  ",
                                        " b=\"c\"",
                                        " HREF=\"page1.html\"",
                                        " id='x'",
                                        " skipped=\"y\"",
                                        " e=\"12345678901234\"",
                                        " f=\"123456789012345\"",
                                        " g='1234567890123456'",
                                        " h=\"\"",
                                        " i=j",
                                        " k",
                                        " l = \"m\"",
                                        " eightbit=\"1\"",
                                        " ninebytes=\"1\"",
                                        " n='\"'",
                                        " o=\"'>\"",
                                        "/",
                                        ">",
                                        ">",
                                        ">text",
                                        ">text that is longer than a block",
                                        "=",
                                        "\"",
                                        "\xff"};
    size_t n = 0;

    for (;;) {
        const char *part;
        *random = *random * 1103515245 + 12345;
        part = parts[(*random >> 16) % (sizeof parts / sizeof parts[0])];
        if (n + strlen(part) + 1 > room)
            return;
        strcpy(html + n, part);
        n += strlen(part);
    }
}

TEST(html_tokens_are_the_same_for_all_pieces)
{
    char html[400];
    unsigned random = 1;

    for (int i = 0; i < 1000; i++) {
        char *bytes, *whole, *pieces;
        make_tags(html, 20 + (size_t)i % 380, &random);
        bytes = trace_of(html, 1);
        whole = trace_of(html, sizeof html);
        pieces = trace_of(html, 2 + (size_t)i % 61);
        CHECK_STR(whole, bytes);
        CHECK_STR(pieces, bytes);
        free(bytes);
        free(whole);
        free(pieces);
    }
}

TEST(html_tokens_of_end_tags_have_no_attributes)
{
    check("</a b='>'></a/></ x></>", "</a></a/><!-- x-->");
}

TEST(html_tokens_of_comments)
{
    check("<!--a-b--><!--><!---><!----><!--a--!><!--a--!b-->",
          "<!--a-b--><!----><!----><!----><!--a--><!--a--!b-->");
    check("<!--a----><!--<!--b--><!--c", "<!--a----><!--<!--b--><!--c-->");
    check("<!a><?b><!-c><!", "<!--a--><!--?b--><!---c--><!---->");
}

TEST(html_tokens_of_doctypes)
{
    check("<!doctype HTML PUBLIC \"a\" 'b'>", "<!html>");
    check("<!DOCTYPE><!DOCTYPE a b><!DOCTYPE a PUBLIC '>", "<!?><!a?><!a?>");
    check("<!DOCTYPE a", "<!a?>");
}

TEST(html_tokens_of_text_that_looks_like_tags)
{
    check("a < b <3 <", "'a < b <3 <'");
    check("</", "'</'");
    check("<a b='", "");
    check("<", "'<'");
}

TEST(html_tokens_of_scripts)
{
    check("<script>'<a>' < </scripts></script x><b>",
          "<script>''<a>' < </scripts>'</script><b>");
    check("<script><!--<script></script>--></script>",
          "<script>'<!--<script></script>-->'</script>");
    check("<script><!--</script>-->", "<script>'<!--'</script>'-->'");
    check("<script><!--<script>--></script>x", "<script>'<!--<script>-->'</script>'x'");
    check("<script></scr", "<script>'</scr'");
}

TEST(html_tokens_of_raw_text)
{
    check("<title>&lt;<b></TITLE>", "<title>'<<b>'</title>");
    check("<style>&lt;<b></styles></style/>", "<style>'&lt;<b></styles>'</style/>");
    check("</title><title>x", "</title><title>'x'");
}

TEST(html_tokens_of_references)
{
    check("&lt;&#65;&#x42;&#x80;&#0;&notin;&notit;&amp", "'<AB€�∉¬it;&'");
    check("&x;&#;&#x;&;&", "'&x;&#;&#x;&;&'");
    check("&ampere&CounterClockwiseContourIntegral;", "'&ere∳'");
}

TEST(html_tokens_of_line_ends)
{
    check("a\r\nb\rc\n\r<i>\n&#13;", "'a\nb\nc\n\n'<i>'\n\r'");
}

TEST(html_tokens_of_cdata_sections)
{
    struct page page = {.traces_places = false};
    const char html[] = "<![CDATA[a]]b]]]>c";

    check(html, "<!--[CDATA[a]]b]]]-->'c'"); /* outside SVG, CDATA is a comment */
    html_tokenizer_init(&page.tokenizer, &sink, &page);
    page.tokenizer.allows_cdata = true;
    CHECK_INT(trace_pieces(&page, html, strlen(html), 2), 0);
    CHECK_TRACE("'a]]b]c'");
    html_tokenizer_finish(&page.tokenizer);
}

TEST(html_tokens_of_plaintext_never_end)
{
    struct page page = {.traces_places = false};
    const char html[] = "<b></plaintext>&amp;";

    html_tokenizer_init(&page.tokenizer, &sink, &page);
    html_tokenizer_set_content(&page.tokenizer, HTML_PLAINTEXT, "plaintext");
    CHECK_INT(trace_pieces(&page, html, strlen(html), 1), 0);
    CHECK_TRACE("'<b></plaintext>&amp;'");
    html_tokenizer_finish(&page.tokenizer);
}

/* ---- places ------------------------------------------------------------------------ */

TEST(html_places_of_tags_and_values)
{
    check_page("<a b='c'>\n  <i d=e f>", "b=c@1:7 <a>@1:1 '\n  'd=e@2:8 f=@2:11 <i>@2:3 ",
               true);
    check_page("<a\n\n b=\n'c'>", "b=c@4:2 <a>@1:1 ", true);
}

TEST(html_places_count_characters)
{
    check_page("äö€😀<b c=d>", "'äö€😀'c=d@1:10 <b>@1:5 ", true);
}

TEST(html_places_by_any_end_of_line)
{
    check_page("\r\n\r\n<b>", "'\n\n'<b>@3:1 ", true);
    check_page("\r\r<b>", "'\n\n'<b>@3:1 ", true);
    check_page("0123456789abcd\r\n0123456789\n<b>",
               "'0123456789abcd\n0123456789\n'<b>@3:1 ", true);
}

/* Advance the counter over one byte, as html_position.h defines it. */
static void count_one(struct html_counter *counter, unsigned char c)
{
    if (c == '\r' || (c == '\n' && !counter->after_cr))
        counter->place = (struct html_position){counter->place.line + 1, 1};
    else if (c != '\n')
        counter->place.column += (c & 0xc0) != 0x80;
    counter->after_cr = c == '\r';
}

/* Fill the text with random bytes. One in `spread` bytes is CR or LF. */
static void fill_with_lines(char *text, size_t n, unsigned spread)
{
    static const char others[] = {'a', '\x80', '\xbf', '\xc0', '\x7f', '\0'};
    static unsigned random = 1;

    for (size_t i = 0; i < n; i++) {
        random = random * 1103515245 + 12345;
        text[i] = random >> 16 & 1 ? '\r' : '\n';
        if ((random >> 17) % spread != 0)
            text[i] = others[(random >> 17) % sizeof others];
    }
}

TEST(html_places_are_the_same_for_all_lengths)
{
    static char text[10000];
    static const size_t lengths[] = {1, 15, 16, 17, 31, 40, 127, 2047, 7000};

    for (unsigned spread = 1; spread < 20000; spread = spread * 2 + 1) {
        struct html_counter expected = {{1, 1}, false}, counter = {{1, 1}, false};
        size_t at = 0;
        fill_with_lines(text, sizeof text, spread);
        for (size_t i = 0; at < sizeof text; i++) {
            size_t n = lengths[i % (sizeof lengths / sizeof lengths[0])];
            n = n < sizeof text - at ? n : sizeof text - at;
            html_count(&counter, text + at, n);
            for (size_t end = at + n; at < end; at++)
                count_one(&expected, (unsigned char)text[at]);
            CHECK_INT(counter.place.line, expected.place.line);
            CHECK_INT(counter.place.column, expected.place.column);
            CHECK(counter.after_cr == expected.after_cr);
        }
    }
}

/* ---- who wants what ---------------------------------------------------------------- */

TEST(html_attributes_that_are_not_wanted)
{
    struct page page = {.skipped = "b"};
    const char html[] = "<a b='>' c=1 b=2 d=3>";

    html_tokenizer_init(&page.tokenizer, &sink, &page);
    CHECK_INT(trace_pieces(&page, html, strlen(html), 4), 0);
    CHECK_TRACE("c=1 d=3 <a>");
    html_tokenizer_finish(&page.tokenizer);
}

static int number_tag(const struct html_name *name, bool is_end, bool is_self_closing,
                      void *arg)
{
    struct page *page = arg;

    (void)is_self_closing;
    test_trace("<%s%s>", is_end ? "/" : "", name->bytes);
    CHECK_INT(page->tokenizer.repeat, 0);
    page->tokenizer.repeat = (uint16_t)name->n;
    return 0;
}

static bool trace_repeat(unsigned number, void *arg)
{
    (void)arg;
    test_trace("(%u)", number);
    return number != 2;
}

TEST(html_tags_that_are_repeated)
{
    static const struct html_sink repeating = {.tag_end = number_tag,
                                               .attribute = on_attribute,
                                               .tag = on_tag,
                                               .repeat = trace_repeat};
    static const char html[] = "<b><b></b><b ></b><tt><tt><b c=\"d\"><b c=\"d\"><b "
                               "c=\"e\"><b c=\">\"><b c=\">\">"
                               "<b c=\"as long as a block\"><b c=\"as long as a "
                               "block\"><b/><b/>0123456789abcdef";
    struct page page = {.skipped = NULL};

    html_tokenizer_init(&page.tokenizer, &repeating, &page);
    CHECK_INT(trace_pieces(&page, html, strlen(html), sizeof html), 0);
    CHECK_TRACE("<b>(1)</b><b>(1)<tt>(2)<tt>c=d <b>(1)c=e <b>c=> <b>c=> <b>"
                "c=as long as a block <b>c=as long as a block <b><b><b>");
    html_tokenizer_reset(&page.tokenizer);
    CHECK_INT(trace_pieces(&page, html, 20, 20), 0); /* too few bytes after "<b>" */
    CHECK_TRACE("<b>(1)</b><b></b>");
    html_tokenizer_finish(&page.tokenizer);
}

TEST(html_text_that_is_not_wanted)
{
    struct page page = {.skipped = NULL};
    const char html[] = "x&y<a>z<title>&lt;</title>";

    html_tokenizer_init(&page.tokenizer, &sink, &page);
    page.tokenizer.wants_text = false;
    CHECK_INT(trace_pieces(&page, html, strlen(html), 100), 0);
    CHECK_TRACE("<a><title></title>");
    html_tokenizer_finish(&page.tokenizer);
}

static int refuse(const struct html_name *name, bool is_end, bool is_self_closing,
                  void *arg)
{
    (void)name;
    (void)is_end;
    (void)is_self_closing;
    ++*(int *)arg;
    return -EIO;
}

TEST(html_sink_can_end_the_page)
{
    static const struct html_sink refusing = {.tag_end = refuse};
    struct html_tokenizer tokenizer;
    int calls = 0;

    html_tokenizer_init(&tokenizer, &refusing, &calls);
    CHECK_INT(html_tokenizer_feed(&tokenizer, "<a><b>", 6), -EIO);
    CHECK_INT(html_tokenizer_feed(&tokenizer, "<c>", 3), -EIO);
    CHECK_INT(html_tokenizer_end(&tokenizer), -EIO);
    CHECK_INT(calls, 1);
    html_tokenizer_finish(&tokenizer);
}

TEST(html_tokenizer_begins_again)
{
    struct page page = {.traces_places = true};

    html_tokenizer_init(&page.tokenizer, &sink, &page);
    CHECK_INT(html_tokenizer_feed(&page.tokenizer, "<script>\n</scr", 14), 0);
    html_tokenizer_reset(&page.tokenizer);
    page.text_n = 0;
    page.tokenizer.marks_tags = true;
    CHECK_INT(trace_pieces(&page, "<b>", 3, 1), 0);
    CHECK_TRACE("<script>@1:1 <b>@1:1 ");
    html_tokenizer_finish(&page.tokenizer);
}

/* ---- limits ------------------------------------------------------------------------ */

/* Return "<a b='xxx...'><i>" with a value of n bytes. The caller frees the text. */
static char *tag_with_value(size_t n)
{
    char *html = malloc(n + 16);

    strcpy(html, "<a b='");
    memset(html + 6, 'x', n);
    strcpy(html + 6 + n, "'><i>");
    return html;
}

TEST(html_values_are_cut_at_their_limit)
{
    static const size_t pieces[] = {1 << 30, 1000};
    char *html = tag_with_value(10 << 20);

    for (size_t i = 0; i < 2; i++) {
        struct page page = {.skipped = NULL};
        html_tokenizer_init(&page.tokenizer, &sink, &page);
        CHECK_INT(trace_pieces(&page, html, strlen(html), pieces[i]), 0);
        CHECK_TRACE("b=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx(cut) <a><i>");
        CHECK(page.tokenizer.value.capacity <= 2 * HTML_VALUE_BYTES);
        html_tokenizer_finish(&page.tokenizer);
    }
    free(html);
    html = tag_with_value(HTML_VALUE_BYTES);
    check(html, "b=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx <a><i>");
    free(html);
}

static int count_name(const struct html_name *name, bool is_end, bool is_self_closing,
                      void *arg)
{
    (void)is_end;
    (void)is_self_closing;
    *(size_t *)arg = name->n;
    return 0;
}

TEST(html_names_are_cut_at_their_limit)
{
    static const struct html_sink counting = {.tag_end = count_name};
    struct html_tokenizer tokenizer;
    char html[5000];
    size_t n = 0;

    memset(html, 'x', sizeof html);
    html[0] = '<';
    html_tokenizer_init(&tokenizer, &counting, &n);
    CHECK_INT(html_tokenizer_feed(&tokenizer, html, sizeof html), 0);
    CHECK_INT(html_tokenizer_feed(&tokenizer, "\0\0>", 3), 0);
    CHECK_INT(n, HTML_NAME_BYTES);
    html_tokenizer_finish(&tokenizer);
}

/* ---- time -------------------------------------------------------------------------- */

struct counts {
    size_t attributes, tags;
};

static int count_attribute(const struct html_name *name, const struct html_value *value,
                           void *arg)
{
    (void)name;
    (void)value;
    ((struct counts *)arg)->attributes++;
    return 0;
}

static int count_tag(const struct html_name *name, bool is_end, bool is_self_closing,
                     void *arg)
{
    (void)name;
    (void)is_end;
    (void)is_self_closing;
    ((struct counts *)arg)->tags++;
    return 0;
}

static bool want_tag(const struct html_name *name, bool is_end, void *arg)
{
    (void)name;
    (void)arg;
    return !is_end;
}

static struct counts count(const char *html, size_t n)
{
    static const struct html_sink counting = {
        .tag = want_tag, .attribute = count_attribute, .tag_end = count_tag};
    struct html_tokenizer tokenizer;
    struct counts counts = {0, 0};

    html_tokenizer_init(&tokenizer, &counting, &counts);
    CHECK_INT(html_tokenizer_feed(&tokenizer, html, n), 0);
    CHECK_INT(html_tokenizer_end(&tokenizer), 0);
    html_tokenizer_finish(&tokenizer);
    return counts;
}

static char *allocate(size_t n)
{
    char *bytes = malloc(n);

    if (bytes == NULL)
        abort();
    return bytes;
}

/* Measure the time to parse a tag with n attributes, each of which occurs twice. */
static double seconds_for_attributes(size_t n)
{
    char *html = allocate(24 * n + 16), *at = html;
    clock_t begin;
    struct counts counts;

    at += sprintf(at, "<a");
    for (size_t i = 0; i < 2 * n; i++)
        at += sprintf(at, " a%zu=1", i % n);
    at += sprintf(at, ">");
    begin = clock();
    counts = count(html, (size_t)(at - html));
    CHECK_INT(counts.attributes, n);
    free(html);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

/*
 * Parsing a tag with ten times as many attributes must take at most 40 times as long. If
 * the parser compared each attribute with all others, parsing would take a hundred times
 * as long.
 */
TEST(html_attributes_take_time_in_proportion)
{
    double ratio = 1000;

    for (int i = 0; i < 5 && ratio > 40; i++) {
        double few = seconds_for_attributes(20000), many = seconds_for_attributes(200000);
        if (many / few < ratio)
            ratio = many / few;
    }
    CHECK(ratio <= 40);
}

static char *write_long_tag(char *at)
{
    at += sprintf(at, "<a");
    for (size_t i = 0; i < 200000; i++)
        at += sprintf(at, " a%zu", i);
    return at + sprintf(at, ">");
}

/*
 * Measure the time to parse 20,000 tags with nine attributes, before or after a tag with
 * 200,000 attributes.
 */
static double seconds_with_long_tag(bool first)
{
    size_t tags = 20000;
    char *html = allocate(8 * 200000 + 32 * tags + 16), *at = html;
    clock_t begin;

    if (first)
        at = write_long_tag(at);
    for (size_t i = 0; i < tags; i++)
        at += sprintf(at, "<a a b c d e f g h i>");
    if (!first)
        at = write_long_tag(at);
    begin = clock();
    CHECK_INT(count(html, (size_t)(at - html)).tags, tags + 1);
    free(html);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

/*
 * Parsing the page that begins with the long tag may take at most ten times as long. If
 * the table of the long tag were cleared for each later tag, parsing would take a
 * thousand times as long.
 */
TEST(html_attributes_of_a_long_tag_do_not_slow_down_those_behind_it)
{
    double ratio = 1000;

    for (int i = 0; i < 5 && ratio > 10; i++) {
        double last = seconds_with_long_tag(false), first = seconds_with_long_tag(true);
        if (first / last < ratio)
            ratio = first / last;
    }
    CHECK(ratio <= 10);
}

TEST(html_tags_nest_without_end)
{
    size_t n = 1000000;
    char *html = allocate(3 * n);

    for (size_t i = 0; i < n; i++)
        memcpy(html + 3 * i, "<b>", 3);
    CHECK_INT(count(html, 3 * n).tags, n);
    free(html);
}
