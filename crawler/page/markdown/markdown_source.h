/*
 * markdown_source.h - find where a part of a Markdown text's tree is written in the text.
 * Used by markdown.c.
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
    size_t at, end;            /* the part of the current block that is not read yet */
    size_t none_from, none_to; /* a range without "](" */
    size_t patience;           /* how many bytes may still be searched; see PATIENCE */
};

/*
 * Begin a text, which must outlive the struct. Fails with -ENOMEM. After a failure, there
 * is no need to call markdown_source_finish().
 */
int markdown_source_init(struct markdown_source *source, const char *text, size_t n);
void markdown_source_finish(struct markdown_source *source);

/* Return the offset of a line. Lines count from 1. Returns the end of the text if there
   is no such line. */
size_t markdown_source_line(const struct markdown_source *source, int line);

/* Begin a block. Lines and columns count from 1, as in cmark. */
void markdown_source_enter(struct markdown_source *source, int line, int column,
                           int end_line);

/*
 * Advance to the next occurrence of these n bytes that does not follow a backslash.
 * Returns true and sets *at if there is one.
 */
bool markdown_source_find(struct markdown_source *source, const char *s, size_t n,
                          size_t *at);

/* Advance past the next code span with this content. */
void markdown_source_skip_code(struct markdown_source *source, const char *code);

/*
 * Return the offset of a link's URL, which is in the link or in its definition. The
 * function must be called for links in the order in which they end. If the URL is not
 * found, or the search would take too long, returns the end of the previous link. `label`
 * is the text of a link that contains only text, or NULL.
 */
size_t markdown_source_link(struct markdown_source *source, const char *url,
                            const char *label);

#endif
