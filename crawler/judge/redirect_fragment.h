/*
 * redirect_fragment.h - the fragments in the Locations of redirects.
 *
 * Few redirects have a fragment, so a table has them and not the targets.
 */
#ifndef CRAWLER_REDIRECT_FRAGMENT_H
#define CRAWLER_REDIRECT_FRAGMENT_H

#include "verdicts.h"

/* Remember the fragment of a Location, encoded; NULL if it has none. A page that is
   fetched once more may have another. 0 or -ENOMEM. */
int redirect_set_fragment(struct verdicts *verdicts, const struct target *page,
                          const char *fragment);

/* The fragment of a page that redirects; NULL if it has none. */
const char *redirect_fragment(const struct verdicts *verdicts, const struct target *page);

/* The same; NULL, too, if no fragments are checked. */
const char *redirect_wanted_fragment(const struct verdicts *verdicts,
                                     const struct target *page);

#endif
