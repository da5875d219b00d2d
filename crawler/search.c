/*
 * search.c - from a page to URLs: its encoding, its links, and what they resolve to.
 *
 * All of it is computation, a millisecond for a page of average length, and needs nothing
 * but the page. So it runs on a thread while its task waits, and the loop goes on
 * fetching. What it finds is one block of bytes, so that nothing is shared meanwhile: a
 * record is 'u' for a URL or '!' for what is none, then the text and a NUL.
 */
#include "search.h"

#include "charset.h"
#include "links.h"
#include "url.h"

#include <coil/executor.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A page up to here is searched sooner than a thread could be woken for it. */
#define INLINE_BYTES 4096

struct search {
    const char *url;
    const char *html;
    size_t html_bytes;
    struct charset charset;
    char *base;
    FILE *records;
    struct search_result *result;
};

static int on_base(struct search *search, const char *reference)
{
    int rc = url_resolve(search->url, reference, &search->base);

    return rc == -ENOMEM ? rc : 0;
}

static int on_link(enum link_kind kind, const char *reference, void *arg)
{
    struct search *search = arg;
    char *url = NULL;
    int rc;

    if (kind == LINK_BASE)
        return on_base(search, reference);
    rc = url_resolve(search->base ? search->base : search->url, reference, &url);
    if (rc == 0)
        fprintf(search->records, "u%s%c", url, '\0');
    else if (rc == -EINVAL)
        fprintf(search->records, "!%s%c", reference, '\0');
    free(url);
    return rc == -ENOMEM ? rc : 0;
}

static int search_html(struct search *search, const char *html, size_t n)
{
    struct search_result *result = search->result;
    int rc;

    search->records = open_memstream(&result->records, &result->bytes);
    if (search->records == NULL)
        return -ENOMEM;
    rc = links_find(html, n, on_link, search);
    if (ferror(search->records) && rc == 0)
        rc = -ENOMEM;
    if (fclose(search->records) != 0 && rc == 0)
        rc = -ENOMEM;
    free(search->base);
    return rc;
}

static int search_in_its_encoding(void *arg)
{
    struct search *search = arg;
    char *converted;
    size_t n;
    int rc = -EINVAL;

    if (!charset_is_utf8(&search->charset))
        rc = charset_convert(&search->charset, search->html, search->html_bytes,
                             &converted, &n);
    if (rc == -EINVAL) /* nothing to convert, or nobody knows how */
        return search_html(search, search->html, search->html_bytes);
    if (rc < 0)
        return rc;
    rc = search_html(search, converted, n);
    free(converted);
    return rc;
}

int search_page(const char *url, const char *content_type, const char *html, size_t n,
                struct search_result *result)
{
    struct search search = {.url = url,
                            .html = html,
                            .html_bytes = n,
                            .charset = charset_of(content_type, html, n),
                            .result = result};
    int rc = -EAGAIN;

    *result = (struct search_result){NULL, 0};
    /* iconv(3) loads modules from disk: that, too, is for a thread. */
    if (n > INLINE_BYTES || !charset_is_utf8(&search.charset))
        rc = coil_blocking(COIL_LANE_CPU, search_in_its_encoding, &search);
    return rc == -EAGAIN ? search_in_its_encoding(&search) : rc;
}

const char *search_next(const struct search_result *result, const char **at, bool *is_url)
{
    const char *record = *at != NULL ? *at : result->records;

    if (result->bytes == 0 || record == result->records + result->bytes)
        return NULL;
    *is_url = record[0] == 'u';
    *at = record + strlen(record) + 1;
    return record + 1;
}

void search_result_finish(struct search_result *result)
{
    free(result->records);
    *result = (struct search_result){NULL, 0};
}
