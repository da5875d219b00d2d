/*
 * fragment.h - check whether a page has the element to which a fragment refers.
 */
#ifndef CRAWLER_FRAGMENT_H
#define CRAWLER_FRAGMENT_H

#include "../frontier/target.h"

/*
 * Return 1 if a searched page has the element to which the fragment refers, 0 if not, or
 * -ENOMEM. An id must equal the fragment as written in the URL, or the decoded fragment.
 * (HTML standard: find a potential indicated element) A range of lines such as "208-210"
 * or "L10-L20" exists if both of its ends exist. Markdown pages also have the ids that
 * GitHub adds.
 */
int fragment_is_on(const struct targets *targets, const struct target *page,
                   const char *fragment);

/*
 * Return true if a script of the page probably interprets the fragment, so that no
 * element with this id is needed. Examples: "#/guide" and "#!/users" in applications
 * (docsify, Vue, React, AngularJS), and "#L10-L20" for the lines of a file on GitHub.
 */
bool fragment_is_route(const struct target *page, const char *fragment);

#endif
