/*
 * warc_index.c - the CDXJ index of an archive.
 */
#include "warc_inside.h"

#include "../base/arena.h"
#include "../base/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/random.h>

/* ---- the index --------------------------------------------------------------------- */

/*
 * Return the length of a prefix such as "www." or "www2.", or 0. Keys do not contain it,
 * because most sites have the same content with and without the prefix.
 */
static size_t www_length(const char *host, size_t n)
{
    size_t digits;

    if (n < 4 || strncasecmp(host, "www", 3) != 0)
        return 0;
    digits = strspn(host + 3, "0123456789");
    return 3 + digits < n && host[3 + digits] == '.' ? 4 + digits : 0;
}

static void put_host_key(struct text *text, const char *host, size_t n)
{
    size_t skipped = www_length(host, n), end = n;

    if (host[0] == '[') {
        text_add_lower(text, host, n);
        return;
    }
    while (end > skipped) {
        size_t begin = end;
        while (begin > skipped && host[begin - 1] != '.')
            begin--;
        text_add_lower(text, host + begin, end - begin);
        end = begin > skipped ? begin - 1 : begin;
        if (begin > skipped)
            text_add(text, ",", 1);
    }
}

struct argument {
    const char *at;
    size_t n;
};

static int compare_arguments(const void *a, const void *b)
{
    const struct argument *x = a, *y = b;
    size_t n = x->n < y->n ? x->n : y->n;
    int order = strncasecmp(x->at, y->at, n);

    return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

/*
 * Append the query with its arguments sorted, so that the order of arguments does not
 * matter.
 */
static void put_query_key(struct text *text, const char *query)
{
    struct argument arguments[256];
    size_t count = 0;

    while (*query != '\0' && count < 256) {
        size_t n = count == 255 ? strlen(query) : strcspn(query, "&");
        arguments[count++] = (struct argument){query, n};
        query += n + (query[n] != '\0');
    }
    qsort(arguments, count, sizeof arguments[0], compare_arguments);
    for (size_t i = 0; i < count; i++) {
        text_add(text, i == 0 ? "?" : "&", 1);
        text_add_lower(text, arguments[i].at, arguments[i].n);
    }
}

void warc_put_key(struct text *text, const char *url)
{
    const char *host = strstr(url, "://"), *at;
    size_t n, path_n;

    host = host != NULL ? host + 3 : url;
    n = strcspn(host, "/?#");
    at = memchr(host, '@', n);
    if (at != NULL) {
        n -= (size_t)(at + 1 - host);
        host = at + 1;
    }
    path_n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (path_n > n)
        path_n = n;
    put_host_key(text, host, path_n);
    text_add(text, host + path_n, n - path_n); /* the port */
    text_add(text, ")", 1);
    at = host + n;
    path_n = strcspn(at, "?#");
    if (path_n > 1 && at[path_n - 1] == '/')
        text_add_lower(text, at, path_n - 1);
    else if (path_n == 0)
        text_add(text, "/", 1);
    else
        text_add_lower(text, at, path_n);
    if (at[path_n] == '?')
        put_query_key(text, at + path_n + 1);
}

/*
 * Append a JSON string. Bytes that are not valid UTF-8, for example in a header, are
 * treated as Latin-1.
 */
static void put_json(struct text *text, const char *s, size_t n)
{
    size_t length;

    for (size_t i = 0; i < n; i += length) {
        unsigned char c = (unsigned char)s[i];
        bool is_valid;

        length = text_utf8_length(s + i, n - i, &is_valid);
        if (is_valid && c >= ' ' && c != 0x7f && c != '"' && c != '\\') {
            text_add(text, s + i, length);
            continue;
        }
        length = 1;
        if (c == '"' || c == '\\')
            text_print(text, "\\%c", c);
        else
            text_print(text, "\\u%04x", c);
    }
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

int warc_write_line(struct warc *warc, const struct record *record, const char *mime,
                    size_t mime_n, int status, int64_t begin)
{
    struct text *line = &warc->line;

    line->n = 0;
    line->failed = false;
    warc_put_key(line, record->url);
    text_print(line, " %.4s%.2s%.2s%.2s%.2s%.2s {\"url\": \"", record->date,
               record->date + 5, record->date + 8, record->date + 11, record->date + 14,
               record->date + 17);
    put_json(line, record->url, strlen(record->url));
    text_print(line, "\", \"mime\": \"");
    put_json(line, mime, mime_n);
    text_print(line,
               "\", \"status\": \"%d\", \"digest\": \"sha1:%s\", \"length\": \"%" PRId64
               "\", \"offset\": \"%" PRId64 "\", \"filename\": \"",
               status, record->payload_digest, warc->end - begin, begin);
    put_json(line, name_of(warc->path), strlen(name_of(warc->path)));
    text_print(line, "\"}\n");
    return line->failed ? -ENOMEM : warc_write_all(warc->index_fd, line->at, line->n);
}
