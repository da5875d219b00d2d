/*
 * 1_spin.c - the crawler on non-blocking sockets, without a way to wait.
 *
 * This is the second program of "A Web Crawler With asyncio Coroutines". connect()
 * returns at once, with EINPROGRESS. After that, send() and recv() are tried until they
 * succeed. The program fetches one page at a time, and keeps a processor busy all the
 * time. Compare its processor time with the other crawlers'.
 *
 *     1_spin 127.0.0.1 8080
 *
 * To try: call usleep(1000) in again(). Fewer tries fail, but every page takes longer.
 */
#include "pages.h"

#include <errno.h>
#include <unistd.h>

static unsigned long failed_tries;

static void found(struct page *page)
{
    (void)page; // main() finds the page in pages[]
}

/* [spin] */
static bool again(ssize_t n)
{
    if (n >= 0 || (errno != EAGAIN && errno != ENOTCONN && errno != EINTR))
        return false;
    failed_tries++;
    return true;
}

static void fetch(struct page *page)
{
    char chunk[CHUNK];
    size_t length = page_request(page, chunk, sizeof chunk);
    int sock = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ssize_t n;

    if (connect(sock, (struct sockaddr *)&server, sizeof server) < 0 &&
        errno == EINPROGRESS)
        failed_tries++; // EINPROGRESS: connecting has begun
    while (again(n = send(sock, chunk, length, MSG_NOSIGNAL))) {
    }
    while (n > 0) {
        while (again(n = recv(sock, chunk, sizeof chunk, 0))) {
        }
        if (n > 0)
            page_append(page, chunk, (size_t)n);
    }
    if (n < 0)
        perror(page->url);
    close(sock);
}
/* [end] */

int main(int argc, char **argv)
{
    pages_begin(argc, argv);
    for (int i = 0; i < page_count; i++) {
        fetch(&pages[i]);
        page_links(&pages[i], found);
    }
    pages_print();
    fprintf(stderr, "%lu tries without success\n", failed_tries);
    return 0;
}
