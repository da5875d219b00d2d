/*
 * fuzz_css.c - checks that the URLs found in a style sheet do not depend on the pieces in
 * which it arrives.
 */
#include "fuzz.h"

#include "../crawler/page/css/css.h"

struct found {
    size_t count;
    uint64_t hash; /* hash of all URLs and positions */
    struct html_position last;
};

static int take(const struct css_url *url, void *arg)
{
    struct found *found = arg;
    char *text = malloc(3 * url->n);
    size_t n;

    CLAIM(text != NULL && url->n > 0 && url->kind < CSS_KINDS);
    CLAIM(url->place.line > found->last.line || (url->place.line == found->last.line &&
                                                 url->place.column > found->last.column));
    found->last = url->place;
    n = css_decode(url->bytes, url->n, text);
    CLAIM(n <= 3 * url->n && memchr(text, '\0', n) == NULL);
    found->count++;
    found->hash =
        (found->hash * 31 + url->place.line) * 31 + url->place.column + url->kind;
    for (size_t i = 0; i < n; i++)
        found->hash = found->hash * 31 + (unsigned char)text[i];
    free(text);
    return 0;
}

static struct found find(const uint8_t *data, size_t size, size_t piece)
{
    struct found found = {.count = 0};
    struct css css;

    css_init(&css, take, &found);
    for (size_t at = 0; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        uint8_t *text = fuzz_bytes(data + at, n);
        CLAIM(css_feed(&css, (char *)text, n) == 0);
        free(text);
    }
    CLAIM(css_end(&css) == 0);
    css_finish(&css);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct found whole = find(data, size, size + 1), bytes = find(data, size, 1);

    CLAIM(whole.count == bytes.count && whole.hash == bytes.hash);
    find(data, size, 5);
    return 0;
}
