/*
 * page_names.h - how a report names a page: files by their paths, from the working directory on.
 */
#ifndef CRAWLER_PAGE_NAMES_H
#define CRAWLER_PAGE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct page_names {
    char *
        folder; /* the URL of the working directory, without a slash; NULL where that is gone */
    size_t n;
};

/* 0 or -ENOMEM. Finish zeroes, too. */
int page_names_init(struct page_names *names);
void page_names_finish(struct page_names *names);

/* For people: "docs/a b.md" of a file, "/opt/b.md" of one elsewhere, else the URL. For free(); NULL
   without memory. */
char *page_names_path(const struct page_names *names, const char *url);

/* For programs: a URI, relative to the working directory where the file lies in it,
   "docs/a%20b.md". For free(); NULL without memory. */
char *page_names_uri(const struct page_names *names, const char *url);

bool page_names_is_file(const char *url);

#endif
