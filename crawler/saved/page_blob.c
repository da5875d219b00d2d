/*
 * page_blob.c - see page_blob.h
 *
 * The bytes are:
 *
 *     version   one byte
 *     numbers   see put_numbers()
 *     texts     each with a trailing NUL; a missing text has length 0
 *     links     a byte 1 and the links, or only a byte 0
 *     ids       sorted, eight bytes each, little-endian
 */
#include "page_blob.h"

#include "leb128.h"

#include "../base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1
#define ID_BYTES 8

/* ---- writing ----------------------------------------------------------------------- */

static void put_text(struct text *bytes, const char *text)
{
    leb128_put_bytes(bytes, text != NULL ? text : "",
                     text != NULL ? strlen(text) + 1 : 0);
}

static void put_numbers(struct text *bytes, const struct store_page *page)
{
    const int64_t numbers[] = {page->flags,       page->rc,    page->status,
                               page->problem,     page->line,  page->tries,
                               page->size,        page->bytes, page->at_ns,
                               page->duration_ns, page->time_s};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        leb128_put_signed(bytes, numbers[i]);
}

static void put_ids(struct text *bytes, const struct store_page *page)
{
    leb128_put(bytes, page->id_count);
    for (size_t i = 0; i < page->id_count; i++) {
        char id[ID_BYTES];

        for (unsigned at = 0; at < ID_BYTES; at++)
            id[at] = (char)(page->ids[i] >> (8 * at));
        text_add(bytes, id, sizeof id);
    }
}

void page_blob_write(struct text *bytes, const struct store_page *page, const char *url,
                     uint32_t fragment_at)
{
    const char *const texts[] = {page->content_type, page->location, page->error,
                                 page->etag, page->modified};

    leb128_put(bytes, VERSION);
    put_text(bytes, url);
    leb128_put(bytes, fragment_at);
    put_numbers(bytes, page);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_text(bytes, texts[i]);
    leb128_put(bytes, page->links != NULL);
    leb128_put_bytes(bytes, page->links, page->links != NULL ? page->links_n : 0);
    put_ids(bytes, page);
}

/* ---- reading ----------------------------------------------------------------------- */

static const char *take_text(struct leb128_bytes *from)
{
    size_t n = 0;
    const char *text = leb128_take_bytes(from, &n);

    if (text == NULL || n == 0)
        return NULL;
    if (memchr(text, '\0', n) == text + n - 1)
        return text;
    from->failed = true;
    return NULL;
}

static int take_int(struct leb128_bytes *from)
{
    int64_t value = leb128_take_signed(from);

    from->failed |= value < INT32_MIN || value > INT32_MAX;
    return (int)value;
}

static unsigned take_unsigned(struct leb128_bytes *from)
{
    int value = take_int(from);

    from->failed |= value < 0;
    return (unsigned)value;
}

/* Read the numbers, in the same order as in put_numbers(). */
static void take_numbers(struct leb128_bytes *from, struct store_page *page)
{
    page->flags = take_unsigned(from);
    page->rc = take_int(from);
    page->status = take_int(from);
    page->problem = take_int(from);
    page->line = take_unsigned(from);
    page->tries = take_unsigned(from);
    page->size = leb128_take_signed(from);
    page->bytes = leb128_take_signed(from);
    page->at_ns = leb128_take_signed(from);
    page->duration_ns = leb128_take_signed(from);
    page->time_s = leb128_take_signed(from);
}

static uint64_t id_at(const unsigned char *bytes)
{
    uint64_t id = 0;

    for (unsigned at = 0; at < ID_BYTES; at++)
        id |= (uint64_t)bytes[at] << (8 * at);
    return id;
}

static int take_ids(struct leb128_bytes *from, struct page_blob *blob)
{
    uint64_t count = leb128_take(from);

    if (from->failed || count != (uint64_t)(from->end - from->at) / ID_BYTES ||
        (from->end - from->at) % ID_BYTES != 0)
        return -EBADMSG;
    while (blob->id_capacity < count)
        if (array_grow(&blob->ids, &blob->id_capacity, sizeof *blob->ids) < 0)
            return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        blob->ids[i] = id_at(from->at + i * ID_BYTES);
    blob->page.ids = count > 0 ? blob->ids : NULL;
    blob->page.id_count = (size_t)count;
    return 0;
}

static void take_links(struct leb128_bytes *from, struct store_page *page)
{
    bool has_links = leb128_take(from) == 1;
    const void *links = leb128_take_bytes(from, &page->links_n);

    page->links = has_links && links != NULL ? links : NULL;
}

int page_blob_read(const void *bytes, size_t n, struct page_blob *blob)
{
    struct leb128_bytes from = {bytes, (const unsigned char *)bytes + n, false};
    struct store_page *page = &blob->page;
    uint64_t fragment_at;

    *page = (struct store_page){.url = 0};
    if (leb128_take(&from) != VERSION)
        return -EBADMSG;
    blob->url = take_text(&from);
    fragment_at = leb128_take(&from);
    if (blob->url == NULL || fragment_at > strlen(blob->url) ||
        (fragment_at > 0 && blob->url[fragment_at - 1] != '#'))
        return -EBADMSG;
    blob->fragment_at = (uint32_t)fragment_at;
    take_numbers(&from, page);
    page->content_type = take_text(&from);
    page->location = take_text(&from);
    page->error = take_text(&from);
    page->etag = take_text(&from);
    page->modified = take_text(&from);
    take_links(&from, page);
    return from.failed ? -EBADMSG : take_ids(&from, blob);
}

void page_blob_finish(struct page_blob *blob)
{
    free(blob->ids);
    *blob = (struct page_blob){.ids = NULL};
}
