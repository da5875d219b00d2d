/*
 * test_github.c - crawler/report/github.h: checks each byte of the annotations.
 */
#include "../../../../crawler/report/github.h"
#include "../../../harness/harness.h"
#include "../crawled.h"

#include <unistd.h>

static struct crawled crawled;

static void end(const char *expected)
{
    CHECK_INT(report_github(crawled_out(), &crawled.options, &crawled.targets,
                            &crawled.references),
              0);
    CHECK_STR(crawled_written(), expected);
    crawled_finish(&crawled);
}

TEST(github_annotates_lines_of_files)
{
    struct target *file;
    char url[64];

    CHECK_INT(chdir("/usr"), 0);
    crawled_init(&crawled);
    for (int i = 0; i < 2; i++) {
        snprintf(url, sizeof url, "file:///%s/docs/a,1:2%%25%%20b.md",
                 i == 0 ? "usr" : "opt");
        crawled_link(&crawled,
                     crawled_bad(&crawled,
                                 i == 0 ? "file:///usr/docs/b.md" : "file:///c.md",
                                 VERDICT_BROKEN, REASON_NO_SUCH_FILE, 0),
                     url, 12, 9, "b.md");
        file = crawled_target(&crawled, url);
        file->kind = TARGET_FILE;
    }
    end("::error file=docs/a%2C1%3A2%25 b.md,line=12,col=9,title=broken link::"
        "b.md: no such file\n"
        "::error file=/opt/docs/a%2C1%3A2%25 b.md,line=12,col=9,title=broken link::"
        "b.md: no such file\n");
}

TEST(github_names_pages_that_are_no_files)
{
    crawled_init(&crawled);
    crawled_link(&crawled, crawled_missing(&crawled, "/b"), "/a", 12, 9, "100%\r\n");
    crawled_link(&crawled, crawled_missing(&crawled, "/c"), "/b", 0, 0, "/c");
    end("::error title=broken link::100%25%0D%0A: 404 Not Found (on http://h/a:12:9)\n"
        "::error title=broken link::/c: 404 Not Found (on http://h/b:header)\n");
}

TEST(github_annotates_in_the_order_of_the_pages)
{
    struct target *gone;

    crawled_init(&crawled);
    gone = crawled_missing(&crawled, "/gone");
    crawled_link(&crawled, gone, "/a", 1, 2, "gone");
    crawled_link(&crawled, gone, "/a", 3, 4, "/gone");
    crawled_link(&crawled, gone, "/b", 5, 6, "gone");
    end("::error title=broken link::gone: 404 Not Found (on http://h/a:1:2)\n"
        "::error title=broken link::/gone: 404 Not Found (on http://h/a:3:4)\n"
        "::error title=broken link::gone: 404 Not Found (on http://h/b:5:6)\n");
}

TEST(github_counts_the_links_whose_places_are_not_kept)
{
    const char *rest, *written;
    struct target *gone;
    size_t lines = 0;

    crawled_init(&crawled);
    gone = crawled_missing(&crawled, "/gone");
    for (unsigned i = 1; i <= REFERENCES_KEPT + 23; i++)
        crawled_link(&crawled, gone, "/a", i, 1, "gone");
    CHECK_INT(report_github(crawled_out(), &crawled.options, &crawled.targets,
                            &crawled.references),
              0);
    rest = written = crawled_written();
    for (const char *at = written; (at = strchr(at, '\n')) != NULL && at[1] != '\0';
         lines++)
        rest = ++at;
    CHECK_INT(lines, REFERENCES_KEPT);
    CHECK_STR(rest, "::error title=broken link::http://h/gone: 404 Not Found (23 more "
                    "links)\n");
    crawled_finish(&crawled);
}

TEST(github_names_what_nobody_links_to)
{
    crawled_init(&crawled);
    crawled_missing(&crawled, "/");
    end("::error title=broken link::http://h/: 404 Not Found\n");
}

TEST(github_titles_say_what_is_broken)
{
    crawled_init(&crawled);
    crawled_link(&crawled,
                 crawled_bad(&crawled, "/b#x", VERDICT_FRAGMENT, REASON_NO_SUCH_ID, 0),
                 "/a", 1, 2, "b#x");
    crawled_link(&crawled,
                 crawled_bad(&crawled, "/c", VERDICT_TIMEOUT, REASON_MAX_TIME, 0), "/a",
                 3, 4, "c");
    end("::error title=broken fragment::b#x: no element has this id (on http://h/a:1:2)\n"
        "::error title=timeout::c: took longer than --max-time (on http://h/a:3:4)\n");
}

TEST(github_leaves_out_what_does_not_fail_the_run)
{
    crawled_init(&crawled);
    crawled_link(&crawled, crawled_target(&crawled, "/b"), "/a", 1, 1, "b");
    crawled_link(&crawled,
                 crawled_bad(&crawled, "http://x/", VERDICT_BLOCKED, REASON_STATUS, 403),
                 "/a", 1, 1, "//x");
    end("");
}

TEST(github_masks_passwords)
{
    crawled_init(&crawled);
    crawled_link(&crawled, crawled_missing(&crawled, "http://u:p@x/"), "/a", 1, 1,
                 "http://u:p@x/");
    end("::error title=broken link::http://u:***@x/: 404 Not Found (on "
        "http://h/a:1:1)\n");
}
