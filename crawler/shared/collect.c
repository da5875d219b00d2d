/* collect.c - see collect.h */
#include "collect.h"

#include "connection.h"
#include "../saved/collector.h"
#include "../saved/setup_text.h"

#include <coil/task.h>
#include <coil/timer.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AT_ONCE 64 /* number of entries per query, each with several results */
#define PAUSE_NS COIL_MSEC(200) /* pause after a query that found no results */

struct gathering {
    struct collecting *collecting;
    struct connection connection;
    struct leases leases;
    struct collector *collector;
};

/* ---- the folder -------------------------------------------------------------------- */

static bool is_same(const struct store_texts *these, const struct store_texts *those)
{
    if (these->count != those->count)
        return false;
    for (size_t i = 0; i < these->count; i++)
        if (strcmp(these->at[i], those->at[i]) != 0)
            return false;
    return true;
}

static bool is_of(const struct store *store, const struct store_setup *setup)
{
    const struct store_setup *its = store_setup(store);

    return its->seed == setup->seed && is_same(&its->settings, &setup->settings) &&
           is_same(&its->starts, &setup->starts);
}

static int open_store(struct gathering *gathering, const struct store_setup *setup,
                      struct store **store)
{
    const char *folder = gathering->collecting->options->state;
    char **message = &gathering->connection.complaint;
    int rc = store_open(folder, STORE_CRAWL, STORE_WRITE, store, message);

    if (rc == -ENOENT) {
        free(*message);
        *message = NULL;
        return store_create(folder, STORE_CRAWL, setup, store, message);
    }
    if (rc < 0 || is_of(*store, setup))
        return rc;
    store_close(*store);
    if (asprintf(message, "%s: the folder contains another crawl", folder) < 0)
        *message = NULL;
    return *message != NULL ? -EEXIST : -ENOMEM;
}

static size_t longest_url(const struct setup_text *text, int *rc)
{
    struct options options;
    struct text_list decided = {text->settings.at, text->settings.count};
    struct text_list starts = {text->starts.at, text->starts.count};
    struct options none = {.command = COMMAND_CRAWL};
    size_t bytes;

    *rc = options_init(&options);
    if (*rc == 0)
        *rc = options_restore(&options, &none, &decided, &starts, stderr);
    bytes = options.max_url_bytes;
    options_finish(&options);
    return bytes;
}

static int open_folder(struct gathering *gathering, const struct setup_text *text)
{
    struct store_setup setup = {.settings = text->settings,
                                .starts = text->starts,
                                .seed = gathering->leases.seeds[2],
                                .time_s = time(NULL)};
    struct store *store;
    int rc;
    size_t max_url_bytes = longest_url(text, &rc);

    if (rc == 0)
        rc = open_store(gathering, &setup, &store);
    return rc == 0 ? collector_create(store, max_url_bytes, &gathering->collector) : rc;
}

/* ---- the crawl --------------------------------------------------------------------- */

static int complain_of_format(struct gathering *gathering)
{
    char words[512];

    leases_describe_format(&gathering->leases, gathering->collecting->options->crawl,
                           words, sizeof words);
    return connection_complain(&gathering->connection, -EPROTONOSUPPORT, words);
}

/* Join the crawl, and get its options and start URLs from Redis. */
static int join(struct gathering *gathering)
{
    const char *name = gathering->collecting->options->crawl;
    struct setup_text setup = {.settings = {.count = 0}};
    char *text;
    int rc = leases_join(&gathering->leases, gathering->connection.redis, name, &text);

    if (rc == 0)
        rc = setup_text_read(text, &setup);
    free(text);
    if (rc == -EPROTONOSUPPORT)
        rc = complain_of_format(gathering);
    if (rc == -EBADMSG)
        rc = connection_complain(
            &gathering->connection, rc,
            "Redis has a crawl of this name that coil-crawl did not begin");
    if (rc == 0)
        rc = open_folder(gathering, &setup);
    if (rc == -EINVAL)
        rc = connection_complain(&gathering->connection, rc,
                                 "the options of the crawl cannot be used");
    setup_text_finish(&setup);
    return rc;
}

static int take_result(void *arg, int64_t number, const void *bytes, size_t n)
{
    struct gathering *gathering = arg;
    int rc = collector_add(gathering->collector, number, bytes, n);

    gathering->collecting->count += rc == 0;
    if (rc == -EBADMSG)
        rc = connection_complain(&gathering->connection, rc,
                                 "Redis has a result that coil-crawl did not write");
    return rc;
}

static int save(struct gathering *gathering)
{
    struct collector *collector = gathering->collector;
    int rc = collector_save(collector);

    if (rc < 0 && collector_message(collector) != NULL)
        rc =
            connection_complain(&gathering->connection, rc, collector_message(collector));
    return rc;
}

/*
 * Collect some results and save them, or pause if there are none yet. Redis deletes them
 * only at the next call, when they are on disk. Fails with -ENODATA if all results were
 * collected.
 */
static int gather_some(struct gathering *gathering)
{
    int rc =
        leases_collect(&gathering->leases, collector_last(gathering->collector), AT_ONCE,
                       take_result, gathering, &gathering->collecting->progress);

    if (rc > 0)
        rc = save(gathering);
    else if (rc == 0)
        rc = coil_sleep(PAUSE_NS);
    return rc;
}

static int forget(struct gathering *gathering)
{
    int rc;

    do
        rc = leases_forget(&gathering->leases);
    while (redis_may_pass(rc) && (rc = coil_sleep(PAUSE_NS)) == 0);
    return rc;
}

static int gather_results(struct gathering *gathering)
{
    int rc = 0;

    while (rc == 0) {
        rc = gather_some(gathering);
        if (redis_may_pass(rc))
            rc = coil_sleep(PAUSE_NS);
    }
    return rc == -ENODATA ? forget(gathering) : rc;
}

/*
 * Close the folder. Mark the saved crawl as incomplete, because pages may be missing:
 * `coil-crawl resume` checks this, and fetches them.
 */
static int close_folder(struct gathering *gathering, int rc)
{
    struct collector *collector = gathering->collector;
    int written;

    if (collector == NULL)
        return rc;
    written = collector_finish(collector, false);
    if (written < 0 && collector_message(collector) != NULL)
        written = connection_complain(&gathering->connection, written,
                                      collector_message(collector));
    collector_destroy(collector);
    return rc == 0 ? written : rc;
}

int collect(void *arg)
{
    struct gathering gathering = {.collecting = arg};
    int rc = connection_open(&gathering.connection, gathering.collecting->options);

    if (rc == 0)
        rc = join(&gathering);
    if (rc == 0)
        rc = gather_results(&gathering);
    rc = close_folder(&gathering, rc);
    rc = connection_close(&gathering.connection, rc);
    gathering.collecting->complaint = gathering.connection.complaint;
    return rc;
}
