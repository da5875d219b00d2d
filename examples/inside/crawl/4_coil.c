/*
 * 4_coil.c - the crawler on coil: workers with a queue, as in 5_chapter.c.
 *
 * fetch() looks like the one in 0_threads.c, but waits like the one in 2_callbacks.c. At
 * most WORKERS pages are fetched at a time. join() returns when every queued page is
 * done. After that, the workers are cancelled while they wait for more pages. No lock is
 * needed to check for a link and add it, because the task does not wait in between.
 *
 *     4_coil 127.0.0.1 8080
 *
 * To try: give each page a time limit. All you need is a scope around fetch() in work().
 * How many functions of 2_callbacks.c would have to change for this?
 */
#include "pages.h"

#include <coil.h>

#define WORKERS 4

static const char *host, *port;
static coil_queue queue = COIL_QUEUE_INIT(sizeof(struct page *), 0);

/* [fetch] */
static int fetch(struct page *page)
{
    char chunk[CHUNK];
    coil_stream *stream;
    ssize_t n = coil_connect(host, port, &stream);

    if (n < 0)
        return (int)n;
    n = coil_write(stream, chunk, page_request(page, chunk, sizeof chunk));
    while (n >= 0 && (n = coil_read(stream, chunk, sizeof chunk)) > 0)
        page_append(page, chunk, (size_t)n);
    coil_stream_destroy(stream);
    return (int)n;
}
/* [end] */

static void found(struct page *page)
{
    if (coil_queue_put_nowait(&queue, &page) < 0)
        exit(1); // out of memory
}

/* [work] */
static int work(void *arg)
{
    (void)arg;
    struct page *page;
    int rc;

    while ((rc = coil_queue_get(&queue, &page)) == 0) {
        rc = fetch(page);
        if (rc < 0)
            fprintf(stderr, "%s: %s\n", page->url, strerror(-rc));
        page_links(page, found);
        coil_queue_task_done(&queue); // in every case, otherwise join() waits forever
    }
    return rc;
}

static int crawl(void *arg)
{
    (void)arg;
    coil_group workers;
    int rc = 0;

    found(&pages[0]);
    coil_group_enter(&workers);
    for (int i = 0; i < WORKERS && rc == 0; i++)
        rc = coil_group_spawn(&workers, work, NULL, NULL, NULL);
    if (rc == 0)
        rc = coil_queue_join(&queue);
    coil_group_cancel(&workers, "all pages are fetched");
    rc = coil_group_exit(&workers, rc);
    coil_queue_finish(&queue);
    return rc;
}
/* [end] */

int main(int argc, char **argv)
{
    pages_begin(argc, argv);
    host = argv[1];
    port = argv[2];
    if (coil_run(crawl, NULL, NULL) < 0)
        return 1;
    pages_print();
    return 0;
}
