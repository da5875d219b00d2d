/*
 * page_text.h - the text of an HTML page, as a text fragment ("#:~:text=...") is looked for in it.
 */
#ifndef CRAWLER_PAGE_TEXT_H
#define CRAWLER_PAGE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The text of a page of UTF-8: in lower case, white space as one ' ', and '\n' between blocks. What
 * browsers do not show, scripts and styles, is left out. *out is for free(). 0 or -ENOMEM.
 */
int page_text(const char *html, size_t n, char **out);

/*
 * True if the text has what a directive asks for, "text=prefix-,start,end,-suffix&text=start", all of
 * it; one that is malformed asks for nothing. `directive` is as written behind ":~:", percent-encoded.
 * 1, 0 or -ENOMEM. (URL Fragment Text Directives: find a range from a text directive)
 */
int page_text_has(const char *text, const char *directive);

#endif
