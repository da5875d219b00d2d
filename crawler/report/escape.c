/*
 * escape.c - see escape.h
 *
 *     text --> url_put_masked() --> clean() --> escapes of the format --> put()
 *
 * Each step passes the text to the next one in pieces, so that even a long text needs no
 * extra memory.
 */
#include "escape.h"

#include "../base/text.h"
#include "../url/url.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * The last step: replace each byte in `special` with the bytes that replace() writes, and
 * pass the result to put().
 */
struct escape {
    escape_put put;
    void *to;
    const char *special;
    size_t (*replace)(char byte, char to[8]);
};

static void put_escaped(void *arg, const char *piece, size_t n)
{
    const struct escape *escape = arg;
    char replaced[8];

    while (n > 0) {
        size_t plain = 0;

        while (plain < n && strchr(escape->special, piece[plain]) == NULL)
            plain++;
        if (plain > 0)
            escape->put(escape->to, piece, plain);
        if (plain < n) {
            escape->put(escape->to, replaced, escape->replace(piece[plain], replaced));
            plain++;
        }
        piece += plain;
        n -= plain;
    }
}

static void clean(void *arg, const char *piece, size_t n)
{
    text_put_visible(piece, n, "\xef\xbf\xbd", put_escaped, arg);
}

static size_t as_reference(char byte, char to[8])
{
    return (size_t)snprintf(to, 8, "&#%d;", byte);
}

static size_t double_quote(char byte, char to[8])
{
    to[0] = to[1] = byte;
    return 2;
}

void escape_plain(const char *text, escape_put put, void *to)
{
    url_put_masked(text, clean, &(struct escape){put, to, "", as_reference});
}

static size_t with_backslash(char byte, char to[8])
{
    to[0] = '\\';
    to[1] = byte;
    return 2;
}

void escape_json(const char *text, escape_put put, void *to)
{
    url_put_masked(text, clean, &(struct escape){put, to, "\"\\", with_backslash});
}

static size_t in_message(char byte, char to[8])
{
    switch (byte) {
    case '"':
        return with_backslash(byte, to);
    case '{':
    case '}':
        return double_quote(byte, to);
    case '\\':
        memcpy(to, "\\\\\\\\", 4);
        return 4;
    default: /* brackets */
        memcpy(to, "\\\\", 2);
        to[2] = byte;
        return 3;
    }
}

void escape_sarif(const char *text, escape_put put, void *to)
{
    url_put_masked(text, clean, &(struct escape){put, to, "\"\\[]{}", in_message});
}

void escape_markup(const char *text, escape_put put, void *to)
{
    url_put_masked(text, clean, &(struct escape){put, to, "&<>\"'`", as_reference});
}

/*
 * Escape all ASCII punctuation with a special meaning inside a line: ':' may begin an
 * emoji or be part of a URL, '@' may begin a mention, and '#' a link to an issue.
 */
void escape_markdown(const char *text, escape_put put, void *to)
{
    url_put_masked(text, clean,
                   &(struct escape){put, to, "!\"#$&'()*:;<>@[\\]^_`{|}~", as_reference});
}

/*
 * True if a spreadsheet may treat the text as a formula. Some spreadsheets accept
 * full-width characters such as U+FF1D too.
 */
static bool is_formula(const char *text)
{
    static const char *const wide[] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};

    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        if (strncmp(text, wide[i], strlen(wide[i])) == 0)
            return true;
    return text[0] != '\0' && strchr("=+-@", text[0]) != NULL;
}

void escape_csv(const char *text, escape_put put, void *to)
{
    put(to, "\"'", is_formula(text) ? 2 : 1);
    url_put_masked(text, clean, &(struct escape){put, to, "\"", double_quote});
    put(to, "\"", 1);
}

void escape_to_out(void *to, const char *piece, size_t n)
{
    out_write(to, piece, n);
}

void out_put_markup(struct out *out, const char *text)
{
    escape_markup(text, escape_to_out, out);
}
