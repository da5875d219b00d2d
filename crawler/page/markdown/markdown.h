/*
 * markdown.h - what a Markdown text points at, as GitHub renders it.
 *
 *     rc = markdown_read(text, n, (struct markdown_options){.wants_ids = true}, &markdown);
 *     if (rc == 0)
 *         rc = markdown_visit(markdown, visit, arg);
 *     markdown_destroy(markdown);
 *
 * By libcmark-gfm, with tables, strikethrough, autolinks and footnotes. Raw HTML is searched as
 * links.h does. Calls nothing of coil.
 */
#ifndef CRAWLER_MARKDOWN_H
#define CRAWLER_MARKDOWN_H

#include "../link/links.h"

#include <stdbool.h>
#include <stddef.h>

struct markdown;

struct markdown_options {
    bool wants_ids;
    bool is_mdx; /* with components, comments and imports of MDX */
};

/*
 * Find each link and image of a text of UTF-8, and if asked for each id. The text is not needed
 * any more then; *out is for markdown_destroy(), NULL on failure. Any thread whose stack has half a
 * megabyte: libcmark-gfm calls itself a thousand deep.
 *
 * A link's element is "a" or "img"; its place is where its URL is written, which for
 * "[text][label]" is the definition. The ids are those of headings, in raw HTML too
 * (heading_ids.h, and "# Title {#id}"), of footnotes and of what refers to them, and of raw
 * HTML. Front matter is skipped, and formulas have no links:
 * markdown_mask.h. In MDX, "{url}" is an expression, and not a link.
 *
 * -ENOMEM; but libcmark-gfm stops the program where it gets no memory. -EMSGSIZE: more than
 * MARKDOWN_BYTES.
 */
int markdown_read(const char *text, size_t n, struct markdown_options options,
                  struct markdown **out);

#define MARKDOWN_BYTES (64 << 20)

/* Call visit() for what was found, in the order of the text, until it returns non-zero, and return
   that. */
int markdown_visit(const struct markdown *markdown, links_visit_function visit,
                   void *arg);

/* NULL is accepted. */
void markdown_destroy(struct markdown *markdown);

#endif
