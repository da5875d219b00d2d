/*
 * test_digest.c - crawler/report/digest.h: the records that a digest stores, and their
 * order.
 */
#include "../../../../crawler/report/digest.h"
#include "../../../harness/harness.h"
#include "../digested.h"

static struct digested digested;

/*
 * Compare the rows, each formatted as "page:line:column text > target verdict", and free
 * the digest.
 */
static void end(const char *expected)
{
    static char printed[1 << 16];
    size_t n = 0;

    digested_end(&digested, 2);
    for (size_t i = 0; i < digested.digest.row_count; i++) {
        const struct digest_row *row = &digested.digest.rows[i];
        const struct finding *finding = row->finding;
        char *text = digest_text(row);

        if (row->link != NULL)
            n += (size_t)snprintf(printed + n, sizeof printed - n, "%s:%u:%u ",
                                  row->link->page->url, row->link->line,
                                  row->link->column);
        n += (size_t)snprintf(printed + n, sizeof printed - n, "%s > %s %s\n", text,
                              finding->target, verdict_word(finding->verdict));
        free(text);
    }
    printed[n] = '\0';
    CHECK_STR(printed, expected);
    digested_finish(&digested);
}

TEST(digest_keeps_links_that_are_told_before_and_after_their_verdict)
{
    digested_init(&digested);
    digested_link(&digested, "http://h/", 1, 2, "gone", "http://h/gone", NULL);
    digested_missing(&digested, "http://h/gone");
    digested_page(&digested, "http://h/");
    digested_link(&digested, "http://h/b", 3, 4, "/gone", "http://h/gone", NULL);
    digested_page(&digested, "http://h/b");
    end("http://h/:1:2 gone > http://h/gone broken\n"
        "http://h/b:3:4 /gone > http://h/gone broken\n");
}

TEST(digest_forgets_links_to_what_is_well)
{
    digested_init(&digested);
    for (int i = 0; i < 1000; i++) {
        char page[32], target[32];

        snprintf(page, sizeof page, "http://h/%d", i);
        snprintf(target, sizeof target, "http://h/to/%d", i);
        digested_link(&digested, page, 1, 1, "as it is written", target, NULL);
        digested_verdict(&digested, target, NULL, VERDICT_OK, REASON_NONE, 200, NULL);
        digested_link(&digested, page, 2, 1, "and again", target, NULL);
        digested_page(&digested, page);
    }
    CHECK_INT(digested.digest.link_count, 1); /* every page reuses this slot */
    CHECK_INT(digested.digest.open_count, 0);
    CHECK_INT(digested.digest.finding_count, 0);
    end("");
}

/*
 * Beyond the first hundred links to a target, the first link on each page is stored,
 * whether its record precedes or follows the verdict.
 */
TEST(digest_keeps_the_first_link_on_each_page_beyond_a_hundred)
{
    digested_init(&digested);
    for (int page = 0; page < 9; page++) {
        char url[32];

        snprintf(url, sizeof url, "http://h/%d", page);
        for (unsigned line = 1; line <= 40; line++)
            digested_link(&digested, url, line, 1, "x", "http://h/x", NULL);
        digested_page(&digested, url);
        if (page == 4)
            digested_missing(&digested, "http://h/x");
    }
    digested_end(&digested, 2);
    CHECK_INT(digested.digest.row_count, DIGEST_LINKS_KEPT + 6);
    for (int i = 0; i < 6; i++) {
        const struct digest_row *row = &digested.digest.rows[DIGEST_LINKS_KEPT + i];
        CHECK_INT(row->link->page->url[strlen("http://h/")], '3' + i);
        CHECK_INT(row->link->line, 1);
    }
    CHECK_INT(digested.digest.unstored_counts[FINDING_FAILS],
              360 - DIGEST_LINKS_KEPT - 6);
    digested_finish(&digested);
}

TEST(digest_keeps_the_first_hundred_links_and_counts_all)
{
    digested_init(&digested);
    for (unsigned i = 1; i <= 90; i++)
        digested_link(&digested, "http://h/", i, 1, "x", "http://h/x", NULL);
    digested_missing(&digested, "http://h/x");
    for (unsigned i = 91; i <= 250; i++)
        digested_link(&digested, "http://h/", i, 1, "x", "http://h/x", NULL);
    digested_end(&digested, 2);
    CHECK_INT(digested.digest.row_count, DIGEST_LINKS_KEPT);
    CHECK_INT(digested.digest.rows[99].link->line, 100);
    CHECK_INT(digested.digest.rows[0].finding->link_count, 250);
    CHECK_INT(digested.digest.unstored_counts[FINDING_FAILS], 150);
    digested_finish(&digested);
}

TEST(digest_is_in_the_order_of_places_whatever_was_told_first)
{
    digested_init(&digested);
    digested_link(&digested, "http://h/b", 9, 1, "x", "http://h/x", NULL);
    digested_link(&digested, "http://h/a", 10, 3, "y", "http://h/y", NULL);
    digested_link(&digested, "http://h/b", 1, 1, "y", "http://h/y", NULL);
    digested_link(&digested, "http://h/a", 10, 2, "x", "http://h/x", NULL);
    digested_missing(&digested, "http://h/y");
    digested_missing(&digested, "http://h/x");
    digested_missing(&digested, "http://h/");
    end("http://h/ > http://h/ broken\n"
        "http://h/a:10:2 x > http://h/x broken\n"
        "http://h/a:10:3 y > http://h/y broken\n"
        "http://h/b:1:1 y > http://h/y broken\n"
        "http://h/b:9:1 x > http://h/x broken\n");
}

TEST(digest_gives_texts_back_as_they_were_written)
{
    static const char *const texts[] = {"http://h/x#a b", "x#a b", "#a b",        "X#a b",
                                        "x#a%20b",        "",      "no end of it"};
    char expected[1024];
    size_t n = 0;

    digested_init(&digested);
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        digested_link(&digested, "http://h/", i + 1, 1, texts[i], "http://h/x", "a b");
        n += (size_t)snprintf(expected + n, sizeof expected - n,
                              "http://h/:%u:1 %s > http://h/x fragment\n", i + 1,
                              texts[i]);
    }
    digested_verdict(&digested, "http://h/x", "a b", VERDICT_FRAGMENT, REASON_NO_SUCH_ID,
                     200, "no element has this id");
    end(expected);
}

TEST(digest_cuts_texts_that_are_very_long)
{
    char text[5000], *printed;
    struct digest_row row;

    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    digested_init(&digested);
    digested_link(&digested, "http://h/", 1, 1, text, NULL, NULL);
    digested_verdict(&digested, text, NULL, VERDICT_BROKEN, REASON_NOT_A_URL, 0,
                     "not a URL");
    digested_end(&digested, 2);
    row = digested.digest.rows[0];
    printed = digest_text(&row);
    CHECK_INT(strlen(printed), 203);
    CHECK_INT(strlen(row.finding->target), 4099);
    free(printed);
    digested_finish(&digested);
}

TEST(digest_tells_fragments_apart)
{
    digested_init(&digested);
    digested_link(&digested, "http://h/", 1, 1, "x#a", "http://h/x", "a");
    digested_link(&digested, "http://h/", 2, 1, "x#b", "http://h/x", "b");
    digested_link(&digested, "http://h/", 3, 1, "x", "http://h/x", NULL);
    digested_verdict(&digested, "http://h/x", "a", VERDICT_FRAGMENT, REASON_NO_SUCH_ID,
                     200, "no element has this id");
    digested_verdict(&digested, "http://h/x", "b", VERDICT_OK, REASON_NONE, 200, NULL);
    digested_verdict(&digested, "http://h/x", NULL, VERDICT_OK, REASON_NONE, 200, NULL);
    end("http://h/:1:1 x#a > http://h/x fragment\n");
}

/*
 * If a redirect leads to a broken target, the digest stores the URL of that target with
 * the finding.
 */
TEST(digest_stores_the_broken_target_of_a_redirect)
{
    digested_init(&digested);
    digested_link(&digested, "http://h/", 1, 1, "a", "http://h/a", NULL);
    digested_redirect(&digested, "http://h/a", 302, "http://h/b");
    digested_missing(&digested, "http://h/a");
    digested_end(&digested, 2);
    CHECK_INT(digested.digest.row_count, 1);
    CHECK_STR(digested.digest.rows[0].finding->target, "http://h/a");
    CHECK_STR(digested.digest.rows[0].finding->leads_to, "http://h/b");
    digested_finish(&digested);
}

/*
 * A link that is redirected permanently should be changed to the target of the last
 * permanent redirect in the chain.
 */
TEST(digest_follows_permanent_redirects)
{
    static const struct {
        const char *url, *leads_to;
    } expected[] = {{"http://h/a", "http://h/c"}, {"http://h/b", "http://h/c"}};

    digested_init(&digested);
    digested_redirect(&digested, "http://h/a", 301, "http://h/b");
    digested_redirect(&digested, "http://h/b", 308, "http://h/c");
    digested_redirect(&digested, "http://h/c", 302, "http://h/d");
    digested_redirect(&digested, "http://h/t", 302, "http://h/b");
    for (const char *name = "abct"; *name != '\0'; name++) {
        char url[] = "http://h/?";

        url[9] = *name;
        digested_link(&digested, "http://h/", (unsigned)*name, 1, url, url, NULL);
        digested_verdict(&digested, url, NULL, VERDICT_REDIRECT,
                         *name == 'c' ? REASON_TEMPORARY : REASON_CHAIN, 301, NULL);
    }
    digested_end(&digested, 0);
    CHECK_INT(digested.digest.kind_counts[FINDING_MOVED], 2);
    for (size_t i = 0; i < 2; i++) {
        CHECK_STR(digested.digest.rows[i].finding->target, expected[i].url);
        CHECK_STR(digested.digest.rows[i].finding->leads_to, expected[i].leads_to);
    }
    digested_finish(&digested);
}

TEST(digest_leads_out_of_circles)
{
    digested_init(&digested);
    digested_link(&digested, "http://h/", 1, 1, "a", "http://h/a", NULL);
    digested_redirect(&digested, "http://h/a", 301, "http://h/b");
    digested_redirect(&digested, "http://h/b", 301, "http://h/a");
    digested_verdict(&digested, "http://h/a", NULL, VERDICT_BROKEN,
                     REASON_REDIRECT_CIRCLE, 301, "a circle of redirects");
    end("http://h/:1:1 a > http://h/a broken\n");
}

TEST(digest_leaves_out_what_the_baseline_has)
{
    struct record_verdict known = {.target = "http://h/x",
                                   .verdict = VERDICT_BROKEN,
                                   .reason = REASON_STATUS,
                                   .status = 404,
                                   .is_known = true};
    struct record_link link = {.page = "http://h/",
                               .text = "x",
                               .line = 1,
                               .column = 1,
                               .target = "http://h/x",
                               .is_known = true};

    digested_init(&digested);
    CHECK_INT(digested.sink.link(digested.sink.arg, &link), 0);
    CHECK_INT(digested.sink.verdict(digested.sink.arg, &known), 0);
    link.line = 2;
    CHECK_INT(digested.sink.link(digested.sink.arg, &link), 0);
    CHECK_INT(digested.digest.totals[0].count, 1);
    digested_end(&digested, 0);
    CHECK_INT(digested.digest.known_count, 1);
    CHECK_INT(digested.digest.row_count, 0);
    digested_finish(&digested);
}

/*
 * A link in the baseline is reported only if its verdict has changed. The link's record
 * may precede or follow the verdict.
 */
TEST(digest_tells_links_that_the_baseline_lacks)
{
    static const bool known[] = {true, false, true, true, false};

    for (int is_known = 0; is_known < 2; is_known++) {
        struct record_verdict verdict = {.target = "http://h/x",
                                         .verdict = VERDICT_BROKEN,
                                         .reason = REASON_STATUS,
                                         .status = 404,
                                         .is_known = is_known};
        struct record_link link = {
            .page = "http://h/", .text = "x", .target = "http://h/x"};

        digested_init(&digested);
        for (unsigned i = 0; i < 5; i++) {
            link.line = i + 1;
            link.column = 1;
            link.is_known = known[i];
            if (i == 3)
                CHECK_INT(digested.sink.verdict(digested.sink.arg, &verdict), 0);
            CHECK_INT(digested.sink.link(digested.sink.arg, &link), 0);
        }
        digested_end(&digested, 2);
        CHECK_INT(digested.digest.row_count, is_known ? 2 : 5);
        CHECK_INT(digested.digest.rows[0].link->line, is_known ? 2 : 1);
        CHECK_INT(digested.digest.rows[0].finding->link_count, is_known ? 2 : 5);
        CHECK_INT(digested.digest.known_count, 0);
        digested_finish(&digested);
    }
}

TEST(digest_fails_on_what_the_options_say)
{
    digested_init(&digested);
    digested.options.fail_on[VERDICT_FRAGMENT] = false;
    digested.options.fail_on[VERDICT_SKIPPED] = true;
    digested_verdict(&digested, "http://h/a", NULL, VERDICT_BROKEN, REASON_STATUS, 404,
                     NULL);
    digested_verdict(&digested, "http://h/b", "x", VERDICT_FRAGMENT, REASON_NO_SUCH_ID, 0,
                     NULL);
    digested_verdict(&digested, "mailto:c", NULL, VERDICT_SKIPPED, REASON_SCHEME, 0,
                     NULL);
    digested_verdict(&digested, "http://h/d", NULL, VERDICT_UNCHECKED, REASON_OFFLINE, 0,
                     NULL);
    digested_verdict(&digested, "http://h/e", NULL, VERDICT_BLOCKED, REASON_STATUS, 403,
                     NULL);
    digested_end(&digested, 2);
    CHECK_INT(digested.digest.kind_counts[FINDING_FAILS], 2);
    CHECK_INT(digested.digest.kind_counts[FINDING_WARNS], 2);
    CHECK_INT(digested.digest.row_count, 4);
    digested_finish(&digested);
}

/*
 * Links on several pages are added in interleaved order, as several workers would add
 * them.
 */
TEST(digest_keeps_pages_apart_that_are_searched_at_a_time)
{
    digested_init(&digested);
    for (unsigned line = 1; line <= 50; line++)
        for (int page = 0; page < 20; page++) {
            char url[32];

            snprintf(url, sizeof url, "http://h/%d", page);
            digested_link(&digested, url, line, 1, "x", "http://h/x", NULL);
            if (line == 50)
                digested_page(&digested, url);
        }
    CHECK_INT(digested.digest.open_count, 0);
    digested_missing(&digested, "http://h/x");
    digested_end(&digested, 2);
    for (size_t i = 0; i < digested.digest.row_count; i++)
        CHECK_INT(digested.digest.rows[i].link->line, i % 5 + 1);
    digested_finish(&digested);
}

TEST(digest_counts_by_verdict_and_cause)
{
    char to[DIGEST_CAUSE_BYTES];

    digested_init(&digested);
    digested_verdict(&digested, "http://h/1", NULL, VERDICT_BROKEN, REASON_STATUS, 500,
                     NULL);
    digested_verdict(&digested, "http://h/2", NULL, VERDICT_BROKEN, REASON_STATUS, 404,
                     NULL);
    digested_verdict(&digested, "http://h/3", NULL, VERDICT_BROKEN, REASON_STATUS, 404,
                     NULL);
    digested_verdict(&digested, "http://h/4", NULL, VERDICT_OK, REASON_NONE, 200, NULL);
    digested_end(&digested, 2);
    CHECK_INT(digested.digest.total_count, 3);
    CHECK_INT(digested.digest.totals[0].verdict, VERDICT_OK);
    CHECK_INT(digested.digest.totals[1].count, 2);
    CHECK_STR(digest_total_cause(&digested.digest.totals[1], to), "404 Not Found");
    digested_finish(&digested);
}
