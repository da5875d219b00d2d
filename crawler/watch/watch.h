/*
 * watch.h - a crawl is watched while it runs: --status, and SIGUSR1.
 *
 *     struct watch watch;
 *
 *     watch_init(&watch, &crawler);
 *     rc = watch_listen(&watch, "127.0.0.1", "9100", &message);
 *     ... coil_group_spawn(&group, watch_serve, &watch, ...), watch_tick() each second ...
 *     watch_finish(&watch);
 */
#ifndef CRAWLER_WATCH_H
#define CRAWLER_WATCH_H

#include "../crawl/crawl.h"
#include "../report/progress.h"

#include <coil/stream.h>

#include <sys/queue.h>

struct watch_client;

struct watch {
    const struct crawler *crawler;
    struct progress progress; /* for the rate */
    coil_listener *listener;  /* or NULL */
    const char *host; /* that was given to watch_listen(), which outlives this; or NULL */
    TAILQ_HEAD(, watch_client) clients; /* connections, the oldest first */
    size_t client_count;
};

void watch_init(struct watch *watch, const struct crawler *crawler);

/*
 * Listen on a host and a port; on all addresses if the host is "". 0, or a negative errno and
 * why, in *message for free().
 */
COIL_SUSPENDS int watch_listen(struct watch *watch, const char *host, const char *port,
                               char **message);

/* "127.0.0.1:9100": where it listens. */
int watch_name(const struct watch *watch, char *name, size_t size);

/* Answer whoever asks, until it is cancelled; a task's body. */
COIL_SUSPENDS int watch_serve(void *watch);

/* A second has passed. */
void watch_tick(struct watch *watch);

/* Tell how the crawl stands, on stderr. */
void watch_print(struct watch *watch);

void watch_finish(struct watch *watch);

#endif
