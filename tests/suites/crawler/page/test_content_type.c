/*
 * test_content_type.c - crawler/page/content_type.h: parsing types as in the examples of
 * the Fetch standard.
 */
#include "../../../../crawler/page/content_type.h"
#include "../../../harness/harness.h"

#include <stdlib.h>

static void check(const char *expected, size_t count, const char *const *values)
{
    char *type;

    CHECK_INT(content_type_extract(values, count, &type), 0);
    CHECK_STR(type != NULL ? type : "none", expected);
    free(type);
}

#define CHECK_TYPE(expected, ...)                                                        \
    check(expected, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),         \
          (const char *const[]){__VA_ARGS__})

TEST(content_type_is_the_last_of_all_headers)
{
    CHECK_TYPE("text/html", "text/html");
    CHECK_TYPE("text/html", "text/html, text/html");
    CHECK_TYPE("text/html", "text/plain;charset=gbk", "text/html");
    CHECK_TYPE("text/html;charset=gbk", "text/html;charset=gbk;a=b", "text/html;x=\"y\"");
    CHECK_TYPE("text/html;charset=gbk", "text/html;charset=gbk", "x/x", "text/html;x=y",
               "text/html; charset=gbk");
    CHECK_TYPE("text/html", "text/html;charset=gbk", "x/x", "text/html;x=y");
    CHECK_TYPE("text/html", "text/html", "cannot-parse", "*/*", "");
    CHECK_TYPE("text/html;charset=a", "text/html;charset=\"a\" , text/html");
    CHECK_TYPE("none", "cannot-parse");
    CHECK_TYPE("none", "*/*");
    CHECK_TYPE("none", "", "/", "text/", "/html", "te xt/html", "text/ht ml");
    CHECK_TYPE("text/html", "text/html;\",text/plain", "x");
}

TEST(content_type_may_say_that_it_is_unknown)
{
    CHECK_TYPE("none", "unknown/unknown");
    CHECK_TYPE("none", "Application/Unknown; charset=utf-8");
    CHECK_TYPE("none", "text/html", "unknown/unknown");
    CHECK_TYPE("text/html", "unknown/unknown", "text/html");
    CHECK(!content_type_is_single("unknown/unknown"));
    CHECK(!content_type_is_single("application/UNKNOWN;a=b"));
    CHECK(content_type_is_single("application/unknown-type"));
}

TEST(content_type_of_one_type_is_taken_as_it_is)
{
    CHECK(content_type_is_single("Text/HTML ; charset=\"a,b\""));
    CHECK(content_type_is_single("text/html"));
    CHECK(!content_type_is_single("text/html, text/html"));
    CHECK(!content_type_is_single("nonsense"));
    CHECK(!content_type_is_single("*/*"));
    CHECK(!content_type_is_single(""));
}
