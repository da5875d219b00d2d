/*
 * 1_spin.c - the crawler on non-blocking sockets, and nothing to wait with.
 *
 * The chapter's second step: connect() returns at once, with EINPROGRESS, and then send()
 * and recv() are tried until they succeed. It fetches one page at a time, and keeps a
 * processor busy meanwhile: look at the processor time, beside that of the others.
 *
 *     1_spin 127.0.0.1 8080
 *
 * Call usleep(1000) in again(): fewer tries in vain, and every page comes later.
 */
#include "pages.h"

#include <errno.h>
#include <unistd.h>

static unsigned long in_vain;

static void found(struct page *page)
{
    (void)page; // it is in pages[], and main() will come to it
}

/* [spin] */
static bool again(ssize_t n)
{
    if (n >= 0 || (errno != EAGAIN && errno != ENOTCONN && errno != EINTR))
        return false;
    in_vain++;
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
        in_vain++; // it has begun: that is what this error says
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
    fprintf(stderr, "%lu tries in vain\n", in_vain);
    return 0;
}
