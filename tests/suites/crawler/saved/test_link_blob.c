/*
 * test_link_blob.c - crawler/saved/link_blob.h: links are read back as they were written,
 * and invalid bytes are refused.
 */
#include "../../../../crawler/saved/link_blob.h"
#include "../../../harness/harness.h"

#include <errno.h>
#include <stdlib.h>

static const char *const urls[] = {NULL, "http://h/a", "http://h/b#x", "https://h/c"};

static const char *url_of(uint32_t id, size_t *fragment_at, void *arg)
{
    const char *sign;

    (void)arg;
    if (id == 0 || id >= sizeof urls / sizeof *urls)
        return NULL;
    sign = strchr(urls[id], '#');
    *fragment_at = sign != NULL ? (size_t)(sign + 1 - urls[id]) : 0;
    return urls[id];
}

static int trace(const struct search_found *found, void *arg)
{
    const struct link *link = found->link;

    (void)arg;
    test_trace("%d:%u:%u:%s.%s:%s%s%s", (int)found->kind, link->place.line,
               link->place.column, link->element,
               link->attribute != NULL ? link->attribute : "-", link->reference,
               link->nofollow ? ":nofollow" : "", link->cut ? ":cut" : "");
    if (found->url != NULL)
        test_trace("=%s/%d/%zu", found->url->href, (int)found->url->kind,
                   found->url->fragment_at);
    test_trace(" ");
    return 0;
}

static const struct link_blob_reader reader = {url_of, trace, NULL};

static struct link link_at(uint32_t line, uint32_t column, const char *reference)
{
    return (struct link){.kind = LINK_OTHER,
                         .reference = reference,
                         .element = "a",
                         .attribute = "href",
                         .place = {line, column}};
}

static void add(struct link_blob *blob, enum search_kind kind, const struct link *link,
                uint32_t id)
{
    char href[64];
    struct url url = {.kind = URL_WEB, .href = href};

    snprintf(href, sizeof href, "%s", urls[id]);
    url.n = strlen(href);
    link_blob_add(blob, &(struct search_found){kind, link, &url, 0}, id, href, url.n);
}

static void fill(struct link_blob *blob)
{
    struct link tail = link_at(3, 7, "b#x"), other = link_at(3, 90, "../a"),
                back = link_at(1, 1, "https://h/c"), cut = link_at(9, 9, "yyy"),
                text = link_at(10, 300, "http://"), mail = link_at(11, 1, "mailto:x#y");
    char href[] = "mailto:x#y";
    struct url url = {
        .kind = URL_OTHER, .href = href, .n = strlen(href), .fragment_at = 9};

    back.nofollow = true;
    back.element = "text";
    back.attribute = NULL;
    cut.cut = true;
    link_blob_begin(blob);
    add(blob, SEARCH_URL, &tail, 2);
    add(blob, SEARCH_URL, &other, 1);
    add(blob, SEARCH_URL, &back, 3);
    link_blob_add(blob, &(struct search_found){SEARCH_TOO_LONG, &cut, NULL, 0}, 0, NULL,
                  0);
    link_blob_add(blob, &(struct search_found){SEARCH_NO_URL, &text, NULL, 0}, 0, NULL,
                  0);
    link_blob_add(blob, &(struct search_found){SEARCH_URL, &mail, &url, 0}, 0, href,
                  url.n);
    CHECK(!blob->bytes.failed);
}

TEST(link_blob_is_read_as_it_was_written)
{
    struct link_blob blob = {.place_count = 0};

    for (int i = 0; i < 2; i++) {
        fill(&blob);
        CHECK_INT(link_blob_read(blob.bytes.at, blob.bytes.n, &reader), 0);
        CHECK_TRACE(
            "0:3:7:a.href:b#x=http://h/b#x/0/11 0:3:90:a.href:../a=http://h/a/0/0 "
            "0:1:1:text.-:https://h/c:nofollow=https://h/c/0/0 2:9:9:a.href:yyy:cut "
            "1:10:300:a.href:http:// 0:11:1:a.href:mailto:x#y=mailto:x#y/2/9 ");
    }
    link_blob_finish(&blob);
}

TEST(link_blob_takes_few_bytes)
{
    struct link_blob blob = {.place_count = 0};
    struct link link = link_at(1, 10, "a");

    link_blob_begin(&blob);
    for (unsigned i = 0; i < 100; i++) {
        link.place.line++;
        add(&blob, SEARCH_URL, &link, 1);
    }
    CHECK(blob.bytes.n <= 100 * 6 + 16);
    link_blob_finish(&blob);
}

TEST(link_blob_has_room_for_any_number_of_places)
{
    enum { COUNT = 2 * LINK_BLOB_PLACES + 3 };
    static char names[COUNT][8];
    struct link_blob blob = {.place_count = 0};
    struct link link = link_at(1, 1, "x");
    char last[64];

    link_blob_begin(&blob);
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "e%d", i);
        link.element = names[i];
        link_blob_add(&blob, &(struct search_found){SEARCH_NO_URL, &link, NULL, 0}, 0,
                      NULL, 0);
    }
    link.element = names[1];
    link_blob_add(&blob, &(struct search_found){SEARCH_NO_URL, &link, NULL, 0}, 0, NULL,
                  0);
    CHECK_INT(link_blob_read(blob.bytes.at, blob.bytes.n, &reader), 0);
    snprintf(last, sizeof last, "1:1:1:e%d.href:x 1:1:1:e1.href:x ", COUNT - 1);
    CHECK(strstr(test_trace_text(), last) != NULL);
    link_blob_finish(&blob);
}

static int ignore(const struct search_found *found, void *arg)
{
    (void)found;
    (void)arg;
    return 0;
}

/*
 * Flip each bit of the blob, or truncate it after each byte. Reading may fail or succeed,
 * but must not overrun the buffer.
 */
TEST(link_blob_that_is_damaged_is_refused_or_read)
{
    const struct link_blob_reader silent = {url_of, ignore, NULL};
    struct link_blob blob = {.place_count = 0};
    unsigned char *copy;

    fill(&blob);
    for (size_t i = 0; i < blob.bytes.n; i++) {
        for (unsigned bit = 0; bit <= 8; bit++) {
            size_t n = bit < 8 ? blob.bytes.n : i;
            int rc;

            /* ASan detects overruns because the buffer is exactly as long as the data */
            copy = malloc(n > 0 ? n : 1);
            CHECK(copy != NULL);
            memcpy(copy, blob.bytes.at, n);
            if (bit < 8)
                copy[i] ^= (unsigned char)(1u << bit);
            rc = link_blob_read(copy, n, &silent);
            CHECK(rc == 0 || rc == -EBADMSG);
            free(copy);
        }
    }
    link_blob_finish(&blob);
}
