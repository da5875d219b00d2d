/*
 * page_text.h - extract the text of an HTML page, and search it for text fragments
 * ("#:~:text=...").
 */
#ifndef CRAWLER_PAGE_TEXT_H
#define CRAWLER_PAGE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Extract the text of a UTF-8 page. The text is in lower case, with single spaces, and
 * '\n' between blocks. Scripts, styles and other invisible text are omitted. The caller
 * frees *out. Returns 0 or -ENOMEM.
 */
int page_text(const char *html, size_t n, char **out);

/*
 * Return 1 if the page's text contains all texts of a directive, 0 if not, or -ENOMEM.
 * `directive` is the percent-encoded part of the URL after ":~:", such as
 * "text=prefix-,start,end,-suffix&text=start". Malformed parts are ignored. (URL Fragment
 * Text Directives: find a range from a text directive)
 */
int page_text_has(const char *text, const char *directive);

#endif
