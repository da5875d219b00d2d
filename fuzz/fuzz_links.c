/*
 * fuzz_links.c - checks that the resolved links of a page do not depend on the pieces in
 * which it arrives.
 */
#include "fuzz.h"

#include "../crawler/page/link/links.h"
#include "../crawler/url/url.h"

#include <errno.h>

struct found {
    int count, bases;
    uint64_t hash; /* hash of all references and positions */
};

static int resolve(const struct link *link, void *arg)
{
    struct found *found = arg;
    char *url = NULL;
    int rc = url_resolve("http://a.example/b/c?d", link->reference, &url);

    CLAIM(rc == 0 || rc == -EINVAL || rc == -EPROTONOSUPPORT || rc == -ENOMEM);
    CLAIM((rc == 0) == (url != NULL));
    free(url);
    if (link->kind == LINK_BASE)
        CLAIM(found->count == 0 && ++found->bases == 1);
    found->count++;
    found->hash = found->hash * 31 + link->place.line + 7 * link->place.column;
    for (const char *s = link->reference; *s != '\0'; s++)
        found->hash = found->hash * 31 + (unsigned char)*s;
    return 0;
}

static struct found find(const uint8_t *data, size_t size, size_t piece, bool is_latin)
{
    struct found found = {0, 0, 0};
    struct links links;

    links_init(&links);
    links.wants_ids = size % 2 == 1;
    for (size_t at = 0; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        uint8_t *html = fuzz_bytes(data + at, n);
        CLAIM(links_feed(&links, (char *)html, n) == 0);
        free(html);
    }
    CLAIM(links_end(&links) == 0);
    CLAIM(links_visit(&links, is_latin, resolve, &found) == 0);
    links_finish(&links);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct found whole = find(data, size, size + 1, false),
                 bytes = find(data, size, 1, false);

    CLAIM(whole.count == bytes.count && whole.hash == bytes.hash);
    find(data, size, 5, true);
    return 0;
}
