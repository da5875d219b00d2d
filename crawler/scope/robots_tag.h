/*
 * robots_tag.h - the header X-Robots-Tag.
 */
#ifndef CRAWLER_ROBOTS_TAG_H
#define CRAWLER_ROBOTS_TAG_H

#include <stdbool.h>

/* True if the value forbids following links: "noindex, nofollow", "none". A value for
   another crawler, "googlebot: nofollow", does not count; "coil-crawl: nofollow" does. */
bool robots_tag_has_nofollow(const char *value);

#endif
