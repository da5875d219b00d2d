/*
 * jsonl.c - the report for programs: JSON, an object a line. (RFC 8259, jsonlines.org)
 *
 * Headers may hold any bytes, JSON only UTF-8: what is not, becomes U+FFFD, a byte each.
 */
#include "report.h"

#include <errno.h>
#include <string.h>

/* The length of the UTF-8 sequence that begins at `s`, or 0 if there is none. */
static int utf8_length(const unsigned char *s)
{
    int n = s[0] < 0x80   ? 1
            : s[0] < 0xc2 ? 0
            : s[0] < 0xe0 ? 2
            : s[0] < 0xf0 ? 3
            : s[0] < 0xf5 ? 4
                          : 0;

    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* Neither longer than need be, nor surrogates, nor beyond U+10FFFF. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

static void put_string(FILE *to, const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text, *end = s + n;

    fputc('"', to);
    while (s < end) {
        int length = utf8_length(s);
        if (length == 0) {
            fputs("\\ufffd", to);
            s++;
            continue;
        }
        if (*s == '"' || *s == '\\')
            fprintf(to, "\\%c", *s);
        else if (*s < ' ' || *s == 0x7f)
            fprintf(to, "\\u%04x", *s);
        else
            fwrite(s, 1, (size_t)length, to);
        s += length;
    }
    fputc('"', to);
}

static void put_member(FILE *to, const char *name, const char *value)
{
    fprintf(to, ",\"%s\":", name);
    if (value != NULL)
        put_string(to, value, strlen(value));
    else
        fputs("null", to);
}

static void put_number(FILE *to, const char *name, long long value)
{
    fprintf(to, ",\"%s\":%lld", name, value);
}

static void put_encoding(FILE *to, const struct page *page)
{
    size_t n;
    const char *charset = page_charset(page, &n);

    fputs(",\"encoding\":", to);
    if (charset != NULL)
        put_string(to, charset, n);
    else
        fputs("null", to);
}

static void put_referrers(FILE *to, const struct page *page)
{
    put_number(to, "referrers", (long long)page->referrer_count);
    fputs(",\"referrer_urls\":[", to);
    for (size_t i = 0; i < page_known_referrers(page); i++) {
        if (i > 0)
            fputc(',', to);
        put_string(to, page->referrers[i]->url, strlen(page->referrers[i]->url));
    }
    fputc(']', to);
}

static const char *error_of(const struct page *page)
{
    if (page->error != NULL || page->rc == 0)
        return page->error;
    return strerror(-page->rc);
}

static void put_page(FILE *to, const struct page *page)
{
    fputs("{\"url\":", to);
    put_string(to, page->url, strlen(page->url));
    if (page->status > 0)
        put_number(to, "status", page->status);
    else
        fputs(",\"status\":null", to);
    put_member(to, "error", error_of(page));
    put_member(to, "next_url", page->next_url);
    put_member(to, "content_type", page->content_type);
    put_encoding(to, page);
    put_number(to, "size", page->size);
    put_number(to, "links", (long long)page->link_count);
    put_number(to, "new_links", (long long)page->new_link_count);
    put_number(to, "depth", page->depth);
    put_number(to, "tries", page->tries);
    put_referrers(to, page);
    fputs("}\n", to);
}

int report_jsonl(FILE *to, const struct crawler *crawler)
{
    errno = 0;
    for (size_t i = 0; i < crawler->page_count; i++) {
        struct page *page = crawler->pages[i];

        if (!page->done || page->reported)
            continue;
        put_page(to, page);
        page->reported = true;
    }
    if (fflush(to) == 0 && !ferror(to))
        return 0;
    return errno > 0 ? -errno : -EIO;
}
