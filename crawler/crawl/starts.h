/*
 * starts.h - the URLs, files and folders at which a crawl starts.
 *
 * To support a new kind of start, create its targets in starts.c and pass each of them to
 * enqueue_start() or enqueue_file().
 */
#ifndef CRAWLER_STARTS_H
#define CRAWLER_STARTS_H

#include "crawl.h"

/* Create the targets of the start URLs. These URLs define the site. Returns 0 or
   -ENOMEM. */
int starts_add(struct crawler *crawler);

/* Enqueue the start URLs, files and folders. Fails like verdicts_settle(), or with
   -ECANCELED. */
COIL_SUSPENDS int starts_enqueue(struct crawler *crawler);

#endif
