/*
 * markdown_mask.h - hide the parts of a Markdown text that are not Markdown; used by
 * markdown.c.
 */
#ifndef CRAWLER_MARKDOWN_MASK_H
#define CRAWLER_MARKDOWN_MASK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Copy a text of n bytes without the parts that GitHub does not read as Markdown: front
 * matter between two lines of "---", and formulas, "$x$" and "$$x$$", which keep their
 * words. With `is_mdx` also comments, and lines that import or export. All offsets remain
 * the same. The caller frees *copy, which is NULL if the text has no such parts. Returns
 * 0 or -ENOMEM.
 */
int markdown_mask(const char *text, size_t n, bool is_mdx, char **copy);

#endif
