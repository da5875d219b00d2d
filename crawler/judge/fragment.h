/*
 * fragment.h - check whether a page has the element that a fragment names.
 */
#ifndef CRAWLER_FRAGMENT_H
#define CRAWLER_FRAGMENT_H

#include "../frontier/target.h"

/*
 * Return 1 if a searched page has the element that the fragment names, 0 if not, or
 * -ENOMEM. The fragment is compared with the ids as written in the URL, and then decoded.
 * (HTML standard: find a potential indicated element) A range of lines such as "208-210"
 * or "L10-L20" exists if both of its ends exist. In Markdown, ids that GitHub adds also
 * count.
 */
int fragment_is_on(const struct targets *targets, const struct target *page,
                   const char *fragment);

/*
 * Return true if a script of the page probably interprets the fragment, so that the page
 * need not have an element with this id. Examples: "#/guide" and "#!/users" in
 * applications (docsify, Vue, React, AngularJS), and "#L10-L20" for the lines of a file
 * on GitHub.
 */
bool fragment_is_route(const struct target *page, const char *fragment);

#endif
