/*
 * page_reader.h - decide which bodies are searched, and pass them to the search.
 */
#ifndef CRAWLER_PAGE_READER_H
#define CRAWLER_PAGE_READER_H

#include "../fetch/request.h"
#include "process.h"

/* Return a reader that passes the body of visit->page to the search visit->pages. */
struct body_reader page_reader(struct visit *visit);

/* True if the page was found as a sitemap, or is a start with the content type of a
   sitemap or feed. */
bool page_is_named_as_sitemap(const struct target *page, const char *content_type);

#endif
