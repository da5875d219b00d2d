/*
 * markdown.h - find the links in a Markdown text, as GitHub renders it.
 *
 *     rc = markdown_read(text, n, (struct markdown_options){.wants_ids = true}, &markdown);
 *     if (rc == 0)
 *         rc = markdown_visit(markdown, visit, arg);
 *     markdown_destroy(markdown);
 *
 * The parser is libcmark-gfm with tables, strikethrough, autolinks and footnotes. Raw
 * HTML is searched by links.h. The functions do not use coil.
 */
#ifndef CRAWLER_MARKDOWN_H
#define CRAWLER_MARKDOWN_H

#include "../link/links.h"

#include <stdbool.h>
#include <stddef.h>

struct markdown;

struct markdown_options {
    bool wants_ids;
    bool is_mdx; /* the text is MDX, with components, comments and imports */
};

/*
 * Find all links and images of a UTF-8 text, and with `wants_ids` all ids. The text is
 * not needed afterwards. The caller must pass *out to markdown_destroy(). After a
 * failure, *out is NULL. The function may run on any thread, but needs half a megabyte of
 * stack, because libcmark-gfm recurses up to a thousand levels.
 *
 * The element of a link is "a" or "img". The place of a link is the place of its URL,
 * which for "[text][label]" is in the definition of the label. Headings (heading_ids.h,
 * and "# Title {#id}"), footnotes, references to footnotes, and raw HTML have ids. Front
 * matter is skipped, and formulas do not contain links: see markdown_mask.h.
 *
 * Fails with -ENOMEM, or with -EMSGSIZE if the text is longer than MARKDOWN_BYTES. If
 * libcmark-gfm itself runs out of memory, it aborts.
 */
int markdown_read(const char *text, size_t n, struct markdown_options options,
                  struct markdown **out);

#define MARKDOWN_BYTES (64 << 20)

/*
 * Call visit() for all links and ids, in document order, until visit() returns nonzero.
 * Returns the last value that visit() returned.
 */
int markdown_visit(const struct markdown *markdown, links_visit_function visit,
                   void *arg);

/* NULL is allowed. */
void markdown_destroy(struct markdown *markdown);

#endif
