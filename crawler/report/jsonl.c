/*
 * jsonl.c - write JSON, one object per line. (RFC 8259, jsonlines.org)
 *
 * A line is built directly in the output buffer. Space for its longest possible form is
 * reserved first, so that nothing can fail later. Speed matters, because a page has about
 * forty links, each with a line. Most text needs no escapes, and is copied eight bytes at
 * a time.
 *
 * Texts may contain any bytes, but JSON must be UTF-8, so invalid sequences become
 * U+FFFD. Passwords in URLs become "***". Control characters (C0 and C1) and characters
 * that change the direction of writing are escaped, because the output may be printed on
 * a terminal.
 */
#include "jsonl.h"

#include "../base/text.h"
#include "../url/url.h"

#include <coil/run.h>

#include <stdint.h>
#include <string.h>

/*
 * Maximum size of an escaped text of n bytes, each of which may become six bytes, such as
 * "\u001f". The 10 extra bytes are for the quotes, and because eight bytes are copied at
 * a time.
 */
#define LONGEST(n) ((n)*6 + 10)

/*
 * Enough space for the names, numbers and braces of any record except `start`, and for
 * the bytes that put_plain() writes past the end of a string: up to seven for each of at
 * most six strings.
 */
#define FRAME_BYTES 1024

/* Append a literal. */
#define PUT(to, literal) ((char *)mempcpy(to, literal, sizeof(literal) - 1))

struct string {
    const char *at; /* NULL is written as null */
    size_t n;
};

static struct string string_of(const char *text)
{
    return (struct string){text, text != NULL ? strlen(text) : 0};
}

/* ---- strings ----------------------------------------------------------------------- */

/*
 * True if all eight bytes are plain: printable ASCII except '"', '\\', and '@', which may
 * end a password. If a byte of x equals c, the byte of x ^ c is 0. If a byte is less than
 * n, subtracting n sets its high bit. A borrow may change the next higher byte, but only
 * if the high bit of the lower byte is set too.
 */
static bool is_plain(uint64_t x)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t quote = x ^ (ones * '"'), backslash = x ^ (ones * '\\'),
             sign = x ^ (ones * '@');

    return (((x - ones * ' ') | (x + ones) | x | (quote - ones) | (backslash - ones) |
             (sign - ones)) &
            (ones * 0x80)) == 0;
}

/*
 * Copy n bytes, eight at a time: up to seven bytes after them are overwritten. Returns
 * false if one of the n bytes is not plain.
 */
static bool put_plain(char *to, const char *text, size_t n)
{
    uint64_t eight;
    size_t i = 0;

    for (; n - i >= 8; i += 8) {
        memcpy(&eight, text + i, 8);
        if (!is_plain(eight))
            return false;
        memcpy(to + i, &eight, 8);
    }
    if (i == n)
        return true;
    memset(&eight, 'x', 8);
    memcpy(&eight, text + i, n - i);
    memcpy(to + i, &eight, 8);
    return is_plain(eight);
}

/* Write a 16-bit value as "\u009b". */
static char *put_digits(char *to, unsigned value)
{
    static const char digits[] = "0123456789abcdef";

    *to++ = '\\';
    *to++ = 'u';
    for (int shift = 12; shift >= 0; shift -= 4)
        *to++ = digits[value >> shift & 15];
    return to;
}

/* Escape a character that could control a terminal or change the direction of writing. */
static char *put_point(char *to, uint32_t point)
{
    if (point < 0x10000)
        return put_digits(to, point);
    to = put_digits(to, 0xd800 + ((point - 0x10000) >> 10));
    return put_digits(to, 0xdc00 + ((point - 0x10000) & 0x3ff));
}

/* Write one character. An invalid character is replaced. */
static char *put_character(char *to, const unsigned char **from, const unsigned char *end)
{
    const unsigned char *s = *from;
    bool is_valid;
    size_t length = text_utf8_length((const char *)s, (size_t)(end - s), &is_valid);

    *from = s + length;
    if (!is_valid) {
        memcpy(to, "\\ufffd", 6);
        return to + 6;
    }
    if (*s < ' ' || *s == 0x7f)
        return put_digits(to, *s);
    if (*s >= 0x80 && text_is_hidden(text_utf8_point((const char *)s, length)))
        return put_point(to, text_utf8_point((const char *)s, length));
    if (*s == '"' || *s == '\\')
        *to++ = '\\';
    memcpy(to, s, length);
    return to + length;
}

static char *put_characters(char *to, const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text, *end = s + n;

    while (s < end)
        to = put_character(to, &s, end);
    return to;
}

static void put_piece(void *to, const char *piece, size_t n)
{
    char **end = to;

    *end = put_characters(*end, piece, n);
}

/* Write a text with passwords masked and special characters escaped. */
static char *put_special(char *to, const char *text)
{
    url_put_masked(text, put_piece, &to);
    return to;
}

static char *put_string(char *to, struct string string)
{
    if (string.at == NULL)
        return PUT(to, "null");
    *to++ = '"';
    if (put_plain(to, string.at, string.n))
        to += string.n;
    else
        to = put_special(to, string.at);
    *to++ = '"';
    return to;
}

/* ---- members ----------------------------------------------------------------------- */

static char *put_unsigned(char *to, uint64_t value)
{
    char digits[20];
    size_t n = 0;

    do
        digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    while (n > 0)
        *to++ = digits[--n];
    return to;
}

/*
 * Write a member of a JSON object. `before` is the text before the value, a string
 * literal such as ",\"line\":".
 */
#define STRING(to, before, string) put_string(PUT(to, before), string)
#define NUMBER(to, before, value) put_unsigned(PUT(to, before), value)

/* Write a number, or null for 0. */
static char *put_number_or_null(char *to, uint64_t value)
{
    return value > 0 ? put_unsigned(to, value) : PUT(to, "null");
}

/* Write an HTTP status, or null for 0. */
static char *put_status(char *to, int value)
{
    to = PUT(to, ",\"status\":");
    return put_number_or_null(to, value > 0 ? (unsigned)value : 0);
}

static int finish_line(struct out *out, char *to)
{
    to = PUT(to, "}\n");
    out_commit(out, to);
    return out->rc;
}

static int failure_of(const void *arg)
{
    return ((const struct out *)arg)->rc;
}

/* ---- records ----------------------------------------------------------------------- */

int jsonl_start(struct out *out, const struct text_list *starts, time_t now)
{
    size_t n = FRAME_BYTES;
    struct tm utc;
    char *to;

    for (size_t i = 0; i < starts->count; i++)
        n += LONGEST(strlen(starts->at[i])) + 3;
    to = out_reserve(out, n);
    if (to == NULL)
        return out->rc;
    to = STRING(
        to, "{\"type\":\"start\",\"schema\":1,\"version\":", string_of(coil_version()));
    to = PUT(to, ",\"urls\":[");
    for (size_t i = 0; i < starts->count; i++) {
        if (i > 0)
            *to++ = ',';
        to = put_string(to, string_of(starts->at[i]));
    }
    to = PUT(to, "],\"time\":\"");
    if (gmtime_r(&now, &utc) != NULL)
        to += strftime(to, 64, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return finish_line(out, PUT(to, "\""));
}

static int write_page(void *arg, const struct record_page *page)
{
    struct string url = string_of(page->url), type = string_of(page->content_type),
                  encoding = string_of(page->encoding);
    char *to = out_reserve(arg, FRAME_BYTES + LONGEST(url.n + type.n + encoding.n));

    if (to == NULL)
        return failure_of(arg);
    to = STRING(to, "{\"type\":\"page\",\"url\":", url);
    to = put_status(to, page->status);
    to = STRING(to, ",\"content_type\":", type);
    to = STRING(to, ",\"encoding\":", encoding);
    to = NUMBER(to, ",\"size\":", page->size > 0 ? (uint64_t)page->size : 0);
    to = NUMBER(to, ",\"depth\":", page->depth);
    to = NUMBER(to, ",\"tries\":", page->tries);
    to = NUMBER(to, ",\"links\":", page->links);
    to = page->searched ? PUT(to, ",\"searched\":true") : PUT(to, ",\"searched\":false");
    return finish_line(arg, to);
}

static int write_link(void *arg, const struct record_link *link)
{
    struct string page = string_of(link->page), text = string_of(link->text),
                  element = string_of(link->element),
                  attribute = string_of(link->attribute),
                  target = string_of(link->target), fragment = string_of(link->fragment);
    char *to =
        out_reserve(arg, FRAME_BYTES + LONGEST(page.n + text.n + element.n + attribute.n +
                                               target.n + fragment.n));

    if (to == NULL)
        return failure_of(arg);
    to = STRING(to, "{\"type\":\"link\",\"page\":", page);
    to = STRING(to, ",\"text\":", text);
    to = put_number_or_null(PUT(to, ",\"line\":"), link->line);
    to = put_number_or_null(PUT(to, ",\"column\":"), link->column);
    to = STRING(to, ",\"element\":", element);
    to = STRING(to, ",\"attribute\":", attribute);
    to = STRING(to, ",\"target\":", target);
    to = STRING(to, ",\"fragment\":", fragment);
    return finish_line(arg, to);
}

static int write_answer(void *arg, const struct record_answer *answer)
{
    struct string url = string_of(answer->url);
    char *to = out_reserve(arg, FRAME_BYTES + LONGEST(url.n));

    if (to == NULL)
        return failure_of(arg);
    to = STRING(to, "{\"type\":\"answer\",\"url\":", url);
    to = put_status(to, answer->status);
    to += sprintf(to, ",\"at\":%.6f,\"seconds\":%.6f", (double)answer->at_ns / 1e9,
                  (double)answer->duration_ns / 1e9);
    to = NUMBER(to, ",\"bytes\":", (uint64_t)answer->bytes);
    to = NUMBER(to, ",\"tries\":", answer->tries);
    return finish_line(arg, to);
}

static int write_redirect(void *arg, const struct record_redirect *redirect)
{
    struct string url = string_of(redirect->url),
                  location = string_of(redirect->location),
                  target = string_of(redirect->target);
    char *to = out_reserve(arg, FRAME_BYTES + LONGEST(url.n + location.n + target.n));

    if (to == NULL)
        return failure_of(arg);
    to = STRING(to, "{\"type\":\"redirect\",\"url\":", url);
    to = put_status(to, redirect->status);
    to = STRING(to, ",\"location\":", location);
    to = STRING(to, ",\"target\":", target);
    return finish_line(arg, to);
}

static int write_verdict(void *arg, const struct record_verdict *verdict)
{
    struct string target = string_of(verdict->target),
                  fragment = string_of(verdict->fragment),
                  message = string_of(verdict->message);
    char *to = out_reserve(arg, FRAME_BYTES + LONGEST(target.n + fragment.n + message.n));

    if (to == NULL)
        return failure_of(arg);
    to = STRING(to, "{\"type\":\"verdict\",\"target\":", target);
    to = STRING(to, ",\"fragment\":", fragment);
    to = STRING(to, ",\"verdict\":", string_of(verdict_word(verdict->verdict)));
    to = STRING(to, ",\"reason\":", string_of(reason_word(verdict->reason)));
    to = put_status(to, verdict->status);
    to = STRING(to, ",\"message\":", message);
    return finish_line(arg, to);
}

static char *put_verdicts(char *to, const char *name, const size_t *counts)
{
    to += sprintf(to, "%s{", name);
    for (int i = VERDICT_OPEN + 1; i < VERDICT_COUNT; i++) {
        if (i > VERDICT_OPEN + 1)
            *to++ = ',';
        to = put_string(to, string_of(verdict_word((enum verdict)i)));
        to = NUMBER(to, ":", counts[i]);
    }
    *to++ = '}';
    return to;
}

static int write_summary(void *arg, const struct record_summary *summary)
{
    char *to = out_reserve(arg, FRAME_BYTES);

    if (to == NULL)
        return failure_of(arg);
    to = NUMBER(to, "{\"type\":\"summary\",\"urls\":", summary->urls);
    to = NUMBER(to, ",\"pages\":", summary->pages);
    to = NUMBER(to, ",\"links\":", summary->links);
    to = NUMBER(to, ",\"targets\":", summary->targets);
    to = put_verdicts(to, ",\"verdicts\":", summary->verdicts);
    to = put_verdicts(to, ",\"verdict_urls\":", summary->verdict_urls);
    to = put_verdicts(to, ",\"verdict_links\":", summary->verdict_links);
    to = NUMBER(to, ",\"bytes\":", (uint64_t)summary->bytes);
    to += sprintf(to, ",\"seconds\":%.3f", (double)summary->duration_ns / 1e9);
    to = NUMBER(to, ",\"exit\":", (uint64_t)summary->exit_status);
    return finish_line(arg, to);
}

struct record_sink jsonl_sink(struct out *out)
{
    return (struct record_sink){.page = write_page,
                                .link = write_link,
                                .answer = write_answer,
                                .redirect = write_redirect,
                                .verdict = write_verdict,
                                .summary = write_summary,
                                .arg = out};
}
