/*
 * fragment.h - does a page have the place that a fragment names?
 */
#ifndef CRAWLER_FRAGMENT_H
#define CRAWLER_FRAGMENT_H

#include "../frontier/target.h"

/*
 * 1 if a page that was searched has the place, as the fragment is written in a URL, or
 * decoded; 0, or -ENOMEM. (HTML standard: find a potential indicated element) So it is
 * with a range of lines both of whose ends are there, "208-210" or "L10-L20", and with
 * what GitHub adds to Markdown.
 */
int fragment_is_on(const struct targets *targets, const struct target *page,
                   const char *fragment);

/*
 * True for a fragment that a script of the page follows: of an application, "#/guide"
 * and "#!/users" (docsify, Vue, React, AngularJS), or lines of a file on GitHub,
 * "#L10-L20".
 */
bool fragment_is_route(const struct target *page, const char *fragment);

#endif
