/*
 * redirect_fragment.h - store the fragments of the URLs in Location headers.
 *
 * The fragments are stored in a table instead of struct target, because few redirects
 * have a fragment.
 */
#ifndef CRAWLER_REDIRECT_FRAGMENT_H
#define CRAWLER_REDIRECT_FRAGMENT_H

#include "verdicts.h"

/*
 * Store the encoded fragment of the page's Location header, or NULL if there is none. The
 * new value replaces the fragment from an earlier fetch. Returns 0 or -ENOMEM.
 */
int redirect_set_fragment(struct verdicts *verdicts, const struct target *page,
                          const char *fragment);

/* Return the stored fragment of the page's redirect, or NULL. */
const char *redirect_fragment(const struct verdicts *verdicts, const struct target *page);

/*
 * Like redirect_fragment(), but return NULL if fragments are not checked (--fragments
 * none).
 */
const char *redirect_wanted_fragment(const struct verdicts *verdicts,
                                     const struct target *page);

#endif
