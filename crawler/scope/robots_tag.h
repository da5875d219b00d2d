/*
 * robots_tag.h - parse the header X-Robots-Tag.
 */
#ifndef CRAWLER_ROBOTS_TAG_H
#define CRAWLER_ROBOTS_TAG_H

#include <stdbool.h>

/* True if the value forbids following links, such as "noindex, nofollow" or "none". A
   value for this crawler ("coil-crawl: nofollow") also counts, but a value for another
   crawler ("googlebot: nofollow") does not. */
bool robots_tag_has_nofollow(const char *value);

#endif
