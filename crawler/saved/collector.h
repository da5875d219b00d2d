/*
 * collector.h - write answers from other machines to the file of a crawl.
 *
 *     rc = collector_create(store, max_url_bytes, &collector);
 *     at = collector_last(collector);              // the last answer that the file has
 *     ...
 *     rc = collector_add(collector, number, bytes, n);    // each answer, in order
 *     rc = collector_save(collector);                     // write them to the file
 *     ...
 *     rc = collector_finish(collector, is_over);
 *
 * In the file, each URL has a number. Answers from other machines contain URLs instead
 * (page_blob.h). To assign numbers, the collector keeps all URLs in memory.
 */
#ifndef CRAWLER_COLLECTOR_H
#define CRAWLER_COLLECTOR_H

#include "store.h"

#include <coil/base.h>

struct collector;

/*
 * Create a collector, which owns the store. After a failure, the store is closed. URLs in
 * links that are longer than `max_url_bytes` do not get numbers, because they are not
 * followed. Fails with -ENOMEM, with -EBADMSG, or like store_each_url().
 */
int collector_create(struct store *store, size_t max_url_bytes, struct collector **out);

/* Close the store. Answers that are not saved yet are lost. NULL is allowed. */
void collector_destroy(struct collector *collector);

/* Return the number of the last answer in the file, or 0. */
int64_t collector_last(const struct collector *collector);

/*
 * Add an answer. Answers must be added in ascending order of their numbers. Fails with
 * -EBADMSG if the bytes are not an answer, with -ENOMEM, or with an earlier error of the
 * file.
 */
int collector_add(struct collector *collector, int64_t number, const void *bytes,
                  size_t n);

/*
 * Write the answers added so far to the file. Fails with -ECANCELED or the error of the
 * file.
 */
COIL_SUSPENDS int collector_save(struct collector *collector);

/* Save the remaining answers, even if the task is cancelled, and record whether the crawl
   is over. Fails like collector_save(). */
COIL_SUSPENDS int collector_finish(struct collector *collector, bool is_over);

/* Return the message of the file's error, or NULL. */
const char *collector_message(const struct collector *collector);

#endif
