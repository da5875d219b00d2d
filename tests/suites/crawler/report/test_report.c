/*
 * test_report.c - crawler/report/report.h: the layouts of the text report.
 */
#include "../../../../crawler/report/report.h"
#include "../../../harness/harness.h"
#include "../crawled.h"

#include <errno.h>
#include <unistd.h>

static struct crawled crawled;

static void begin(void)
{
    crawled_init(&crawled);
    crawled.options.quiet = true;
}

static void end(const char *expected)
{
    CHECK_INT(report_text(crawled_out(), &crawled.options, &crawled.targets,
                          &crawled.references, &crawled.summary),
              0);
    CHECK_STR(crawled_written(), expected);
    crawled_finish(&crawled);
}

TEST(report_without_anything_broken_is_the_totals)
{
    begin();
    crawled.options.quiet = false;
    crawled_target(&crawled, "/");
    crawled_target(&crawled, "/a");
    end("        2 ok\n"
        "3 pages, 1,234 links, 321 targets, 56.8 kB in 0.12 s\n");
}

TEST(report_totals_name_verdicts_and_statuses)
{
    begin();
    crawled.options.quiet = false;
    crawled.options.fail_on[VERDICT_BROKEN] = false;
    crawled.summary.verdict_links[VERDICT_OK] = 1;
    crawled.summary.verdict_urls[VERDICT_OK] = 1;
    crawled.summary.verdict_urls[VERDICT_BROKEN] = 2;
    crawled.summary.verdict_links[VERDICT_BROKEN] = 1204;
    crawled_target(&crawled, "/");
    crawled_missing(&crawled, "/a");
    crawled_missing(&crawled, "/b");
    crawled_bad(&crawled, "/c", VERDICT_BROKEN, REASON_STATUS, 500);
    crawled_bad(&crawled, "/d#x", VERDICT_FRAGMENT, REASON_NO_SUCH_ID, 0);
    crawled_bad(&crawled, "/e", VERDICT_REDIRECT, REASON_PERMANENT, 301);
    crawled_bad(&crawled, "/f", VERDICT_SKIPPED, REASON_EXCLUDED, 0);
    crawled_bad(&crawled, "http://x/", VERDICT_SKIPPED, REASON_EXTERNAL, 0);
    crawled_bad(&crawled, "http://y/", VERDICT_SKIPPED, REASON_EXTERNAL, 0);
    crawled_bad(&crawled, "http://z/", VERDICT_BLOCKED, REASON_STATUS, 999);
    end("/a  404 Not Found\n"
        "/b  404 Not Found\n"
        "/c  500 Internal Server Error\n"
        "/d#x  no element has this id\n"
        "\n"
        "        1 ok  (1 link)\n"
        "        1 redirect   permanent\n"
        "        3 broken     404 Not Found 2, 500 Internal Server Error 1  (2 URLs, "
        "1,204 links)\n"
        "        1 fragment   no element has this id\n"
        "        1 blocked    999\n"
        "        3 skipped    external 2, excluded 1\n"
        "3 pages, 1,234 links, 321 targets, 56.8 kB in 0.12 s\n");
}

TEST(report_a_single_link_is_a_line)
{
    begin();
    crawled_link(&crawled, crawled_missing(&crawled, "/a"), "/index.html", 12, 9, "../a");
    end("/index.html:12:9  ../a  404 Not Found\n");
}

TEST(report_a_target_that_many_pages_link_to_is_one_thing)
{
    struct target *target;
    char page[32];

    begin();
    target = crawled_missing(&crawled, "/search");
    for (int i = 0; i < 1500; i++) {
        snprintf(page, sizeof page, "/%d.html", i);
        crawled_link(&crawled, target, page, 42, 28, "search");
    }
    end("/search  404 Not Found\n"
        "    1,500 links: /0.html:42:28, /1.html:42:28, /2.html:42:28, /3.html:42:28, "
        "...\n");
}

TEST(report_a_page_with_many_broken_links_is_one_thing)
{
    begin();
    crawled_link(&crawled, crawled_missing(&crawled, "/x/a"), "/p", 3, 9, "x/a");
    crawled_link(&crawled, crawled_missing(&crawled, "/y/b"), "/p", 12, 10, "y/b");
    crawled_link(&crawled, crawled_missing(&crawled, "/z/c"), "/p", 1, 1, "z/c");
    end("/p  3 links, 404 Not Found\n"
        "    1:1     z/c\n"
        "    3:9     x/a\n"
        "    12:10   y/b\n");
}

TEST(report_says_why_at_each_link_where_it_differs)
{
    begin();
    crawled_link(&crawled, crawled_missing(&crawled, "/a"), "/p", 3, 9, "a");
    crawled_link(&crawled,
                 crawled_bad(&crawled, "/q#x", VERDICT_FRAGMENT, REASON_NO_SUCH_ID, 0),
                 "/p", 4, 9, "q#x");
    end("/p  2 links\n"
        "    3:9     a  404 Not Found\n"
        "    4:9     q#x  no element has this id\n");
}

/*
 * The report groups eleven broken links into three entries, the smallest possible number.
 */
TEST(report_groups_links_into_the_fewest_entries)
{
    char path[32];

    begin();
    for (int i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "/p%d", i);
        crawled_link(&crawled, crawled_missing(&crawled, "/logo"), path, 7, 1, "logo");
    }
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "/gone%d", i);
        crawled_link(&crawled, crawled_missing(&crawled, path), "/p0", 20U + (unsigned)i,
                     1, path);
    }
    crawled_link(&crawled, crawled_missing(&crawled, "/one"), "/p3", 9, 9, "one");
    end("/logo  404 Not Found\n"
        "    6 links: /p0:7:1, /p1:7:1, /p2:7:1, /p3:7:1, /p4:7:1, /p5:7:1\n"
        "/p0  4 links, 404 Not Found\n"
        "    20:1    /gone0\n"
        "    21:1    /gone1\n"
        "    22:1    /gone2\n"
        "    23:1    /gone3\n"
        "/p3:9:9  one  404 Not Found\n");
}

TEST(report_a_folder_of_missing_targets_is_one_thing)
{
    char path[32], page[32];

    begin();
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 50; j++) {
            snprintf(path, sizeof path, "/img/%d.png", i);
            snprintf(page, sizeof page, "/p%d", j);
            crawled_link(&crawled, crawled_missing(&crawled, path), page, 7, 1, path);
        }
    end("/img/  40 URLs, 404 Not Found\n"
        "    0.png, 1.png, 2.png, 3.png, 4.png, 5.png, 6.png, 7.png, 8.png, 9.png, "
        "10.png, "
        "11.png, ...\n"
        "    2,000 links: /p0:7:1, /p1:7:1, /p2:7:1, /p3:7:1, /p4:7:1, /p5:7:1, /p6:7:1, "
        "...\n");
}

TEST(report_links_of_a_page_into_one_folder_are_one_item)
{
    char path[32];

    begin();
    for (int i = 0; i < 300; i++) {
        snprintf(path, sizeof path, "/matrix/%d.html", i);
        crawled_link(&crawled, crawled_missing(&crawled, path), "/p", 10U + (unsigned)i,
                     5, path + 1);
    }
    crawled_link(&crawled, crawled_missing(&crawled, "/other"), "/p", 500, 1, "other");
    end("/p  301 links, 404 Not Found\n"
        "    10:5    /matrix/  300 URLs: 0.html, 1.html, 2.html, 3.html, 4.html, "
        "5.html, 6.html, 7.html, ...\n"
        "    500:1   other\n");
}

/* A missing page counts as one target, even if links to it have different fragments. */
TEST(report_fragments_of_a_missing_page_are_one_target)
{
    begin();
    crawled_missing(&crawled, "/a")->is_wanted = false;
    crawled_link(&crawled, crawled_missing(&crawled, "/a#x"), "/p", 1, 1, "a#x");
    crawled_link(&crawled, crawled_missing(&crawled, "/a#y"), "/p", 2, 1, "a#y");
    crawled_link(&crawled, crawled_missing(&crawled, "/a#z"), "/p", 3, 1, "a#z");
    end("/p:1:1  a (3 links)  404 Not Found\n");
}

TEST(report_follows_redirects_to_what_is_missing)
{
    struct target *old, *gone;

    begin();
    old = crawled_missing(&crawled, "/old");
    gone = crawled_missing(&crawled, "/gone");
    old->next = gone;
    gone->is_wanted = false;
    crawled_link(&crawled, old, "/p", 5, 6, "old");
    end("/p:5:6  old  404 Not Found, redirects to /gone\n");
}

TEST(report_a_circle_of_redirects_ends)
{
    struct target *a, *b;

    begin();
    a = crawled_bad(&crawled, "/a", VERDICT_BROKEN, REASON_REDIRECT_CIRCLE, 302);
    b = crawled_bad(&crawled, "/b", VERDICT_BROKEN, REASON_REDIRECT_CIRCLE, 302);
    a->next = b;
    b->next = a;
    b->is_wanted = false;
    crawled_link(&crawled, a, "/p", 5, 6, "a");
    end("/p:5:6  a  a circle of redirects\n");
}

TEST(report_prefers_the_message_of_what_failed)
{
    struct target *target;

    begin();
    target = crawled_bad(&crawled, "http://nowhere/", VERDICT_ERROR, REASON_NETWORK, 0);
    target->message = "no such host: nowhere";
    crawled_link(&crawled, target, "/p", 5, 6, "http://nowhere/");
    end("/p:5:6  http://nowhere/  no such host: nowhere\n");
}

TEST(report_names_a_start_as_a_whole)
{
    begin();
    crawled_missing(&crawled, "/a")->is_start = true;
    crawled_link(&crawled, crawled_missing(&crawled, "/b"), "/p", 5, 6, "b");
    end("http://h/a  404 Not Found\n"
        "/p:5:6  b  404 Not Found\n");
}

TEST(report_names_files_by_their_paths_from_here)
{
    begin();
    CHECK_INT(chdir("/usr"), 0);
    crawled_link(&crawled,
                 crawled_bad(&crawled, "file:///usr/gone.md", VERDICT_BROKEN,
                             REASON_NO_SUCH_FILE, 0),
                 "file:///usr/docs/a%20b.html", 5, 6, "../gone.md");
    crawled_link(
        &crawled,
        crawled_bad(&crawled, "file:///opt/x.md", VERDICT_BROKEN, REASON_NO_SUCH_FILE, 0),
        "file:///opt/y.md", 7, 8, "x.md");
    end("docs/a b.html:5:6  ../gone.md  no such file\n"
        "/opt/y.md:7:8  x.md  no such file\n");
}

TEST(report_shortens_what_is_long_and_shows_it_with_v)
{
    const char *url =
        "http://elsewhere/a/very/long/way/to/a/file/that/has/a/very/long/name"
        "/indeed/it/does.html";

    begin();
    crawled_link(&crawled, crawled_missing(&crawled, url), "/p", 5, 6, url);
    end("/p:5:6  http://elsewhere/a/very/long/w...ng/name/indeed/it/does.html  404 Not "
        "Found\n");
    begin();
    crawled.options.verbosity = 1;
    crawled_link(&crawled, crawled_missing(&crawled, url), "/p", 5, 6, url);
    end("/p:5:6  http://elsewhere/a/very/long/way/to/a/file/that/has/a/very/long/name"
        "/indeed/it/does.html  404 Not Found\n");
}

TEST(report_is_a_screen_and_all_with_v)
{
    char path[32], page[32];
    size_t lines = 0;

    for (unsigned verbosity = 0; verbosity < 2; verbosity++) {
        begin();
        crawled.options.verbosity = verbosity;
        for (int i = 0; i < 100; i++) {
            snprintf(path, sizeof path, "/f%d/gone", i);
            snprintf(page, sizeof page, "/p%d", i);
            crawled_link(&crawled, crawled_missing(&crawled, path), page, 1, 1, path);
        }
        CHECK_INT(report_text(crawled_out(), &crawled.options, &crawled.targets,
                              &crawled.references, &crawled.summary),
                  0);
        lines = 0;
        for (const char *c = crawled_written(); *c != '\0'; c++)
            lines += *c == '\n';
        CHECK_INT(lines, verbosity > 0 ? 100 : 21);
        crawled_finish(&crawled);
    }
}

TEST(report_counts_what_it_leaves_out)
{
    char path[32], page[32];
    const char *written;

    begin();
    for (int i = 0; i < 100; i++) {
        snprintf(path, sizeof path, "/f%d/gone", i);
        snprintf(page, sizeof page, "/p%d", i);
        crawled_link(&crawled, crawled_missing(&crawled, path), page, 1, 1, path);
    }
    CHECK_INT(report_text(crawled_out(), &crawled.options, &crawled.targets,
                          &crawled.references, &crawled.summary),
              0);
    written = crawled_written();
    CHECK(strstr(written, "\nand 80 more links; -v shows all\n") != NULL);
    crawled_finish(&crawled);
}

TEST(report_shows_places_one_by_one_with_v)
{
    begin();
    crawled.options.verbosity = 1;
    for (int i = 0; i < 3; i++)
        crawled_link(&crawled, crawled_missing(&crawled, "/a"),
                     i == 0   ? "/p"
                     : i == 1 ? "/q"
                              : "/r",
                     1, 2, "a");
    end("/a  404 Not Found\n"
        "    3 links:\n"
        "        /p:1:2  a\n"
        "        /q:1:2  a\n"
        "        /r:1:2  a\n");
}

TEST(report_shows_the_rest_with_v_and_more_with_vv)
{
    begin();
    crawled.options.verbosity = 1;
    crawled_link(&crawled,
                 crawled_bad(&crawled, "http://x/", VERDICT_BLOCKED, REASON_STATUS, 403),
                 "/p", 1, 2, "//x");
    end("\nBlocked, although a human may get there:\n"
        "/p:1:2  //x  403 Forbidden\n");
    begin();
    crawled.options.verbosity = 2;
    crawled_link(&crawled,
                 crawled_bad(&crawled, "/robots", VERDICT_SKIPPED, REASON_ROBOTS, 0),
                 "/p", 1, 2, "robots");
    end("\nSkipped:\n"
        "/robots  robots.txt forbids it (1 link)\n");
}

TEST(report_prints_nothing_for_the_terminal_to_obey)
{
    begin();
    crawled_link(&crawled, crawled_missing(&crawled, "/a"), "/p", 1, 1,
                 "a\x1b[31m\n\x7f");
    end("/p:1:1  a?[31m??  404 Not Found\n");
}

TEST(report_masks_passwords)
{
    begin();
    crawled_link(&crawled, crawled_missing(&crawled, "http://me:secret@x/"),
                 "http://me:secret@y/", 1, 1, "//me:secret@x/");
    end("http://me:***@y/:1:1  //me:***@x/  404 Not Found\n");
}

TEST(report_has_colours_if_they_are_wanted)
{
    begin();
    crawled.options.color = COLOR_ALWAYS;
    crawled_link(&crawled, crawled_missing(&crawled, "/a"), "/p", 1, 1, "a");
    end("\x1b[1m/p:1:1\x1b[0m  a  \x1b[31m404 Not Found\x1b[0m\n");
}

TEST(report_counts_what_the_baseline_has_and_does_not_tell_it)
{
    begin();
    crawled.options.quiet = false;
    crawled.links_are_known = true;
    crawled_link(&crawled, crawled_missing(&crawled, "/a"), "/p", 1, 1, "a");
    crawled_missing(&crawled, "/a")->is_known = true;
    end("        1 ok\n"
        "        1 broken     404 Not Found\n"
        "1 finding is in the baseline\n"
        "3 pages, 1,234 links, 321 targets, 56.8 kB in 0.12 s\n");
}

/* The verdict of "/b" differs from the baseline. */
TEST(report_tells_links_that_the_baseline_lacks)
{
    begin();
    crawled.links_are_known = true;
    crawled_link(&crawled, crawled_missing(&crawled, "/a"), "/p", 1, 1, "a");
    crawled_link(&crawled, crawled_missing(&crawled, "/b"), "/q", 5, 1, "b");
    crawled.links_are_known = false;
    crawled_link(&crawled, crawled_missing(&crawled, "/a"), "/new", 2, 1, "a");
    crawled_missing(&crawled, "/a")->is_known = true;
    end("/q:5:1  b  404 Not Found\n"
        "/new:2:1  a  404 Not Found\n");
}

TEST(report_tells_when_it_cannot_be_written)
{
    struct out out;

    if (access("/dev/full", W_OK) < 0)
        test_skip("there is no /dev/full");
    begin();
    crawled_link(&crawled, crawled_missing(&crawled, "/a"), "/p", 1, 1, "a");
    CHECK_INT(out_open(&out, "/dev/full"), 0);
    report_text(&out, &crawled.options, &crawled.targets, &crawled.references,
                &crawled.summary);
    CHECK_INT(out_close(&out), -ENOSPC);
    crawled_finish(&crawled);
}

/*
 * The report of a page with 100,000 broken links must be short, and must be written
 * quickly.
 */
TEST(report_of_very_many_links)
{
    char path[32];
    const char *written;

    begin();
    for (int i = 0; i < 100000; i++) {
        snprintf(path, sizeof path, "/f%d/x", i);
        crawled_link(&crawled, crawled_missing(&crawled, path), "/p", 1U + (unsigned)i, 1,
                     "x");
    }
    CHECK_INT(report_text(crawled_out(), &crawled.options, &crawled.targets,
                          &crawled.references, &crawled.summary),
              0);
    written = crawled_written();
    CHECK_STR(written, "/p  100,000 links, 404 Not Found\n"
                       "    1:1     x\n"
                       "    2:1     x\n"
                       "    3:1     x\n"
                       "    4:1     x\n"
                       "    5:1     x\n"
                       "    and 99,995 more\n");
    crawled_finish(&crawled);
}
