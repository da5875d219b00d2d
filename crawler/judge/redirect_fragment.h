/*
 * redirect_fragment.h - the fragments in the Locations of redirects.
 *
 * Few redirects have a fragment, so a table has them and not the targets.
 */
#ifndef CRAWLER_REDIRECT_FRAGMENT_H
#define CRAWLER_REDIRECT_FRAGMENT_H

#include "verdicts.h"

/* Store the fragment of a Location, encoded, or NULL. If the page is fetched again, its
   fragment may change. 0 or -ENOMEM. */
int redirect_set_fragment(struct verdicts *verdicts, const struct target *page,
                          const char *fragment);

/* Return the fragment of a page that redirects, or NULL. */
const char *redirect_fragment(const struct verdicts *verdicts, const struct target *page);

/* The same, but NULL if fragments are not checked. */
const char *redirect_wanted_fragment(const struct verdicts *verdicts,
                                     const struct target *page);

#endif
