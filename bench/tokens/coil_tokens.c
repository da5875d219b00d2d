/*
 * coil_tokens.c - finds the links of pages with coil-crawl's tokenizer. The tokenizer
 * gets the pages in pieces, as from a network.
 */
#include "tokens.h"

#include "../../crawler/page/link/links.h"

#define PIECE_BYTES ((size_t)16 * 1024)

static struct links links;

static int count(const struct link *link, void *arg)
{
    (void)link;
    ++*(size_t *)arg;
    return 0;
}

static size_t count_links(const struct page *page)
{
    size_t found = 0;

    links_reset(&links);
    for (size_t at = 0; at < page->n; at += PIECE_BYTES)
        links_feed(&links, page->html + at,
                   page->n - at < PIECE_BYTES ? page->n - at : PIECE_BYTES);
    links_end(&links);
    links_visit(&links, false, count, &found);
    return found;
}

int main(int argc, char **argv)
{
    (void)argc;
    links_init(&links);
    return measure(argv[1], count_links);
}
