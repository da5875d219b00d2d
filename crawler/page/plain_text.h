/*
 * plain_text.h - the URLs that are written in plain text.
 */
#ifndef CRAWLER_PLAIN_TEXT_H
#define CRAWLER_PLAIN_TEXT_H

#include "link/links.h"

/*
 * Call visit() for each URL of http and https in n bytes of UTF-8, in their order, until it returns
 * non-zero, and return that. A URL ends at white space, a quote or an angle bracket, and the
 * punctuation of the sentence around it does not belong to it. One with a placeholder,
 * "http://h/{name}", is left out. -ENOMEM.
 */
int plain_text_visit(const char *text, size_t n, links_visit_function visit, void *arg);

#endif
