/*
 * markdown_mask.h - what of a Markdown text is no Markdown; for markdown.c.
 */
#ifndef CRAWLER_MARKDOWN_MASK_H
#define CRAWLER_MARKDOWN_MASK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Copy a text of n bytes, without what GitHub does not read as Markdown: what stands between two lines
 * of "---" at the beginning, and formulas, "$x$" and "$$x$$", which keep their words; and with
 * `is_mdx` also comments and lines that import or export. Places stay what they are. *copy is for
 * free(), or NULL if there is nothing of that kind. 0 or -ENOMEM.
 */
int markdown_mask(const char *text, size_t n, bool is_mdx, char **copy);

#endif
