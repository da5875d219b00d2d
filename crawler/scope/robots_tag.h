/*
 * robots_tag.h - parse the header X-Robots-Tag.
 */
#ifndef CRAWLER_ROBOTS_TAG_H
#define CRAWLER_ROBOTS_TAG_H

#include <stdbool.h>

/*
 * True if the value forbids following links, as in "noindex, nofollow" or "none". A value
 * may be limited to one crawler: "coil-crawl: nofollow" is obeyed, "googlebot: nofollow"
 * is ignored.
 */
bool robots_tag_has_nofollow(const char *value);

#endif
