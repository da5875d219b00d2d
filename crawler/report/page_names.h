/*
 * page_names.h - the names of pages in reports. The name of a file is its path relative
 * to the working directory.
 */
#ifndef CRAWLER_PAGE_NAMES_H
#define CRAWLER_PAGE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct page_names {
    /* URL of the working directory, without a trailing slash; NULL if it was deleted */
    char *folder;
    size_t n;
};

/*
 * Find the working directory. Returns 0 or -ENOMEM. page_names_finish() accepts a zeroed
 * struct.
 */
int page_names_init(struct page_names *names);
void page_names_finish(struct page_names *names);

/*
 * Return the name of a page for human readers: "docs/a b.md" for a file in the working
 * directory, "/opt/b.md" for a file elsewhere, and the URL of any other page. The caller
 * frees the name. Returns NULL if memory runs out.
 */
char *page_names_path(const struct page_names *names, const char *url);

/*
 * Return the name of a page for programs: its URI, which is relative for a file in the
 * working directory, such as "docs/a%20b.md". The caller frees the name. Returns NULL if
 * memory runs out.
 */
char *page_names_uri(const struct page_names *names, const char *url);

bool page_names_is_file(const char *url);

#endif
