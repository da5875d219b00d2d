/*
 * starts.h - the URLs, files and folders at which a crawl starts.
 *
 * A new kind of start is made into targets here, and each of them goes to
 * enqueue_start() or enqueue_file().
 */
#ifndef CRAWLER_STARTS_H
#define CRAWLER_STARTS_H

#include "crawl.h"

/* Make targets of the URLs among the starts. They define the site. 0 or -ENOMEM. */
int starts_add(struct crawler *crawler);

/* Enqueue them, and the files and folders among the starts. As verdicts_settle(), or
   -ECANCELED. */
COIL_SUSPENDS int starts_enqueue(struct crawler *crawler);

#endif
