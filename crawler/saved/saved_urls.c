/* saved_urls.c - see saved_urls.h */
#include "saved_urls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct url_entry {
    uint32_t fragment_at;
    char url[];
};

/* Check a URL in the file, which another program may have modified. */
static bool is_in_order(const struct saved_urls *book, const struct store_url *url,
                        size_t n)
{
    if (strncmp(url->url, "http://", 7) != 0 && strncmp(url->url, "https://", 8) != 0)
        return false;
    return url->id > 0 && url->id < book->count && url->fragment_at <= n &&
           (url->fragment_at == 0 || url->url[url->fragment_at - 1] == '#');
}

static int add_url(void *arg, const struct store_url *url)
{
    struct saved_urls *book = arg;
    size_t n = strlen(url->url);
    struct url_entry *entry, **at;

    if (!is_in_order(book, url, n))
        return -EBADMSG;
    at = blocks_reach(&book->urls, url->id);
    entry = at != NULL ? arena_alloc(&book->arena, sizeof *entry + n + 1) : NULL;
    if (entry == NULL)
        return -ENOMEM;
    entry->fragment_at = url->fragment_at;
    memcpy(entry->url, url->url, n + 1);
    *at = entry;
    return 0;
}

int saved_urls_read(struct saved_urls *book, struct store *store, struct cold *cold)
{
    book->urls.element_bytes = sizeof(struct url_entry *);
    book->urls.cold = book->arena.cold = cold;
    book->count = (size_t)store_last_url(store) + 1;
    return store_each_url(store, add_url, book);
}

void saved_urls_finish(struct saved_urls *book)
{
    blocks_finish(&book->urls);
    arena_finish(&book->arena);
    *book = (struct saved_urls){.count = 0};
}

static const struct url_entry *find_url(const struct saved_urls *book, uint32_t number)
{
    struct url_entry *const *at =
        number < book->count ? blocks_find(&book->urls, number) : NULL;

    return at != NULL ? *at : NULL;
}

const char *saved_urls_at(const struct saved_urls *book, uint32_t number)
{
    const struct url_entry *entry = find_url(book, number);

    return entry != NULL ? entry->url : NULL;
}

const char *saved_urls_text(uint32_t number, size_t *fragment_at, void *book)
{
    const struct url_entry *entry = find_url(book, number);

    if (entry == NULL)
        return NULL;
    *fragment_at = entry->fragment_at;
    return entry->url;
}
