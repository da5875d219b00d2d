/*
 * plain_text.c - see plain_text.h
 *
 * Plain text does not mark the end of a URL. According to RFC 3986, appendix C, a URL
 * ends at white space, quotes and angle brackets. Here, it also ends at a closing bracket
 * without an opening bracket in the URL. As in GitHub's autolinks (GFM, 6.9), punctuation
 * after a URL belongs to the surrounding sentence.
 */
#include "plain_text.h"

#include "../base/ascii.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Decode the UTF-8 character at s, and store its number of bytes in *length. Returns 0 if
 * the character is malformed.
 */
static unsigned character_at(const char *s, size_t n, size_t *length)
{
    const unsigned char *u = (const unsigned char *)s;
    unsigned c = u[0] >= 0xf0 ? u[0] & 7 : u[0] >= 0xe0 ? u[0] & 15 : u[0] & 31;

    *length = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
    if (u[0] < 0xc2 || *length > n) {
        *length = 1;
        return 0;
    }
    for (size_t i = 1; i < *length; i++)
        c = c << 6 | (u[i] & 0x3f);
    return c;
}

/* True for spaces outside of ASCII, and for punctuation of Latin, Chinese and Japanese
   text. */
static bool is_delimiter(unsigned c)
{
    return c < 0xa1 || c == 0xab || c == 0xbb || (c >= 0x2000 && c <= 0x206f) ||
           (c >= 0x3000 && c <= 0x303f) || (c >= 0xff00 && c <= 0xff65);
}

/* Return the length of the text at s that may be a URL. */
static size_t length_at(const char *s, size_t n)
{
    size_t at = 0, length, round = 0, square = 0;

    while (at < n) {
        unsigned char c = (unsigned char)s[at];

        if ((c == ')' && round-- == 0) || (c == ']' && square-- == 0))
            break; /* the bracket belongs to the surrounding text */
        round += c == '(';
        square += c == '[';

        if (c <= ' ' || c == 0x7f || (c < 0x80 && strchr("\"<>`{}|\\^", c) != NULL))
            break;
        length = 1;
        if (c >= 0x80 && is_delimiter(character_at(s + at, n - at, &length)))
            break;
        at += length;
    }
    return at;
}

/* Return the length of a URL without the punctuation after it. */
static size_t without_punctuation(const char *s, size_t n)
{
    while (n > 0 && strchr("?!.,:;*_~'", s[n - 1]) != NULL)
        n--;
    return n;
}

/*
 * True for "http://" or "https://", if a host follows and no other scheme ends here, as in
 * "git+https://".
 */
static bool begins_url(const char *text, size_t n, size_t at)
{
    size_t scheme = strncasecmp(text + at, "http://", 7) == 0    ? 7
                    : strncasecmp(text + at, "https://", 8) == 0 ? 8
                                                                 : 0;

    if (scheme == 0 || at + scheme >= n)
        return false;
    if (at > 0 &&
        (is_letter(text[at - 1]) || is_digit(text[at - 1]) || text[at - 1] == '+'))
        return false;
    return is_letter(text[at + scheme]) || is_digit(text[at + scheme]) ||
           text[at + scheme] == '[' || (unsigned char)text[at + scheme] >= 0x80;
}

/*
 * True if a placeholder follows the text that looks like a URL and ends at `end`, as in
 * "http://h/{name}", "http://h/<name>" and "http://h/${name}".
 */
static bool has_placeholder(const char *text, size_t n, size_t end)
{
    if (end == n || text[end] == '{')
        return end < n;
    return text[end] == '<' && (end + 1 == n || text[end + 1] != '/');
}

static int visit_url(const char *url, size_t n, struct html_position place,
                     links_visit_function visit, void *arg)
{
    struct link link = {.kind = LINK_OTHER, .has_no_encoding = true, .place = place};
    char *copy;
    int rc;

    link.cut = n > HTML_VALUE_BYTES;
    copy = strndup(url, link.cut ? HTML_VALUE_BYTES : n);
    if (copy == NULL)
        return -ENOMEM;
    link.reference = copy;
    rc = visit(&link, arg);
    free(copy);
    return rc;
}

int plain_text_visit(const char *text, size_t n, links_visit_function visit, void *arg)
{
    struct html_counter counter = {{1, 1}, false};
    size_t counted = 0, at = 0;
    int rc = 0;

    while (rc == 0 && at < n) {
        const char *colon = memchr(text + at, ':', n - at);
        size_t begin, whole;

        if (colon == NULL)
            break;
        if (n - (size_t)(colon - text) < 3 || memcmp(colon, "://", 3) != 0) {
            at = (size_t)(colon - text) + 1;
            continue;
        }
        begin = (size_t)(colon - text);
        begin -= begin >= at + 5 && is_letter(colon[-1]) && (colon[-1] | 0x20) == 's' ? 5
                 : begin >= at + 4                                                    ? 4
                                                                                      : 0;
        at = (size_t)(colon - text) + 3;
        if (begin + 3 >= at || !begins_url(text, n, begin))
            continue;
        whole = length_at(text + begin, n - begin);
        at = begin + whole > at ? begin + whole : at;
        if (has_placeholder(text, n, begin + whole))
            continue;
        html_count(&counter, text + counted, begin - counted);
        counted = begin;
        rc = visit_url(text + begin, without_punctuation(text + begin, whole),
                       counter.place, visit, arg);
    }
    return rc;
}
