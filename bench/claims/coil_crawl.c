/*
 * coil_crawl.c - the crawler of docs/seeds.md, with tasks: a queue, workers, join and
 * cancellation.
 *
 *     coil_crawl PORT WORKERS
 *
 * All workers start immediately, and idle workers wait for the queue. Each worker has one
 * connection.
 */
#include "crawl.h"

#include <coil.h>

static struct crawl {
    coil_queue pages; /* page numbers, of type long */
    uint16_t port;
    long workers, fetched, busy, busy_most;
} crawl;

/* Fetch one page into `bytes`. The worker connects when it fetches its first page. */
static int fetch(coil_stream **stream, long page, char *bytes)
{
    size_t have = 0, want = 0, n = write_request(bytes, PAGE_BYTES, page);
    ssize_t got;

    if (*stream == NULL) {
        int rc = coil_connect_port("127.0.0.1", crawl.port, stream);
        if (rc < 0)
            return rc;
    }
    got = coil_write(*stream, bytes, n);
    while (got > 0 && (want == 0 || have < want)) {
        got = coil_read(*stream, bytes + have, PAGE_BYTES - 1 - have);
        if (got > 0)
            have += (size_t)got;
        bytes[have] = '\0';
        want = answer_length(bytes);
    }
    return got < 0 ? (int)got : got == 0 ? -ENODATA : 0;
}

/* No lock is needed, because no call in this function suspends. */
static int put_new(const char *text)
{
    long page;
    int rc = 0;

    while (rc == 0 && (page = next_link(&text)) >= 0)
        if (is_new(page))
            rc = coil_queue_put_nowait(&crawl.pages, &page);
    return rc;
}

static int work(void *arg)
{
    coil_stream *stream = NULL;
    char bytes[PAGE_BYTES];
    long page;
    int rc;

    (void)arg;
    while ((rc = coil_queue_get(&crawl.pages, &page)) == 0) {
        if (++crawl.busy > crawl.busy_most)
            crawl.busy_most = crawl.busy;
        rc = fetch(&stream, page, bytes);
        if (rc == 0)
            rc = put_new(bytes);
        crawl.busy--;
        crawl.fetched += rc == 0;
        coil_queue_task_done(&crawl.pages);
        if (rc < 0)
            break;
    }
    coil_stream_destroy(stream);
    return rc;
}

static int app(void *arg)
{
    struct stopwatch watch = stopwatch_start();
    coil_task *workers[1000];
    long first = 0;
    int rc;

    (void)arg;
    coil_queue_init(&crawl.pages, sizeof(long), 0);
    is_new(first);
    rc = coil_queue_put(&crawl.pages, &first);
    for (long i = 0; i < crawl.workers; i++)
        bench_must(coil_spawn(work, NULL, NULL, &workers[i]) == 0, "coil_spawn");
    if (rc == 0)
        rc = coil_queue_join(&crawl.pages);
    stopwatch_report(&watch, 1);
    figure("pages", (double)crawl.fetched);
    figure("busy", (double)crawl.busy_most);
    for (long i = 0; i < crawl.workers; i++)
        coil_task_cancel(workers[i], NULL);
    for (long i = 0; i < crawl.workers; i++) {
        coil_task_await(workers[i]);
        coil_task_release(workers[i]);
    }
    coil_queue_finish(&crawl.pages);
    return rc;
}

int main(int argc, char **argv)
{
    crawl.port = (uint16_t)argument(argc, argv, 1);
    crawl.workers = argument(argc, argv, 2);
    bench_must(crawl.workers <= 1000, "so many workers");
    return coil_run(app, NULL, NULL) < 0;
}
