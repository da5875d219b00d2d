/*
 * 3_futures.c - the crawler on hand-written futures, tasks and generators.
 *
 * Here the coroutines of "A Web Crawler With asyncio Coroutines" run on ../toy_loop.h.
 * fetch() is one function again, with its variables on its own stack, and the loop waits
 * for all sockets as in 2_callbacks.c. The code is divided into functions for
 * readability, not for the loop: fetch() calls read_all(), which calls read_chunk(),
 * which calls wait_until(). Only wait_until() uses futures.
 *
 *     3_futures 127.0.0.1 8080
 *
 * To try: in wait_until(), print sock after await(). The sockets take turns.
 */
#include "../toy_loop.h"
#include "pages.h"

#include <unistd.h>

static struct future all_done;
static int urls_todo;
static struct task tasks[PAGES_MAX];

/* [read] */
static void wait_until(int sock, short events)
{
    struct future future = {.state = PENDING};

    watch(sock, events, future_set_result, &future);
    await(&future);
}

static ssize_t read_chunk(int sock, char *chunk, size_t size)
{
    wait_until(sock, POLLIN);
    return recv(sock, chunk, size, 0);
}

static void read_all(int sock, struct page *page)
{
    char chunk[CHUNK];
    ssize_t n;

    while ((n = read_chunk(sock, chunk, sizeof chunk)) > 0)
        page_append(page, chunk, (size_t)n);
    if (n < 0)
        perror(page->url);
}
/* [end] */

static void begin(struct page *page);

/* [fetch] */
static void *fetch(void *arg)
{
    struct page *page = arg;
    char request[CHUNK];
    int sock = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    (void)connect(sock, (struct sockaddr *)&server, sizeof server); // EINPROGRESS
    wait_until(sock, POLLOUT);
    if (send(sock, request, page_request(page, request, sizeof request), MSG_NOSIGNAL) >
        0)
        read_all(sock, page);
    close(sock);
    page_links(page, begin);
    if (--urls_todo == 0)
        future_set_result(&all_done);
    return NULL;
}

static void begin(struct page *page)
{
    urls_todo++;
    task_begin(&tasks[page - pages], fetch, page);
}
/* [end] */

int main(int argc, char **argv)
{
    pages_begin(argc, argv);
    begin(&pages[0]);
    run_until_complete(&all_done);
    pages_print();
    return 0;
}
