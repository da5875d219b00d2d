/*
 * test_sniff.c - crawler/page/sniff.h: detecting types as in the table of MIME Sniffing,
 * 7.1.
 */
#include "../../../../crawler/page/sniff.h"
#include "../../../harness/harness.h"

#define SNIFF(text) ((int)sniff(text, sizeof text - 1))

TEST(sniff_finds_html_by_a_whole_tag)
{
    CHECK_INT(SNIFF("<!doctype html>"), SNIFFED_HTML);
    CHECK_INT(SNIFF(" \t\r\n\f<HtMl lang=en>"), SNIFFED_HTML);
    CHECK_INT(SNIFF("<a href=x>"), SNIFFED_HTML);
    CHECK_INT(SNIFF("<p>x"), SNIFFED_HTML);
    CHECK_INT(SNIFF("<!-- x -->"), SNIFFED_HTML);
    CHECK_INT(SNIFF("<pre>"), SNIFFED_TEXT);
    CHECK_INT(SNIFF("<p"), SNIFFED_TEXT);
    CHECK_INT(SNIFF("<p\n>"), SNIFFED_TEXT);
    CHECK_INT(SNIFF("x <p>"), SNIFFED_TEXT);
    CHECK_INT(SNIFF("\xef\xbb\xbf<p>"), SNIFFED_TEXT);
}

TEST(sniff_tells_text_from_others)
{
    CHECK_INT(SNIFF(""), SNIFFED_TEXT);
    CHECK_INT(SNIFF(" <?xml version='1.0'?>"), SNIFFED_XML);
    CHECK_INT(SNIFF("caf\xc3\xa9 \x1b[0m"), SNIFFED_TEXT);
    CHECK_INT(SNIFF("\xff\xfe<\0p\0"), SNIFFED_TEXT);
    CHECK_INT(SNIFF("%PDF-1.7"), SNIFFED_BINARY);
    CHECK_INT(SNIFF("\x7f\x45LF\2\1\1\0"), SNIFFED_BINARY);
    CHECK_INT(SNIFF("a\0b"), SNIFFED_BINARY);
}
