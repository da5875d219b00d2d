/*
 * markdown_source.h - where in a Markdown text the parts of its tree were written; for markdown.c.
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
    size_t *lines; /* where each begins, and the end */
    size_t line_count;
    struct table
        definitions; /* URLs to the places of "[label]: URL", the first of each */
    struct arena arena;
    struct html_buffer scratch;
    size_t at, end;            /* what is left of the block that is being read */
    size_t none_from, none_to; /* no "](" begins from the one up to the other */
    size_t patience;           /* so many bytes may still be looked at in vain */
};

/* `text` is borrowed. 0 or -ENOMEM; then it is finished. */
int markdown_source_init(struct markdown_source *source, const char *text, size_t n);
void markdown_source_finish(struct markdown_source *source);

/* Where a line begins, from 1; the end of the text behind the last. */
size_t markdown_source_line(const struct markdown_source *source, int line);

/* A block begins: lines and column from 1, as cmark has them. */
void markdown_source_enter(struct markdown_source *source, int line, int column,
                           int end_line);

/*
 * Read on to the next place where n bytes stand as they are, behind no backslash. True, and
 * *at, if there is one.
 */
bool markdown_source_find(struct markdown_source *source, const char *s, size_t n,
                          size_t *at);

/* Read on over a code span. */
void markdown_source_skip_code(struct markdown_source *source, const char *code);

/*
 * Where the URL of the link was written which ends next: in it, or in its definition; or
 * where the last one ended, if it cannot be found, or the text is made to be searched for ever.
 * `label` is its text, if that is all it has.
 */
size_t markdown_source_link(struct markdown_source *source, const char *url,
                            const char *label);

#endif
