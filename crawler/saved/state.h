/*
 * state.h - save the answers of a crawl to its file while the crawl is running (-d DIR).
 *
 *     state_add(state, target, &page);   // each page, once its links are enqueued
 *     state_save_if_due(state);          // in a worker, which may wait for the disk
 *     ...
 *     state_finish(state, is_finished);  // write the rest
 *
 * state_add() adds a page to a batch. The first worker that finds the batch due writes it
 * as one transaction, in a thread of the file lane. Meanwhile, the other workers fill a
 * second batch. If that becomes full too, they wait.
 */
#ifndef CRAWLER_STATE_H
#define CRAWLER_STATE_H

#include "../frontier/target.h"
#include "link_blob.h"
#include "store.h"

#include <coil/base.h>

struct state;

/*
 * Create a state, which owns the store. A batch is due `due_ns` after its first page was
 * added. If memory runs out, close the store and return NULL.
 */
struct state *state_create(struct store *store, int64_t due_ns);

/* Close the store. Pages that are not saved yet are lost. NULL is allowed. */
void state_destroy(struct state *state);

struct store *state_store(const struct state *state);

/* Set the table of targets, in which the numbers of URLs are stored. */
void state_take_targets(struct state *state, const struct targets *targets);

/*
 * Return 0, or the first error in writing the file. After such an error, all later calls
 * fail with the same error. *message is set to a message that names the file, or to NULL
 * without an error.
 */
int state_failure(const struct state *state, const char **message);

/*
 * Return the number of a target's URL in the file, or 0 if memory runs out. If the URL
 * has no number, it gets the next one, and is written together with the next page.
 */
uint32_t state_number_of(struct state *state, const struct target *target);

/*
 * Add a copy of `page` to the batch. In the copy, `url` is set to the number of the
 * target's URL, and `time_s` is set to the current time if it is 0. Fails with -ENOMEM,
 * or with the first error of the file.
 */
int state_add(struct state *state, const struct target *target,
              const struct store_page *page);

/*
 * Write the batch if it is large or old enough. Fails with -ECANCELED or the error of the
 * file.
 */
COIL_SUSPENDS int state_save_if_due(struct state *state);

/* Write the batch now. Fails like state_save_if_due(). */
COIL_SUSPENDS int state_save(struct state *state);

/*
 * Write the remaining pages, even if the task is cancelled, and record whether the crawl
 * is finished. Call this after the last state_add(). Fails like state_save_if_due().
 */
COIL_SUSPENDS int state_finish(struct state *state, bool is_finished);

#endif
