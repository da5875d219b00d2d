/* plain_text.h - find the URLs in plain text. */
#ifndef CRAWLER_PLAIN_TEXT_H
#define CRAWLER_PLAIN_TEXT_H

#include "link/links.h"

/*
 * Call visit() for each http or https URL in n bytes of UTF-8, in order, until visit()
 * returns nonzero. Returns the last value that visit() returned, or -ENOMEM. A URL ends
 * at white space, a quote or an angle bracket. Punctuation of the surrounding sentence is
 * not part of the URL. URLs with placeholders, such as "http://h/{name}", are ignored.
 */
int plain_text_visit(const char *text, size_t n, links_visit_function visit, void *arg);

#endif
