/* sniff.h - guess the type of a page without a content type, from its first bytes. */
#ifndef CRAWLER_SNIFF_H
#define CRAWLER_SNIFF_H

#include <stddef.h>

enum sniffed { SNIFFED_HTML, SNIFFED_XML, SNIFFED_TEXT, SNIFFED_BINARY };

/* Guess the type of a page from its first n bytes. (WHATWG, MIME Sniffing, 7.1:
   identifying a resource with an unknown MIME type) */
enum sniffed sniff(const char *bytes, size_t n);

#endif
