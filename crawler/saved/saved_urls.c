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
static bool is_in_order(const struct saved_urls *saved, const struct store_url *url,
                        size_t n)
{
    if (strncmp(url->url, "http://", 7) != 0 && strncmp(url->url, "https://", 8) != 0)
        return false;
    return url->id > 0 && url->id < saved->count && url->fragment_at <= n &&
           (url->fragment_at == 0 || url->url[url->fragment_at - 1] == '#');
}

static int add_url(void *arg, const struct store_url *url)
{
    struct saved_urls *saved = arg;
    size_t n = strlen(url->url);
    struct url_entry *entry, **at;

    if (!is_in_order(saved, url, n))
        return -EBADMSG;
    at = blocks_reach(&saved->urls, url->id);
    entry = at != NULL ? arena_alloc(&saved->arena, sizeof *entry + n + 1) : NULL;
    if (entry == NULL)
        return -ENOMEM;
    entry->fragment_at = url->fragment_at;
    memcpy(entry->url, url->url, n + 1);
    *at = entry;
    return 0;
}

int saved_urls_read(struct saved_urls *saved, struct store *store, struct cold *cold)
{
    saved->urls.element_bytes = sizeof(struct url_entry *);
    saved->urls.cold = saved->arena.cold = cold;
    saved->count = (size_t)store_last_url(store) + 1;
    return store_each_url(store, add_url, saved);
}

void saved_urls_finish(struct saved_urls *saved)
{
    blocks_finish(&saved->urls);
    arena_finish(&saved->arena);
    *saved = (struct saved_urls){.count = 0};
}

static const struct url_entry *find_url(const struct saved_urls *saved, uint32_t number)
{
    struct url_entry *const *at =
        number < saved->count ? blocks_find(&saved->urls, number) : NULL;

    return at != NULL ? *at : NULL;
}

const char *saved_urls_at(const struct saved_urls *saved, uint32_t number)
{
    const struct url_entry *entry = find_url(saved, number);

    return entry != NULL ? entry->url : NULL;
}

const char *saved_urls_text(uint32_t number, size_t *fragment_at, void *saved)
{
    const struct url_entry *entry = find_url(saved, number);

    if (entry == NULL)
        return NULL;
    *fragment_at = entry->fragment_at;
    return entry->url;
}
