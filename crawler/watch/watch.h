/*
 * watch.h - show the state of a running crawl: as web pages (--status), and on SIGUSR1.
 *
 *     struct watch watch;
 *
 *     watch_init(&watch, &crawler);
 *     rc = watch_listen(&watch, "127.0.0.1", "9100", &message);
 *     ... coil_group_spawn(&group, watch_serve, &watch, ...); watch_tick() each second
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
    struct progress progress; /* progress at the last tick, for computing the rate */
    coil_listener *listener;  /* NULL if not listening */
    /* The host passed to watch_listen(), which must outlive this struct; or NULL. */
    const char *host;
    TAILQ_HEAD(, watch_client) clients; /* connections, the oldest first */
    size_t client_count;
};

void watch_init(struct watch *watch, const struct crawler *crawler);

/*
 * Listen on a host and a port. If the host is "", listen on all addresses. Fails with a
 * negative errno and a *message that the caller frees.
 */
COIL_SUSPENDS int watch_listen(struct watch *watch, const char *host, const char *port,
                               char **message);

/* Write the address of the listener to `name`, for example "127.0.0.1:9100". */
int watch_name(const struct watch *watch, char *name, size_t size);

/* Serve requests until cancelled. A task function whose argument is the struct watch. */
COIL_SUSPENDS int watch_serve(void *watch);

/* Update the rate. Call this once per second. */
void watch_tick(struct watch *watch);

/* Print the state of the crawl to stderr. */
void watch_print(struct watch *watch);

void watch_finish(struct watch *watch);

#endif
