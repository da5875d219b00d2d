/*
 * markdown_source.h - find the positions of the URLs of links in a Markdown text. Used by
 * markdown.c.
 */
#ifndef CRAWLER_MARKDOWN_SOURCE_H
#define CRAWLER_MARKDOWN_SOURCE_H

#include "../../base/arena.h"
#include "../html/html_buffer.h"
#include "../../base/table.h"

#include <stdbool.h>
#include <stddef.h>

struct markdown_source {
    const char *text;
    size_t n;
    size_t *lines; /* offset of each line, and of the end of the text */
    size_t line_count;
    struct table definitions; /* maps URLs to the offset of the first "[label]: URL" */
    struct arena arena;
    struct html_buffer scratch;
    size_t at, end;            /* the unread part of the current block */
    size_t none_from, none_to; /* a range without "](" */
    size_t patience;           /* number of bytes that searches may still read */
};

/*
 * Begin a text, which must outlive the struct. Returns 0 or -ENOMEM. After a failure, do
 * not call markdown_source_finish().
 */
int markdown_source_init(struct markdown_source *source, const char *text, size_t n);
void markdown_source_finish(struct markdown_source *source);

/*
 * Return the offset of a line, or the end of the text if it has fewer lines. Lines are
 * numbered from 1.
 */
size_t markdown_source_line(const struct markdown_source *source, int line);

/* Begin a block. Lines and columns are numbered from 1, as in cmark. */
void markdown_source_enter(struct markdown_source *source, int line, int column,
                           int end_line);

/*
 * Find the next n bytes in the current block that equal `s` and do not follow a
 * backslash. If found, store their offset in *at, advance past them and return true.
 */
bool markdown_source_find(struct markdown_source *source, const char *s, size_t n,
                          size_t *at);

/* Advance past the next code span with this content. */
void markdown_source_skip_code(struct markdown_source *source, const char *code);

/*
 * Return the offset of a link's URL, in the link itself or in its definition. If the URL
 * is not found, or the search would take too long, return the end of the previous link.
 * Call this for links in the order in which they end. `label` is the text of the link, or
 * NULL if the link contains anything else.
 */
size_t markdown_source_link(struct markdown_source *source, const char *url,
                            const char *label);

#endif
