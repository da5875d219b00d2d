/*
 * collector.h - answers that other machines have brought, put into a crawl's file: page_blob.h.
 *
 *     rc = collector_create(store, max_url_bytes, &collector);
 *     at = collector_last(collector);                       // what it has already
 *     ...
 *     rc = collector_add(collector, number, bytes, n);      // each, in their order
 *     rc = collector_save(collector);                       // then the file has them
 *     ...
 *     rc = collector_finish(collector, is_over);
 *
 * URLs have numbers in the file, which the blobs know nothing of: the collector has all of them in memory.
 */
#ifndef CRAWLER_COLLECTOR_H
#define CRAWLER_COLLECTOR_H

#include "store.h"

#include <coil/base.h>

struct collector;

/* The store becomes the collector's, whatever comes of it. Links to longer URLs than that are not followed,
   and have no number. 0, -ENOMEM, -EBADMSG, or as store_each_url(). */
int collector_create(struct store *store, size_t max_url_bytes, struct collector **out);

/* NULL is accepted. What was not saved is lost. */
void collector_destroy(struct collector *collector);

/* The number of the last that is in the file; 0: there is none. */
int64_t collector_last(const struct collector *collector);

/* `number` is above those before it. 0, -EBADMSG for what is no answer, -ENOMEM, or what the file has failed
   with before. */
int collector_add(struct collector *collector, int64_t number, const void *bytes,
                  size_t n);

/* What was added goes to the file. 0, -ECANCELED, or what the file failed with. */
COIL_SUSPENDS int collector_save(struct collector *collector);

/* The same, even by a task that is cancelled; and if the crawl is over. */
COIL_SUSPENDS int collector_finish(struct collector *collector, bool is_over);

/* A sentence about what the file has failed with, or NULL. */
const char *collector_message(const struct collector *collector);

#endif
