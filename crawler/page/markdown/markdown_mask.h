/*
 * markdown_mask.h - hide the parts of a Markdown text that are not Markdown. Used by
 * markdown.c.
 */
#ifndef CRAWLER_MARKDOWN_MASK_H
#define CRAWLER_MARKDOWN_MASK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Copy a text of n bytes, and replace what GitHub does not read as Markdown with blanks:
 * front matter between two lines of "---", and the punctuation in formulas, "$x$" and
 * "$$x$$". If `is_mdx` is true, also replace comments, imports and exports. Offsets in
 * the copy are the same as in the text. The caller frees *copy, which is NULL if nothing
 * had to be replaced. Returns 0 or -ENOMEM.
 */
int markdown_mask(const char *text, size_t n, bool is_mdx, char **copy);

#endif
