/*
 * robots_tag.h - parse the header X-Robots-Tag.
 */
#ifndef CRAWLER_ROBOTS_TAG_H
#define CRAWLER_ROBOTS_TAG_H

#include <stdbool.h>

/* True if the value forbids following links, such as "noindex, nofollow" or "none".
   Values for this crawler ("coil-crawl: nofollow") count, but values for another crawler
   ("googlebot: nofollow") do not. */
bool robots_tag_has_nofollow(const char *value);

#endif
