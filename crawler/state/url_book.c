/* url_book.c - see url_book.h */
#include "url_book.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int take_url(void *arg, const struct store_url *url)
{
    struct url_book *book = arg;
    size_t n = strlen(url->url);

    if ((strncmp(url->url, "http://", 7) != 0 && strncmp(url->url, "https://", 8) != 0) ||
        url->id == 0 || url->id >= book->count || url->fragment_at > n ||
        (url->fragment_at > 0 && url->url[url->fragment_at - 1] != '#'))
        return -EBADMSG;
    book->urls[url->id] = *url;
    book->urls[url->id].url = arena_text(&book->arena, url->url, n);
    return book->urls[url->id].url != NULL ? 0 : -ENOMEM;
}

int url_book_read(struct url_book *book, struct store *store)
{
    book->count = (size_t)store_last_url(store) + 1;
    book->urls = calloc(book->count, sizeof *book->urls);
    return book->urls != NULL ? store_each_url(store, take_url, book) : -ENOMEM;
}

void url_book_finish(struct url_book *book)
{
    free(book->urls);
    arena_finish(&book->arena);
    *book = (struct url_book){.count = 0};
}

const struct store_url *url_book_at(const struct url_book *book, uint32_t number)
{
    return number < book->count && book->urls[number].url != NULL ? &book->urls[number]
                                                                  : NULL;
}

const char *url_book_text(uint32_t number, size_t *fragment_at, void *book)
{
    const struct store_url *url = url_book_at(book, number);

    if (url == NULL)
        return NULL;
    *fragment_at = url->fragment_at;
    return url->url;
}
