/*
 * fuzz_sitemap.c - checks that the URLs in a sitemap are within the limits, and do not
 * depend on the pieces in which it arrives. The first byte of the input selects plain
 * text or gzip. In gzip, only the limits are checked.
 */
#include "fuzz.h"

#include "../crawler/page/feed/sitemap.h"

struct found {
    size_t count;
    uint64_t hash; /* hash of all references and positions */
};

static int take(const struct link *link, void *arg)
{
    struct found *found = arg;

    CLAIM(link->reference[0] != '\0' && strlen(link->reference) <= HTML_VALUE_BYTES);
    CLAIM(link->place.line >= 1 && link->place.column >= 1);
    found->count++;
    found->hash = (found->hash * 31 + link->place.line) * 31 + link->place.column;
    for (const char *s = link->reference; *s != '\0'; s++)
        found->hash = found->hash * 31 + (unsigned char)*s;
    return 0;
}

static struct found found_in(struct sitemap *sitemap)
{
    struct found found = {0, 0};
    const char *problem = sitemap_problem(sitemap);

    CLAIM(problem == NULL || problem[0] != '\0');
    CLAIM(sitemap_visit(sitemap, take, &found) == 0);
    sitemap_destroy(sitemap);
    return found;
}

static struct found find(const uint8_t *data, size_t size, size_t piece)
{
    struct sitemap *sitemap = sitemap_create();

    CLAIM(sitemap != NULL);
    for (size_t at = 0; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        uint8_t *bytes = fuzz_bytes(data + at, n);
        CLAIM(sitemap_feed(sitemap, (char *)bytes, n) == 0);
        free(bytes);
    }
    CLAIM(sitemap_end(sitemap) == 0);
    return found_in(sitemap);
}

static void find_in_gzip(const uint8_t *data, size_t size)
{
    struct sitemap *sitemap = sitemap_create();
    uint8_t *bytes = fuzz_bytes(data, size);

    CLAIM(sitemap != NULL);
    CLAIM(sitemap_inflate(sitemap, (char *)bytes, size) == 0);
    free(bytes);
    found_in(sitemap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct found whole, bytes;

    if (size == 0)
        return 0;
    sitemap_root_of((const char *)data + 1, size - 1);
    if (data[0] == 'z') {
        find_in_gzip(data + 1, size - 1);
        return 0;
    }
    whole = find(data + 1, size - 1, size);
    bytes = find(data + 1, size - 1, 1);
    CLAIM(whole.count == bytes.count && whole.hash == bytes.hash);
    return 0;
}
