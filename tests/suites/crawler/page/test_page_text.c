/*
 * test_page_text.c - crawler/page/page_text.h: the text of a page, and text fragments in
 * it.
 */
#include "../../../../crawler/page/page_text.h"
#include "../../../harness/harness.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check_text(const char *html, const char *expected)
{
    char *text;

    CHECK_INT(page_text(html, strlen(html), &text), 0);
    CHECK_STR(text, expected);
    free(text);
}

TEST(page_text_is_what_is_shown)
{
    check_text("<title>no</title><h1>A  <b>Title</b></h1>\n<p>x&amp;y<br>z",
               "a title\nx&y z");
    check_text("<p>a<i>b</i>c <script>no</script><style>no</style>d<p> e <div>f",
               "abc d\ne\nf");
    check_text("<td>a</td><td>b</td>\xc3\x84\xc2\xa0\xc2\xa0\xce\xa9",
               "a\nb\n\xc3\xa4 \xcf\x89");
    check_text("<textarea>no</textarea>", "");
    check_text("", "");
}

static int has(const char *html, const char *directive)
{
    char *text;
    int has;

    CHECK_INT(page_text(html, strlen(html), &text), 0);
    has = page_text_has(text, directive);
    free(text);
    return has;
}

/* The examples in the first section of "URL Fragment Text Directives". */
TEST(page_text_has_what_a_directive_asks_for)
{
    static const char page[] = "<h1>An Example Page</h1><p>This is an <b>example</b> of "
                               "a text, and of an example text: it "
                               "ends.<p>Another paragraph\xe2\x80\x99s end. Stra\xc3\x9f"
                               "e, 100%, a-b, c,d &amp; e.";

    CHECK_INT(has(page, "text=an%20example"), 1);
    CHECK_INT(has(page, "text=AN%20EXAMPLE%20of"), 1);
    CHECK_INT(has(page, "text=an%20exam"), 0); /* not whole words */
    CHECK_INT(has(page, "text=xample"), 0);
    CHECK_INT(has(page, "text=page%20this"), 0); /* two blocks */
    CHECK_INT(has(page, "text=this,ends"), 1);
    CHECK_INT(has(page, "text=ends,this"), 0);
    CHECK_INT(has(page, "text=this,another%20paragraph"), 1);
    CHECK_INT(has(page, "text=an-,example,-text"), 1);
    CHECK_INT(has(page, "text=an-,example,-of"), 1);
    CHECK_INT(has(page, "text=an-,example,-missing"), 0);
    CHECK_INT(has(page, "text=missing-,example"), 0);
    CHECK_INT(has(page, "text=page-,this"), 1); /* the prefix may be the end of a block */
    CHECK_INT(has(page, "text=an,text,-:"), 1);
    CHECK_INT(has(page, "text=text&text=paragraph"), 1);
    CHECK_INT(has(page, "text=text&text=missing"), 0);
    CHECK_INT(has(page, "foo=x&text=text&bar"), 1);
    CHECK_INT(has(page, "text=Stra%C3%9Fe"), 1);
    CHECK_INT(has(page, "text=100%25"), 1);
    CHECK_INT(has(page, "text=a%2Db"), 1);
    CHECK_INT(has(page, "text=c%2Cd%20%26%20e"), 1);
    CHECK_INT(has(page, "text=paragraph%E2%80%99s"), 1);
}

/* A malformed directive counts as found, because browsers ignore it. */
TEST(page_text_has_all_of_a_malformed_directive)
{
    static const char *const malformed[] = {
        "text=",         "text=a,b,c,d,e", "text=,a", "text=a,",
        "text=a-,b,c,d", "text=%20",       "text",    ""};

    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        CHECK_INT(has("<p>x", malformed[i]), 1);
}

TEST(page_text_of_scripts_without_spaces)
{
    CHECK_INT(has("<p>\u4eca\u65e5\u306f\u4e16\u754c", "text=\u4e16\u754c"), 1);
    CHECK_INT(has("<p>caf\u00e9s", "text=caf\u00e9"), 0);
}

TEST(page_text_takes_time_in_proportion)
{
    static const char *const directives[] = {"text=a",         "text=b",    "text=a,b",
                                             "text=a-,b",      "text=a,-b", "text=a,a,-b",
                                             "text=aa-,a,a,-b"};
    size_t n = 1 << 20;
    char *html = malloc(n);
    clock_t begin = clock();

    for (size_t i = 0; i < n; i++)
        html[i] = "a "[i % 2];
    html[n - 1] = '\0';
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        CHECK_INT(has(html, directives[i]), i == 0);
    CHECK((clock() - begin) / CLOCKS_PER_SEC < 10);
    free(html);
}
