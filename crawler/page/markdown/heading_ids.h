/*
 * heading_ids.h - the ids that GitHub gives to the headings of a Markdown text.
 */
#ifndef CRAWLER_HEADING_IDS_H
#define CRAWLER_HEADING_IDS_H

#include "../../base/arena.h"
#include "../../base/table.h"

#include <stddef.h>

/* Those of one text. */
struct heading_ids {
    struct table given; /* ids to how often one was asked for */
    struct arena arena;
};

void heading_ids_init(struct heading_ids *ids);
void heading_ids_finish(struct heading_ids *ids);

/*
 * The id of the next heading, whose text without markup is `text`. It lasts as long as `ids`.
 * NULL without memory. (github-slugger, whose cases came from GitHub; html-pipeline)
 */
const char *heading_ids_add(struct heading_ids *ids, const char *text, size_t n);

/* The text in lower case, as an id would have it, for free(). NULL without memory. */
char *heading_ids_lower(const char *text, size_t n);

#endif
