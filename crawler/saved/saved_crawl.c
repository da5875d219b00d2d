/* saved_crawl.c - see saved_crawl.h */
#include "saved_crawl.h"

#include "../base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The store becomes the state's. */
static int write_to(struct kept *kept, struct store *store)
{
    kept->store = store;
    kept->state = state_create(store, kept->interval_ns);
    if (kept->state == NULL)
        kept->store = NULL;
    return kept->state != NULL ? 0 : -ENOMEM;
}

static int open_cold(struct kept *kept)
{
    kept->cold = cold_create(kept->folder);
    return kept->cold != NULL ? 0 : -ENOMEM;
}

static struct store_texts texts_of(const struct text_list *list)
{
    return (struct store_texts){list->at, list->count};
}

int kept_begin(struct kept *kept, const struct options *options, char **message)
{
    struct store_setup setup = {.settings = texts_of(&options->decided),
                                .starts = texts_of(&options->starts),
                                .seed = hash_seed(),
                                .time_s = time(NULL)};
    struct store *store;
    int rc;

    *kept = (struct kept){.folder = options->state,
                          .command = COMMAND_CRAWL,
                          .interval_ns = options->state_interval_ns};
    rc = store_create(options->state, STORE_CRAWL, &setup, &store, message);
    if (rc == 0)
        rc = write_to(kept, store);
    return rc == 0 ? open_cold(kept) : rc;
}

/* ---- again ------------------------------------------------------------------------- */

static int complain(char **message, const char *folder, const char *words)
{
    if (asprintf(message, "%s: %s", folder, words) < 0)
        *message = NULL;
    return *message != NULL ? -EINVAL : -ENOMEM;
}

/* The options and the starts are those of the crawl before it, and the hashes of ids are as there, since
   a page that has not changed is taken over. */
static int begin_recheck(struct kept *kept, const struct store *before, char **message)
{
    struct store_setup setup = *store_setup(before);
    struct store *store;
    int rc;

    setup.time_s = time(NULL);
    rc = store_create(kept->folder, STORE_RECHECK, &setup, &store, message);
    return rc == 0 ? write_to(kept, store) : rc;
}

/* To be gone on with: records that are damaged are dropped, or it cannot be used. */
static int open_to_write(struct kept *kept, enum store_name name, char **message)
{
    struct store *store;
    int rc = store_open(kept->folder, name, STORE_WRITE, &store, message);

    if (rc < 0)
        return rc;
    rc = store_repair(store, &kept->notice);
    if (rc == 0)
        return write_to(kept, store);
    if (rc != -ENOMEM)
        *message = strdup(store_message(store));
    store_close(store);
    return rc;
}

/* One that was cut short is gone on with. */
static int open_recheck(struct kept *kept, const struct store *before, char **message)
{
    int rc = open_to_write(kept, STORE_RECHECK, message);

    if (rc != -ENOENT)
        return rc;
    free(*message);
    *message = NULL;
    return begin_recheck(kept, before, message);
}

static int open_both(struct kept *kept, char **message)
{
    struct store *before;
    int rc = store_mend(kept->folder, message);

    if (rc == 0)
        rc = store_open(kept->folder, STORE_CRAWL, STORE_READ, &before, message);
    if (rc < 0)
        return rc;
    if (store_is_finished(before))
        rc = open_recheck(kept, before, message);
    else
        rc = complain(message, kept->folder,
                      "this crawl is not done; coil-crawl resume goes on with it");
    if (rc == 0)
        return recheck_create(before, kept->cold, &kept->recheck, message);
    store_close(before);
    return rc;
}

/* ---- what is there ----------------------------------------------------------------- */

/* What only tells looks at everything, in no order, and has it on the heap. */
static bool goes_on(enum options_command command)
{
    return command == COMMAND_RESUME || command == COMMAND_RECHECK;
}

int kept_open(struct kept *kept, enum options_command command, const char *folder,
              int64_t interval_ns, char **message)
{
    struct store *store;
    int rc;

    *kept =
        (struct kept){.folder = folder, .command = command, .interval_ns = interval_ns};
    *message = NULL;
    if (goes_on(command) && open_cold(kept) < 0)
        return -ENOMEM;
    if (command == COMMAND_RECHECK)
        return open_both(kept, message);
    if (command == COMMAND_RESUME)
        return open_to_write(kept, STORE_CRAWL, message);
    rc = store_open(folder, STORE_CRAWL, STORE_READ, &store, message);
    if (rc == 0)
        kept->store = store;
    return rc;
}

const struct store_setup *kept_setup(const struct kept *kept)
{
    return store_setup(kept->store);
}

void kept_give(const struct kept *kept, struct crawler *crawler)
{
    if (kept->store == NULL)
        return;
    crawler->kept = kept->command == COMMAND_CRAWL ? NULL : kept->store;
    crawler->state = kept->state;
    crawler->recheck = kept->recheck;
    crawler->is_only_told =
        kept->command == COMMAND_REPORT || kept->command == COMMAND_DIFF;
    if (kept->state != NULL)
        state_take_targets(kept->state, &crawler->targets);
    targets_set_id_seed(&crawler->targets, store_setup(kept->store)->seed);
    crawler->begin_s = store_setup(kept->store)->time_s;
}

int kept_close(struct kept *kept, bool is_finished, char **message)
{
    int rc = 0;

    *message = NULL;
    if (kept->state != NULL)
        state_destroy(kept->state);
    else
        store_close(kept->store);
    recheck_destroy(kept->recheck);
    cold_destroy(kept->cold);
    free(kept->notice);
    if (kept->command == COMMAND_RECHECK && is_finished)
        rc = store_replace(kept->folder, message);
    *kept = (struct kept){.folder = NULL};
    return rc;
}
