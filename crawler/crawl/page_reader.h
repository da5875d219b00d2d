/*
 * page_reader.h - decide which bodies are searched, and pass them to the search.
 */
#ifndef CRAWLER_PAGE_READER_H
#define CRAWLER_PAGE_READER_H

#include "../fetch/request.h"
#include "worker.h"

/* Return a reader that passes the body of worker->page to the worker's search. */
struct request_reader page_reader(struct worker *worker);

/* True for a sitemap, and for a start whose type is that of sitemaps or feeds. */
bool page_is_named_as_sitemap(const struct target *page, const char *content_type);

#endif
