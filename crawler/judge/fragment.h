/*
 * fragment.h - whether a page has the place that a fragment names.
 */
#ifndef CRAWLER_FRAGMENT_H
#define CRAWLER_FRAGMENT_H

#include "../frontier/target.h"

/*
 * Return 1 if a searched page has the place that the fragment names, 0 if not, or
 * -ENOMEM. The fragment is compared as written in the URL, and decoded. (HTML standard:
 * find a potential indicated element) A range of lines, "208-210" or "L10-L20", exists if
 * both of its ends do. For Markdown, the places that GitHub adds count, too.
 */
int fragment_is_on(const struct targets *targets, const struct target *page,
                   const char *fragment);

/*
 * Return true if a script of the page interprets the fragment, so that no element need
 * have it as id. Examples: "#/guide" and "#!/users" in applications (docsify, Vue, React,
 * AngularJS), and "#L10-L20" for the lines of a file on GitHub.
 */
bool fragment_is_route(const struct target *page, const char *fragment);

#endif
