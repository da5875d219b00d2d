/*
 * fuzz_markdown.c - checks that the links of a Markdown text are in document order, and
 * do not depend on whether ids are wanted.
 */
#include "fuzz.h"

#include "../crawler/page/markdown/markdown.h"

struct seen {
    struct html_position last;
    size_t links, lines;
};

static int check_link(const struct link *link, void *arg)
{
    struct seen *seen = arg;

    CLAIM(link->place.line >= 1 && link->place.line <= seen->lines);
    CLAIM(link->place.column >= 1);
    CLAIM(
        link->place.line > seen->last.line ||
        (link->place.line == seen->last.line && link->place.column >= seen->last.column));
    CLAIM(link->kind != LINK_BASE);
    seen->last = link->place;
    seen->links += link->kind == LINK_OTHER;
    return 0;
}

static void search(const char *text, size_t n, bool wants_ids, struct seen *seen)
{
    struct markdown *markdown;

    CLAIM(markdown_read(text, n, (struct markdown_options){.wants_ids = wants_ids},
                        &markdown) == 0);
    CLAIM(markdown_visit(markdown, check_link, seen) == 0);
    markdown_destroy(markdown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = (char *)fuzz_bytes(data, size);
    struct seen with = {.lines = size + 1}, without = {.lines = size + 1};

    search(text, size, true, &with);
    search(text, size, false, &without);
    CLAIM(with.links == without.links);
    free(text);
    return 0;
}
