/*
 * page_reader.h - decide whether to search the body of a response, and pass it to the
 * search.
 */
#ifndef CRAWLER_PAGE_READER_H
#define CRAWLER_PAGE_READER_H

#include "../fetch/request.h"
#include "process.h"

/* Return a reader that passes the body of visit->page to the search visit->pages. */
struct body_reader page_reader(struct visit *visit);

/*
 * True if robots.txt, a sitemap or the user named the page as a sitemap, or if it is a
 * start URL with the content type of a sitemap or feed.
 */
bool page_is_named_as_sitemap(const struct target *page, const char *content_type);

#endif
