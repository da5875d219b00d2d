/*
 * heading_ids.h - generate the same ids for Markdown headings as GitHub.
 */
#ifndef CRAWLER_HEADING_IDS_H
#define CRAWLER_HEADING_IDS_H

#include "../../base/arena.h"
#include "../../base/table.h"

#include <stddef.h>

/* The ids of all headings in one text. */
struct heading_ids {
    /* maps each id to the last number appended to it: "x" to 2 after "x-2" */
    struct table given;
    struct arena arena;
};

void heading_ids_init(struct heading_ids *ids);
void heading_ids_finish(struct heading_ids *ids);

/*
 * Return the id of the next heading. `text` is the text of the heading without markup.
 * The id is valid until heading_ids_finish(). Returns NULL if memory runs out. The rules
 * follow html-pipeline and github-slugger, and were tested with ids from GitHub.
 */
const char *heading_ids_add(struct heading_ids *ids, const char *text, size_t n);

/*
 * Return the text in lower case, as in an id. The caller frees it. Returns NULL if memory
 * runs out.
 */
char *heading_ids_lower(const char *text, size_t n);

#endif
