/*
 * sniff.c - see sniff.h
 *
 * The standard's patterns for images, sound and archives are omitted, because such files
 * either contain bytes that do not occur in text, or do not contain links.
 */
#include "sniff.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool begins_with(const char *bytes, size_t n, const char *with)
{
    size_t length = strlen(with);

    return n >= length && memcmp(bytes, with, length) == 0;
}

/* True for one of the standard's HTML tags, followed by white space or '>'. */
static bool is_html(const char *s, size_t n)
{
    static const char *const tags[] = {"<!DOCTYPE HTML",
                                       "<HTML",
                                       "<HEAD",
                                       "<SCRIPT",
                                       "<IFRAME",
                                       "<H1",
                                       "<DIV",
                                       "<FONT",
                                       "<TABLE",
                                       "<A",
                                       "<STYLE",
                                       "<TITLE",
                                       "<B",
                                       "<BODY",
                                       "<BR",
                                       "<P",
                                       "<!--"};

    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        size_t length = strlen(tags[i]);
        if (n > length && strncasecmp(s, tags[i], length) == 0 &&
            (s[length] == ' ' || s[length] == '>'))
            return true;
    }
    return false;
}

/* True for a byte that does not occur in text. (WHATWG, MIME Sniffing, 3: binary data
   byte) */
static bool is_binary(unsigned char c)
{
    return c <= 0x08 || c == 0x0b || (c >= 0x0e && c <= 0x1a) || (c >= 0x1c && c <= 0x1f);
}

enum sniffed sniff(const char *bytes, size_t n)
{
    size_t blank = 0;

    while (blank < n && bytes[blank] != '\0' && strchr("\t\n\f\r ", bytes[blank]))
        blank++;
    if (is_html(bytes + blank, n - blank))
        return SNIFFED_HTML;
    if (begins_with(bytes + blank, n - blank, "<?xml"))
        return SNIFFED_XML;
    if (begins_with(bytes, n, "%PDF-") || begins_with(bytes, n, "%!PS-Adobe-"))
        return SNIFFED_BINARY;
    if (begins_with(bytes, n, "\xfe\xff") || begins_with(bytes, n, "\xff\xfe") ||
        begins_with(bytes, n, "\xef\xbb\xbf"))
        return SNIFFED_TEXT;
    for (size_t i = 0; i < n; i++)
        if (is_binary((unsigned char)bytes[i]))
            return SNIFFED_BINARY;
    return SNIFFED_TEXT;
}
