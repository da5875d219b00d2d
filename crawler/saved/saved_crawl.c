/* saved_crawl.c - see saved_crawl.h */
#include "saved_crawl.h"

#include "../base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Create saved->state, which owns the store and writes new pages to it. */
static int write_to(struct saved_crawl *saved, struct store *store)
{
    saved->store = store;
    saved->state = state_create(store, saved->interval_ns);
    if (saved->state == NULL)
        saved->store = NULL;
    return saved->state != NULL ? 0 : -ENOMEM;
}

static int open_cold(struct saved_crawl *saved)
{
    saved->cold = cold_create(saved->folder);
    return saved->cold != NULL ? 0 : -ENOMEM;
}

static struct store_texts texts_of(const struct text_list *list)
{
    return (struct store_texts){list->at, list->count};
}

int saved_crawl_make_folder(const char *folder, char **message)
{
    int rc = store_make_folder(folder);

    *message = NULL;
    if (rc < 0 && asprintf(message, "%s: %s", folder, strerror(-rc)) < 0)
        *message = NULL;
    return rc;
}

int saved_crawl_begin(struct saved_crawl *saved, const struct options *options,
                      char **message)
{
    struct store_setup setup = {.settings = texts_of(&options->decided),
                                .starts = texts_of(&options->starts),
                                .seed = hash_seed(),
                                .time_s = time(NULL)};
    struct store *store;
    int rc;

    *saved = (struct saved_crawl){.folder = options->state,
                                  .command = COMMAND_CRAWL,
                                  .interval_ns = options->state_interval_ns};
    rc = store_create(options->state, STORE_CRAWL, &setup, &store, message);
    if (rc == 0)
        rc = write_to(saved, store);
    return rc == 0 ? open_cold(saved) : rc;
}

/* ---- recheck ----------------------------------------------------------------------- */

static int set_message(char **message, const char *folder, const char *words)
{
    if (asprintf(message, "%s: %s", folder, words) < 0)
        *message = NULL;
    return *message != NULL ? -EINVAL : -ENOMEM;
}

/*
 * Create the file of a new recheck, with the options, the start URLs and the hash seed of
 * the earlier crawl. The seed must be the same, because hashes of the ids in unchanged
 * pages are copied from the earlier crawl.
 */
static int begin_recheck(struct saved_crawl *saved, const struct store *before,
                         char **message)
{
    struct store_setup setup = *store_setup(before);
    struct store *store;
    int rc;

    setup.time_s = time(NULL);
    rc = store_create(saved->folder, STORE_RECHECK, &setup, &store, message);
    return rc == 0 ? write_to(saved, store) : rc;
}

/* Open the file of a crawl to be continued, and delete damaged records. */
static int open_to_write(struct saved_crawl *saved, enum store_name name, char **message)
{
    struct store *store;
    int rc = store_open(saved->folder, name, STORE_WRITE, &store, message);

    if (rc < 0)
        return rc;
    rc = store_repair(store, &saved->notice);
    if (rc == 0)
        return write_to(saved, store);
    if (rc != -ENOMEM)
        *message = strdup(store_message(store));
    store_close(store);
    return rc;
}

/* Continue an interrupted recheck, or begin a new one. */
static int open_recheck(struct saved_crawl *saved, const struct store *before,
                        char **message)
{
    int rc = open_to_write(saved, STORE_RECHECK, message);

    if (rc != -ENOENT)
        return rc;
    free(*message);
    *message = NULL;
    return begin_recheck(saved, before, message);
}

static int open_both(struct saved_crawl *saved, char **message)
{
    struct store *before;
    int rc = store_finish_replace(saved->folder, message);

    if (rc == 0)
        rc = store_open(saved->folder, STORE_CRAWL, STORE_READ, &before, message);
    if (rc < 0)
        return rc;
    if (store_is_finished(before))
        rc = open_recheck(saved, before, message);
    else
        rc = set_message(message, saved->folder,
                         "this crawl is not done; coil-crawl resume continues it");
    if (rc == 0)
        return recheck_create(before, saved->cold, &saved->recheck, message);
    store_close(before);
    return rc;
}

/* ---- open -------------------------------------------------------------------------- */

/*
 * True if the command continues or rechecks the crawl, so that URLs may be moved to disk.
 * Other commands only report the crawl, and keep its URLs on the heap, because reports
 * access them in random order.
 */
static bool goes_on(enum options_command command)
{
    return command == COMMAND_RESUME || command == COMMAND_RECHECK;
}

int saved_crawl_open(struct saved_crawl *saved, enum options_command command,
                     const char *folder, int64_t interval_ns, char **message)
{
    struct store *store;
    int rc;

    *saved = (struct saved_crawl){
        .folder = folder, .command = command, .interval_ns = interval_ns};
    *message = NULL;
    if (goes_on(command) && open_cold(saved) < 0)
        return -ENOMEM;
    if (command == COMMAND_RECHECK)
        return open_both(saved, message);
    if (command == COMMAND_RESUME)
        return open_to_write(saved, STORE_CRAWL, message);
    rc = store_open(folder, STORE_CRAWL, STORE_READ, &store, message);
    if (rc == 0)
        saved->store = store;
    return rc;
}

const struct store_setup *saved_crawl_setup(const struct saved_crawl *saved)
{
    return store_setup(saved->store);
}

int saved_crawl_close(struct saved_crawl *saved, bool is_finished, char **message)
{
    int rc = 0;

    *message = NULL;
    if (saved->state != NULL)
        state_destroy(saved->state);
    else
        store_close(saved->store);
    recheck_destroy(saved->recheck);
    cold_destroy(saved->cold);
    free(saved->notice);
    if (saved->command == COMMAND_RECHECK && is_finished)
        rc = store_replace(saved->folder, message);
    *saved = (struct saved_crawl){.folder = NULL};
    return rc;
}
