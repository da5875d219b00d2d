/*
 * charset.c - which encoding a page is in, and out of it by iconv(3).
 *
 * It matters for links like <a href="caf\xe9.html">: browsers ask for caf%C3%A9.html, so
 * must we.
 */
#include "charset.h"

#include <ctype.h>
#include <errno.h>
#include <iconv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The standard has browsers look this far for a <meta>. */
#define PRESCAN_BYTES 1024

/* ---- finding out ------------------------------------------------------------------- */

/* Labels that mean another encoding than iconv(3) takes them for. (WHATWG: encodings) */
static const char *canonical(const char *label)
{
    static const char *const synonyms[][2] = {
        {"utf8", ""},
        {"utf-8", ""},
        {"ascii", "windows-1252"},
        {"us-ascii", "windows-1252"},
        {"latin1", "windows-1252"},
        {"iso-8859-1", "windows-1252"},
        {"iso8859-1", "windows-1252"},
        {"iso-8859-9", "windows-1254"},
        {"gb2312", "gbk"},
        {"x-sjis", "shift_jis"},
        {"utf-16", "utf-16le"},
    };

    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
        if (strcasecmp(label, synonyms[i][0]) == 0)
            return synonyms[i][1];
    return label;
}

static struct charset charset_named(const char *label, size_t n)
{
    char name[CHARSET_BYTES];
    struct charset charset;

    snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : 0, label);
    snprintf(charset.label, sizeof charset.label, "%s", canonical(name));
    return charset;
}

/* Find "charset = label" in `text`, as it stands in headers and in <meta>. */
static bool find_label(const char *text, const char **label, size_t *n)
{
    for (const char *s = text; (s = strcasestr(s, "charset")) != NULL;) {
        s += strlen("charset");
        s += strspn(s, " \t\r\n");
        if (*s != '=')
            continue;
        s++;
        s += strspn(s, " \t\r\n\"'");
        *label = s;
        *n = strcspn(s, "\"'; \t\r\n/>");
        return *n > 0;
    }
    return false;
}

static bool find_in_meta(const char *html, size_t n, struct charset *out)
{
    char start[PRESCAN_BYTES + 1];
    const char *label;
    size_t label_bytes;

    if (n > PRESCAN_BYTES)
        n = PRESCAN_BYTES;
    for (size_t i = 0; i < n; i++)
        start[i] = html[i] != '\0' ? html[i] : ' ';
    start[n] = '\0';
    for (char *s = start; (s = strcasestr(s, "<meta")) != NULL; s++) {
        char *end = strchr(s, '>');
        if (end == NULL)
            return false;
        *end = '\0';
        if (find_label(s, &label, &label_bytes)) {
            *out = charset_named(label, label_bytes);
            /* It was found as ASCII, so it cannot be what it says. (WHATWG: prescan) */
            if (strncasecmp(out->label, "utf-16", 6) == 0)
                out->label[0] = '\0';
            return true;
        }
        s = end;
    }
    return false;
}

static bool is_utf8(const unsigned char *s, size_t n)
{
    int pending = 0;

    for (size_t i = 0; i < n; i++) {
        if (pending > 0 && (s[i] & 0xc0) != 0x80)
            return false;
        if (pending > 0)
            pending--;
        else if (s[i] >= 0x80)
            pending = s[i] < 0xc2 ? -1 : s[i] < 0xe0 ? 1 : s[i] < 0xf0 ? 2 : 3;
        if (pending < 0 || s[i] > 0xf4)
            return false;
    }
    return true;
}

struct charset charset_of(const char *content_type, const char *html, size_t n)
{
    struct charset charset = {""};
    const char *label;
    size_t label_bytes;

    if (n >= 3 && memcmp(html, "\xef\xbb\xbf", 3) == 0)
        return charset;
    if (n >= 2 && memcmp(html, "\xff\xfe", 2) == 0)
        return charset_named("utf-16le", 8);
    if (n >= 2 && memcmp(html, "\xfe\xff", 2) == 0)
        return charset_named("utf-16be", 8);
    if (content_type != NULL && find_label(content_type, &label, &label_bytes))
        return charset_named(label, label_bytes);
    if (find_in_meta(html, n, &charset) || is_utf8((const unsigned char *)html, n))
        return charset;
    return charset_named("windows-1252", 12);
}

bool charset_is_utf8(const struct charset *charset)
{
    return charset->label[0] == '\0';
}

/* ---- converting -------------------------------------------------------------------- */

/*
 * One character in no encoding has more than three bytes of UTF-8 for each of its own,
 * and U+FFFD has three, so there is always room.
 */
static size_t convert_all(iconv_t converter, char *from, size_t left, char *to,
                          size_t room)
{
    char *begin = to;

    while (left > 0 && iconv(converter, &from, &left, &to, &room) == (size_t)-1) {
        if (errno == E2BIG || room < 3)
            break;
        memcpy(to, "\xef\xbf\xbd", 3);
        to += 3;
        room -= 3;
        from++;
        left--;
    }
    return (size_t)(to - begin);
}

int charset_convert(const struct charset *charset, const char *text, size_t n, char **out,
                    size_t *out_bytes)
{
    iconv_t converter = iconv_open("UTF-8", charset->label);
    size_t room = 3 * n + 16;
    char *converted;

    if (converter == (iconv_t)-1)
        return errno == ENOMEM ? -ENOMEM : -EINVAL;
    converted = malloc(room);
    if (converted != NULL)
        *out_bytes = convert_all(converter, (char *)text, n, converted, room);
    iconv_close(converter);
    *out = converted;
    return converted != NULL ? 0 : -ENOMEM;
}
