/*
 * page_reader.h - which answers have a body that is searched, and how.
 */
#ifndef CRAWLER_PAGE_READER_H
#define CRAWLER_PAGE_READER_H

#include "../fetch/request.h"
#include "worker.h"

/* A reader that feeds the body of worker->page to the worker's search. */
struct request_reader page_reader(struct worker *worker);

/* True for a sitemap, and for a start whose type is that of sitemaps or feeds. */
bool page_is_named_as_sitemap(const struct target *page, const char *content_type);

#endif
