#include "../../../../../crawler/page/html/html_tree.h"
#include "../../../../harness/harness.h"

#include <string.h>

/* Fill in a tree in which most tags are only counted. */
static void make_tree(struct html_tree *tree, uint32_t count, bool form_is_open)
{
    html_tree_reset(tree);
    html_tree_text(tree, "text", 4); /* begins the body, and rules out frames */
    tree->form_is_open = form_is_open;
    for (size_t i = 0; i < ELEMENT_COUNT; i++)
        tree->counts[i] = count;
}

static void check_start(enum html_element element, const struct html_tree *before,
                        unsigned flags)
{
    struct html_name name = {html_element_name(element), 0, 0};
    struct html_tree tree = *before, counted = *before;
    struct html_start start = {.name = &name,
                               .element = element,
                               .is_self_closing = flags & 1,
                               .is_styled = flags & 2,
                               .has_html = flags & 2,
                               .is_hidden = flags & 4,
                               .is_shadow = flags & 4};
    struct html_effect effect = html_tree_start(&tree, &start);

    html_tree_count(&counted, element, false);
    CHECK(memcmp(&tree, &counted, sizeof tree) == 0);
    CHECK(effect.is_inserted && !effect.is_foreign && !effect.drops_body);
    CHECK_INT(effect.content, HTML_DATA);
}

static void check_end(enum html_element element, const struct html_tree *before)
{
    struct html_name name = {html_element_name(element), 0, 0};
    struct html_tree tree = *before, counted = *before;

    html_tree_end(&tree, &name, element);
    html_tree_count(&counted, element, true);
    CHECK(memcmp(&tree, &counted, sizeof tree) == 0);
}

/* Check the shortcut for elements without rules of their own. */
TEST(html_tree_counts_as_it_starts_and_ends_elements)
{
    static struct html_tree tree;
    int checked = 0;

    for (unsigned flags = 0; flags < 32; flags++)
        for (int element = 0; element < ELEMENT_COUNT; element++) {
            make_tree(&tree, flags >> 3 & 1, flags >> 4 & 1);
            if (!html_tree_only_counts(&tree, (enum html_element)element))
                continue;
            check_start((enum html_element)element, &tree, flags & 7);
            check_end((enum html_element)element, &tree);
            checked++;
        }
    CHECK(checked > 32 * ELEMENT_COUNT / 2);
}

TEST(html_tree_does_not_only_count_inside_other_elements)
{
    static struct html_tree tree;
    struct html_name name = {"select", 6, 0};
    struct html_start start = {.name = &name, .element = ELEMENT_SELECT};

    make_tree(&tree, 0, false);
    CHECK(html_tree_only_counts(&tree, ELEMENT_A));
    html_tree_start(&tree, &start);
    CHECK(!html_tree_only_counts(&tree, ELEMENT_A));
    html_tree_reset(&tree);
    CHECK(!html_tree_only_counts(&tree, ELEMENT_A)); /* a <frameset> may follow */
}
