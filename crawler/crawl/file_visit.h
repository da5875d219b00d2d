/*
 * file_visit.h - check a local file.
 */
#ifndef CRAWLER_FILE_VISIT_H
#define CRAWLER_FILE_VISIT_H

#include "page_search.h"

/*
 * Read a file, search it if necessary, and settle its verdict. Returns 0, or 1 after a
 * temporary failure such as EMFILE: the caller must try again after *pause_ns. Fails like
 * verdicts_settle(), or with -ECANCELED.
 */
COIL_SUSPENDS int file_visit(struct page_search *pages, struct target *page,
                             int64_t *pause_ns);

#endif
