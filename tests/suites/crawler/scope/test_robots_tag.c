/*
 * test_robots_tag.c - crawler/scope/robots_tag.h: parsing X-Robots-Tag headers.
 */
#include "../../../../crawler/scope/robots_tag.h"
#include "../../../harness/harness.h"

TEST(robots_tag_of_all_crawlers)
{
    CHECK(robots_tag_has_nofollow("nofollow"));
    CHECK(robots_tag_has_nofollow("noindex, NoFollow"));
    CHECK(robots_tag_has_nofollow("none"));
    CHECK(robots_tag_has_nofollow("max-snippet:9, nofollow"));
    CHECK(!robots_tag_has_nofollow("noindex"));
    CHECK(!robots_tag_has_nofollow("nofollowing"));
    CHECK(!robots_tag_has_nofollow(""));
}

TEST(robots_tag_of_one_crawler)
{
    CHECK(robots_tag_has_nofollow("coil-crawl: nofollow"));
    CHECK(robots_tag_has_nofollow("Coil-Crawl:none"));
    CHECK(!robots_tag_has_nofollow("googlebot: nofollow"));
    CHECK(!robots_tag_has_nofollow("coil-crawl: noindex"));
}
