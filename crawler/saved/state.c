/*
 * state.c - see state.h
 *
 *     workers --> filling --.        two batches, which are swapped
 *                 writing <-'--> file lane: one transaction
 *
 * Invariants
 *   1. Only the task that holds the lock uses `writing` and the store.
 *   2. All URLs that the pages of a batch contain are in the same batch or in an earlier
 *      one.
 *   3. The URLs of a batch are in the memory of targets, which live longer than the
 *      batch. All other texts of a batch are copied into `bytes`.
 *   4. After a failure, the batch stays in `writing`, and nothing more is written.
 */
#include "state.h"

#include "../base/array.h"

#include <coil/executor.h>
#include <coil/lock.h>
#include <coil/scope.h>
#include <coil/timer.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DUE_BYTES ((size_t)256 * 1024)

struct batch {
    struct store_url *urls;
    size_t url_count, url_capacity;
    /*
     * Until the batch is written, pointers to texts and blobs contain 1 + an offset in
     * `bytes`, or 0 for NULL.
     */
    struct store_page *pages;
    size_t page_count, page_capacity;
    struct text bytes;
    int64_t begun_ns;
};

struct state {
    struct store *store;
    coil_lock lock;
    struct batch batches[2], *filling, *writing;
    const struct targets *targets;
    uint32_t last_number;
    int64_t due_ns;
    int failure;
    bool is_finished;
};

/* ---- life cycle -------------------------------------------------------------------- */

struct state *state_create(struct store *store, int64_t due_ns)
{
    struct state *state = calloc(1, sizeof *state);

    if (state == NULL) {
        store_close(store);
        return NULL;
    }
    state->store = store;
    state->due_ns = due_ns;
    state->filling = &state->batches[0];
    state->writing = &state->batches[1];
    state->last_number = store_last_url(store);
    state->is_finished = store_is_finished(store);
    coil_lock_init(&state->lock);
    return state;
}

void state_destroy(struct state *state)
{
    if (state == NULL)
        return;
    coil_lock_finish(&state->lock);
    for (int i = 0; i < 2; i++) {
        free(state->batches[i].urls);
        free(state->batches[i].pages);
        text_finish(&state->batches[i].bytes);
    }
    store_close(state->store);
    free(state);
}

struct store *state_store(const struct state *state)
{
    return state->store;
}

void state_take_targets(struct state *state, const struct targets *targets)
{
    state->targets = targets;
}

int state_failure(const struct state *state, const char **message)
{
    *message = state->failure < 0 ? store_message(state->store) : NULL;
    return state->failure;
}

/* ---- numbers ----------------------------------------------------------------------- */

uint32_t state_number_of(struct state *state, const struct target *target)
{
    struct batch *batch = state->filling;
    struct known *known = targets_known(state->targets, target);

    if (known->number > 0)
        return known->number;
    if (state->last_number == UINT32_MAX ||
        (batch->url_count == batch->url_capacity &&
         array_grow(&batch->urls, &batch->url_capacity, sizeof *batch->urls) < 0))
        return 0;
    batch->urls[batch->url_count++] =
        (struct store_url){++state->last_number, target->fragment_at, target->url};
    return known->number = state->last_number;
}

/* ---- pages ------------------------------------------------------------------------- */

/*
 * Append bytes to the batch. Returns 1 + their offset as a pointer, because the bytes may
 * move until the batch is written.
 */
static const char *copy_bytes(struct batch *batch, const void *at, size_t n)
{
    size_t offset;

    while (batch->bytes.n % sizeof(uint64_t) != 0)
        text_add(&batch->bytes, "", 1);
    offset = batch->bytes.n;
    text_add(&batch->bytes, at, n);
    return (const char *)(offset + 1);
}

static const char *copy_text(struct batch *batch, const char *text)
{
    return text != NULL ? copy_bytes(batch, text, strlen(text) + 1) : NULL;
}

static void copy_page(struct batch *batch, const struct store_page *page,
                      struct store_page *kept)
{
    *kept = *page;
    kept->content_type = copy_text(batch, page->content_type);
    kept->location = copy_text(batch, page->location);
    kept->error = copy_text(batch, page->error);
    kept->etag = copy_text(batch, page->etag);
    kept->modified = copy_text(batch, page->modified);
    if (page->links != NULL)
        kept->links = copy_bytes(batch, page->links, page->links_n);
    if (page->id_count > 0)
        kept->ids = (const uint64_t *)copy_bytes(batch, page->ids,
                                                 page->id_count * sizeof *page->ids);
}

int state_add(struct state *state, const struct target *target,
              const struct store_page *page)
{
    struct batch *batch = state->filling;
    uint32_t number;

    if (state->failure < 0)
        return state->failure;
    number = state_number_of(state, target);
    if (number == 0 ||
        (batch->page_count == batch->page_capacity &&
         array_grow(&batch->pages, &batch->page_capacity, sizeof *batch->pages) < 0))
        return -ENOMEM;
    copy_page(batch, page, &batch->pages[batch->page_count]);
    if (batch->bytes.failed)
        return -ENOMEM;
    batch->pages[batch->page_count].url = number;
    if (page->time_s == 0)
        batch->pages[batch->page_count].time_s = time(NULL);
    if (batch->page_count++ == 0)
        batch->begun_ns = coil_now();
    return 0;
}

/* ---- writing ----------------------------------------------------------------------- */

/* Replace offsets with addresses. Call this when nothing more will be added to the batch,
   so that the bytes no longer move. */
static void settle_addresses(struct batch *batch)
{
    for (size_t i = 0; i < batch->page_count; i++) {
        struct store_page *page = &batch->pages[i];
        const char **texts[] = {&page->content_type, &page->location, &page->error,
                                &page->etag, &page->modified};

        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++)
            if (*texts[j] != NULL)
                *texts[j] = batch->bytes.at + ((size_t)*texts[j] - 1);
        if (page->links != NULL)
            page->links =
                page->links_n > 0 ? batch->bytes.at + ((size_t)page->links - 1) : "";
        if (page->id_count > 0)
            page->ids = (const uint64_t *)(batch->bytes.at + ((size_t)page->ids - 1));
    }
}

static int write_batch(void *arg)
{
    struct state *state = arg;
    struct batch *batch = state->writing;

    settle_addresses(batch);
    return store_write(state->store,
                       &(struct store_batch){.urls = batch->urls,
                                             .url_count = batch->url_count,
                                             .pages = batch->pages,
                                             .page_count = batch->page_count,
                                             .is_finished = state->is_finished});
}

static void clear_batch(struct batch *batch)
{
    batch->url_count = batch->page_count = batch->bytes.n = 0;
}

static void swap_batches(struct state *state)
{
    struct batch *batch = state->filling;

    state->filling = state->writing;
    state->writing = batch;
}

/*
 * Write the batch `writing` in a thread of the file lane. If it is empty, swap the
 * batches first. The caller must hold the lock. If the task is cancelled before the
 * thread starts, the batch remains in `writing`.
 */
static int write_in_lane(struct state *state)
{
    int rc;

    if (state->failure < 0)
        return state->failure;
    if (state->writing->page_count == 0 && state->writing->url_count == 0)
        swap_batches(state);
    state->is_finished = false;
    rc = coil_blocking(COIL_LANE_FILE, write_batch, state);
    if (rc == -EAGAIN) /* no thread is available */
        rc = write_batch(state);
    if (rc == 0)
        clear_batch(state->writing);
    else if (rc != -ECANCELED)
        state->failure = rc;
    return rc;
}

int state_save(struct state *state)
{
    int rc = coil_lock_acquire(&state->lock);

    if (rc < 0)
        return rc;
    rc = write_in_lane(state);
    coil_lock_release(&state->lock);
    return rc;
}

static bool is_due(const struct state *state)
{
    const struct batch *batch = state->filling;

    if (batch->page_count == 0)
        return false;
    return batch->bytes.n >= DUE_BYTES || coil_now() - batch->begun_ns >= state->due_ns;
}

/*
 * If another worker is writing the other batch, do not wait for it unless this batch has
 * reached twice the usual size.
 */
int state_save_if_due(struct state *state)
{
    if (state->failure < 0)
        return state->failure;
    if (!is_due(state) ||
        (coil_lock_locked(&state->lock) && state->filling->bytes.n < 2 * DUE_BYTES))
        return 0;
    return state_save(state);
}

/*
 * Write both batches. Usually `writing` is empty, unless a worker was cancelled before
 * its thread started.
 */
static int write_rest(struct state *state, bool is_finished)
{
    int rc = state->failure;

    for (int i = 0; i < 2 && rc == 0; i++) {
        state->is_finished = is_finished && i == 1;
        rc = write_batch(state);
        if (rc == 0) {
            clear_batch(state->writing);
            swap_batches(state);
        }
    }
    state->failure = rc;
    return rc;
}

int state_finish(struct state *state, bool is_finished)
{
    coil_scope scope;
    int rc = coil_scope_enter_shielded(&scope, COIL_NEVER);

    if (rc < 0)
        return rc;
    rc = coil_lock_acquire(&state->lock);
    if (rc == 0) {
        rc = write_rest(state, is_finished);
        coil_lock_release(&state->lock);
    }
    return coil_scope_exit(&scope, rc);
}
