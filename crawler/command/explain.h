/*
 * explain.h - `coil-crawl explain URL [START...]`: what becomes of a URL, and why.
 */
#ifndef CRAWLER_EXPLAIN_H
#define CRAWLER_EXPLAIN_H

#include "../options/options.h"

#include <coil/base.h>

#include <stdio.h>

struct explanation {
    const struct options
        *options; /* the first start is the URL, the others are where a crawl begins */
    FILE *out;
};

/*
 * A task's body, `arg` being the explanation: write how the URL is understood, if it is of the
 * site, which rule is against it, what robots.txt says, how it is asked for, where it redirects
 * to, and its verdict. Asks for robots.txt and for the URL. 0, -ECANCELED, -ENOMEM.
 */
COIL_SUSPENDS int explain(void *arg);

#endif
