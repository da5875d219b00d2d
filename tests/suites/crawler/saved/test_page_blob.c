/*
 * test_page_blob.c - crawler/saved/page_blob.h: pages are read back as they were written,
 * and invalid blobs are refused without reading beyond their end.
 */
#include "../../../../crawler/saved/page_blob.h"
#include "../../../harness/harness.h"

#include <errno.h>
#include <stdlib.h>

static const uint64_t ids[] = {1, UINT64_C(0x0123456789abcdef), UINT64_MAX};

static const struct store_page full = {.flags = STORE_BODY | STORE_HAS_IDS,
                                       .rc = -ETIMEDOUT,
                                       .status = 404,
                                       .problem = -EMSGSIZE,
                                       .line = 12,
                                       .tries = 3,
                                       .size = -1,
                                       .bytes = INT64_C(1) << 40,
                                       .at_ns = 123456789,
                                       .duration_ns = 1,
                                       .time_s = 1700000000,
                                       .content_type = "text/html",
                                       .location = "",
                                       .error = "late",
                                       .etag = "\"1\"",
                                       .modified = "today",
                                       .links = "a\0b",
                                       .links_n = 3,
                                       .ids = ids,
                                       .id_count = 3};

static void check_same_text(const char *actual, const char *expected)
{
    if (expected == NULL)
        CHECK_PTR(actual, NULL);
    else
        CHECK_STR(actual, expected);
}

static void check_same(const struct store_page *actual, const struct store_page *expected)
{
    CHECK_INT(actual->flags, expected->flags);
    CHECK_INT(actual->rc, expected->rc);
    CHECK_INT(actual->status, expected->status);
    CHECK_INT(actual->problem, expected->problem);
    CHECK_INT(actual->line, expected->line);
    CHECK_INT(actual->tries, expected->tries);
    CHECK_INT(actual->size, expected->size);
    CHECK_INT(actual->bytes, expected->bytes);
    CHECK_INT(actual->at_ns, expected->at_ns);
    CHECK_INT(actual->duration_ns, expected->duration_ns);
    CHECK_INT(actual->time_s, expected->time_s);
    check_same_text(actual->content_type, expected->content_type);
    check_same_text(actual->location, expected->location);
    check_same_text(actual->error, expected->error);
    check_same_text(actual->etag, expected->etag);
    check_same_text(actual->modified, expected->modified);
    CHECK((actual->links == NULL) == (expected->links == NULL));
    CHECK_INT(actual->links_n, expected->links_n);
    CHECK(memcmp(actual->links_n > 0 ? actual->links : "",
                 expected->links_n > 0 ? expected->links : "", actual->links_n) == 0);
    CHECK_INT(actual->id_count, expected->id_count);
    for (size_t i = 0; i < actual->id_count; i++)
        CHECK(actual->ids[i] == expected->ids[i]);
}

static void check_page(const struct store_page *page, const char *url,
                       uint32_t fragment_at)
{
    struct page_blob blob = {.ids = NULL};
    struct text bytes = {0};

    page_blob_write(&bytes, page, url, fragment_at);
    CHECK_INT(page_blob_read(bytes.at, bytes.n, &blob), 0);
    CHECK_STR(blob.url, url);
    CHECK_INT(blob.fragment_at, fragment_at);
    check_same(&blob.page, page);
    page_blob_finish(&blob);
    text_finish(&bytes);
}

TEST(page_blob_is_read_as_it_was_written)
{
    static const struct store_page none = {.status = 204}, no_links = {.links = ""};

    check_page(&full, "http://h/a#x", 11);
    check_page(&none, "http://h/", 0);
    check_page(&no_links, "http://h/", 0);
}

/* Read a copy in a buffer of exactly this length, so that ASan detects overruns. */
static int read_copy(const char *bytes, size_t n)
{
    struct page_blob blob = {.ids = NULL};
    char *copy = malloc(n + 1);
    int rc;

    memcpy(copy + 1, bytes, n);
    rc = page_blob_read(copy + 1, n, &blob);
    page_blob_finish(&blob);
    free(copy);
    return rc;
}

TEST(page_blob_that_ends_too_soon_is_refused)
{
    struct text bytes = {0};

    page_blob_write(&bytes, &full, "http://h/a#x", 11);
    for (size_t n = 0; n < bytes.n; n++)
        CHECK_INT(read_copy(bytes.at, n), -EBADMSG);
    text_add(&bytes, "", 1);
    CHECK_INT(read_copy(bytes.at, bytes.n), -EBADMSG);
    text_finish(&bytes);
}

TEST(page_blob_may_be_anybodys)
{
    struct text bytes = {0};
    unsigned refused = 0;

    page_blob_write(&bytes, &full, "http://h/a#x", 11);
    for (size_t i = 0; i < bytes.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes.at[i] ^= (char)(1 << bit);
            refused += read_copy(bytes.at, bytes.n) == -EBADMSG;
            bytes.at[i] ^= (char)(1 << bit);
        }
    CHECK(refused > 50);
    CHECK_INT(read_copy(bytes.at, bytes.n), 0);
    text_finish(&bytes);
}
