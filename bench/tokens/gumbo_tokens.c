/*
 * gumbo_tokens.c - finds the links of pages with libgumbo: it builds a tree for each
 * page, and walks through the tree.
 */
#include "tokens.h"

#include <gumbo.h>

static const struct {
    GumboTag tag;
    const char *attributes[2];
} linking[] = {
    {GUMBO_TAG_A, {"href"}},      {GUMBO_TAG_AREA, {"href"}},
    {GUMBO_TAG_LINK, {"href"}},   {GUMBO_TAG_IMG, {"src", "srcset"}},
    {GUMBO_TAG_SCRIPT, {"src"}},  {GUMBO_TAG_IFRAME, {"src"}},
    {GUMBO_TAG_FRAME, {"src"}},   {GUMBO_TAG_VIDEO, {"src", "poster"}},
    {GUMBO_TAG_AUDIO, {"src"}},   {GUMBO_TAG_SOURCE, {"src", "srcset"}},
    {GUMBO_TAG_TRACK, {"src"}},   {GUMBO_TAG_EMBED, {"src"}},
    {GUMBO_TAG_OBJECT, {"data"}}, {GUMBO_TAG_FORM, {"action"}},
    {GUMBO_TAG_BASE, {"href"}},
};

static size_t links_of(const GumboElement *element)
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof linking / sizeof linking[0]; i++)
        for (size_t k = 0; k < 2 && linking[i].tag == element->tag; k++)
            count += linking[i].attributes[k] != NULL &&
                     gumbo_get_attribute(&element->attributes,
                                         linking[i].attributes[k]) != NULL;
    return count;
}

static size_t links_below(const GumboNode *node)
{
    const GumboElement *element = &node->v.element;
    size_t count;

    if (node->type != GUMBO_NODE_ELEMENT)
        return 0;
    count = links_of(element);
    for (unsigned i = 0; i < element->children.length; i++)
        count += links_below(element->children.data[i]);
    return count;
}

static size_t count_links(const struct page *page)
{
    GumboOutput *output =
        gumbo_parse_with_options(&kGumboDefaultOptions, page->html, page->n);
    size_t count = links_below(output->root);

    gumbo_destroy_output(&kGumboDefaultOptions, output);
    return count;
}

int main(int argc, char **argv)
{
    (void)argc;
    return measure(argv[1], count_links);
}
