/*
 * page.c - the life of a page: seen, then done; then it is only read.
 */
#include "page.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct page *page_create(const char *url, unsigned depth)
{
    struct page *page = calloc(1, sizeof *page);

    if (page == NULL)
        return NULL;
    page->depth = depth;
    page->url = strdup(url);
    if (page->url != NULL)
        return page;
    free(page);
    return NULL;
}

int page_add_referrer(struct page *page, struct page *referrer)
{
    if (page->referrer_count >= PAGE_REFERRERS) {
        page->referrer_count++;
        return 0;
    }
    if (page->referrer_count == page->referrer_capacity) {
        size_t capacity = page->referrer_capacity > 0 ? 2 * page->referrer_capacity : 2;
        struct page **longer =
            realloc(page->referrers, capacity * sizeof *page->referrers);
        if (longer == NULL)
            return -ENOMEM;
        page->referrers = longer;
        page->referrer_capacity = capacity;
    }
    page->referrers[page->referrer_count++] = referrer;
    return 0;
}

size_t page_known_referrers(const struct page *page)
{
    return page->referrer_count < PAGE_REFERRERS ? page->referrer_count : PAGE_REFERRERS;
}

void page_destroy(struct page *page)
{
    if (page == NULL)
        return;
    free(page->url);
    free(page->error);
    free(page->content_type);
    free(page->next_url);
    free(page->referrers);
    free(page);
}

void page_fail(struct page *page, int rc, const char *format, ...)
{
    va_list arguments;

    free(page->error);
    va_start(arguments, format);
    if (vasprintf(&page->error, format, arguments) < 0)
        page->error = NULL; /* the rc alone remains */
    va_end(arguments);
    page->rc = rc;
    page->done = true;
}

void page_forgive(struct page *page)
{
    free(page->error);
    page->error = NULL;
    page->rc = 0;
    page->limited = false;
}

const char *page_charset(const struct page *page, size_t *n)
{
    const char *charset = NULL;

    if (page->content_type != NULL)
        charset = strcasestr(page->content_type, "charset=");
    if (charset == NULL)
        return NULL;
    charset += strlen("charset=");
    charset += *charset == '"';
    *n = strcspn(charset, "\"; \t");
    return charset;
}

bool page_broken(const struct page *page)
{
    return page->done && (page->rc < 0 || page->status >= 400);
}

bool page_ok(const struct page *page)
{
    return page->done && page->rc == 0 && page->status < 400 && page->next_url == NULL;
}
