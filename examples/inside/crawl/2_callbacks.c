/*
 * 2_callbacks.c - the crawler on a selector and callbacks.
 *
 * This is the first asynchronous program of "A Web Crawler With asyncio Coroutines". One
 * thread waits for all sockets at once, and calls the callback of each socket that is
 * ready. But fetch() is split into three functions, and its state (the page and the
 * socket) is in a struct, because whenever it waits, its stack frame is gone. There is no
 * lock, and no limit on the number of pages that are fetched at a time.
 *
 *     2_callbacks 127.0.0.1 8080
 *
 * To try: make CHUNK in pages.h 128. A callback that has not read everything is called
 * again, and no byte is lost.
 */
#include "pages.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

/* [fetcher] */
struct fetcher {
    struct page *page;
    int sock;
    void (*callback)(struct fetcher *self); // the function that continues the fetch
};

static struct fetcher fetchers[PAGES_MAX];
static int selector, urls_todo;

static void selector_register(struct fetcher *self, unsigned events,
                              void (*callback)(struct fetcher *self))
{
    struct epoll_event event = {.events = events, .data.ptr = self};

    self->callback = callback;
    epoll_ctl(selector, EPOLL_CTL_ADD, self->sock, &event);
}

static void selector_unregister(struct fetcher *self)
{
    epoll_ctl(selector, EPOLL_CTL_DEL, self->sock, NULL);
}
/* [end] */

static void fetch(struct page *page);

/* [callbacks] */
static void read_response(struct fetcher *self)
{
    char chunk[CHUNK];
    ssize_t n = recv(self->sock, chunk, sizeof chunk, 0);

    if (n > 0) {
        page_append(self->page, chunk, (size_t)n); // the loop calls again for more
        return;
    }
    if (n < 0 && errno == EAGAIN)
        return;
    if (n < 0)
        perror(self->page->url);
    selector_unregister(self); // done reading
    close(self->sock);
    page_links(self->page, fetch); // a new fetcher for each link
    urls_todo--;
}

static void connected(struct fetcher *self)
{
    char request[CHUNK];
    size_t length = page_request(self->page, request, sizeof request);

    selector_unregister(self);
    if (send(self->sock, request, length, MSG_NOSIGNAL) < 0)
        perror(self->page->url);
    selector_register(self, EPOLLIN, read_response);
}

static void fetch(struct page *page)
{
    struct fetcher *self = &fetchers[page - pages];

    *self = (struct fetcher){page, socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), NULL};
    urls_todo++;
    (void)connect(self->sock, (struct sockaddr *)&server, sizeof server); // EINPROGRESS
    selector_register(self, EPOLLOUT, connected);
} // returns before it is connected
/* [end] */

/* [loop] */
static void loop(void)
{
    while (urls_todo > 0) {
        struct epoll_event events[16];
        int n = epoll_wait(selector, events, 16, -1);

        for (int i = 0; i < n; i++) {
            struct fetcher *fetcher = events[i].data.ptr;
            fetcher->callback(fetcher);
        }
    }
}
/* [end] */

int main(int argc, char **argv)
{
    pages_begin(argc, argv);
    selector = epoll_create1(0);
    fetch(&pages[0]);
    loop();
    close(selector);
    pages_print();
    return 0;
}
