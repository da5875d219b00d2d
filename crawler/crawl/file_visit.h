/*
 * file_visit.h - a local file, looked at as a page of the web is.
 */
#ifndef CRAWLER_FILE_VISIT_H
#define CRAWLER_FILE_VISIT_H

#include "page_search.h"

/* Make targets of the files and folders among the starts, and place them. Fails as
   verdicts_settle(), or with -ECANCELED. */
COIL_SUSPENDS int file_enqueue_starts(struct crawler *crawler);

/*
 * Is it there, what does it link to, and which ids has it? 1 if that could not be looked at now,
 * for want of descriptors: it is to be visited once more, after *pause_ns. Fails as
 * verdicts_settle(), or with -ECANCELED.
 */
COIL_SUSPENDS int file_visit(struct page_search *pages, struct target *page,
                             int64_t *pause_ns);

#endif
