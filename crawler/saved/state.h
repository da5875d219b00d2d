/*
 * state.h - what a crawl has done so far, written to its file while it goes on. (-d DIR)
 *
 *     state_add(state, target, &page);      // each page, once its links are placed
 *     state_save_if_due(state);             // in the worker, which may wait for the disk
 *     ...
 *     state_finish(state, is_finished);     // what is left
 *
 * What is added goes into a batch. A worker that finds it due takes it to the file lane and writes it
 * as one transaction, while the others fill the next; who finds that one full as well waits.
 */
#ifndef CRAWLER_STATE_H
#define CRAWLER_STATE_H

#include "../frontier/target.h"
#include "link_blob.h"
#include "store.h"

#include <coil/base.h>

struct state;

/* The store becomes the state's. What was added is due after `due_ns`; 0: at once. NULL without memory;
   then it is closed. */
struct state *state_create(struct store *store, int64_t due_ns);

/* Close it; NULL is accepted. What was not saved is lost. */
void state_destroy(struct state *state);

struct store *state_store(const struct state *state);

/* Those that it is told of from now on; they have the numbers of their URLs. */
void state_take_targets(struct state *state, const struct targets *targets);

/* What it failed with, and a sentence about that which names the file; 0 and NULL while all is
   well. Whatever has failed once fails from then on. */
int state_failure(const struct state *state, const char **message);

/* The number of a target's URL in the file; it is written with the next page that is added. 0
   without memory. */
uint32_t state_number_of(struct state *state, const struct target *target);

/* `page` is copied, but for `url`, which is the target's, and `time_s`, which is now where it is 0. 0,
   -ENOMEM or what has failed before. */
int state_add(struct state *state, const struct target *target,
              const struct store_page *page);

/* Write what was added if it is much, or a while ago. 0, -ECANCELED, or what the file failed with. */
COIL_SUSPENDS int state_save_if_due(struct state *state);

/* Write all that was added. The same. */
COIL_SUSPENDS int state_save(struct state *state);

/* Nobody adds any more: write what is left, even by a task that is cancelled, and if the crawl is
   over. As state_save(). */
COIL_SUSPENDS int state_finish(struct state *state, bool is_finished);

#endif
