/*
 * digest_inside.h - private declarations shared by digest.c and digest_order.c.
 */
#ifndef CRAWLER_DIGEST_INSIDE_H
#define CRAWLER_DIGEST_INSIDE_H

#include "digest.h"

void digest_release_page(struct digest_page *page);

/*
 * Return the URL at the end of a chain of redirects or, if `is_for_good` is true, after
 * the permanent redirects at its beginning. Return NULL if the URL does not redirect.
 */
const char *digest_end_of_chain(const struct digest *digest, const char *url,
                                bool is_for_good);

#endif
