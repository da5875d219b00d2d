/*
 * 0_threads.c - the crawler on threads: each blocks in connect() and recv().
 *
 * This is the first program of the chapter "A Web Crawler With asyncio Coroutines".
 * fetch() is easy to read: while it waits, its state is in its variables, on its thread's
 * stack. The price is the threads and the lock: without the lock, two threads may both
 * treat the same link as new.
 *
 *     0_threads 127.0.0.1 8080
 *
 * To try: set THREADS to 1. The crawler then fetches one page at a time.
 */
#include "pages.h"

#include <pthread.h>
#include <unistd.h>

#define THREADS 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards pages[] and the counts
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int next, busy;

/* [fetch] */
static void fetch(struct page *page)
{
    char chunk[CHUNK];
    int sock = socket(AF_INET, SOCK_STREAM, 0);
    ssize_t n = -1;

    if (connect(sock, (struct sockaddr *)&server, sizeof server) == 0)
        n = send(sock, chunk, page_request(page, chunk, sizeof chunk), MSG_NOSIGNAL);
    while (n > 0 && (n = recv(sock, chunk, sizeof chunk, 0)) > 0)
        page_append(page, chunk, (size_t)n);
    if (n < 0)
        perror(page->url);
    close(sock);
}
/* [end] */

static void found(struct page *page)
{
    (void)page;
    pthread_cond_signal(&changed); // there are more pages to fetch
}

/* [work] */
static void *work(void *arg)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (next == page_count && busy > 0)
            pthread_cond_wait(&changed, &lock);
        if (next == page_count)
            break; // and no busy thread can find more pages
        struct page *page = &pages[next++];
        busy++;
        pthread_mutex_unlock(&lock);
        fetch(page);
        pthread_mutex_lock(&lock);
        page_links(page, found);
        busy--;
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return arg;
}
/* [end] */

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];

    pages_begin(argc, argv);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pages_print();
    return 0;
}
