/*
 * thread_crawl.c - the counterpart of coil_crawl.c with threads: a lock protects the
 * shared data.
 *
 *     thread_crawl PORT WORKERS
 */
#include "crawl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static struct crawl {
    pthread_mutex_t lock;
    pthread_cond_t more; /* signalled when a page is queued, or when all pages are done */
    long pages[PAGES_MOST];
    long first, count, unfinished;
    uint16_t port;
    long workers, fetched, busy, busy_most;
} crawl = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static int open_connection(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(crawl.port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bench_must(fd >= 0, "socket");
    bench_must(connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

static void fetch(int *fd, long page, char *bytes)
{
    size_t have = 0, want = 0, n = write_request(bytes, PAGE_BYTES, page);

    if (*fd < 0)
        *fd = open_connection();
    bench_must(send(*fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n, "send");
    while (want == 0 || have < want) {
        ssize_t got = recv(*fd, bytes + have, PAGE_BYTES - 1 - have, 0);

        bench_must(got > 0, "recv");
        have += (size_t)got;
        bytes[have] = '\0';
        want = answer_length(bytes);
    }
}

/* Call with the lock held. */
static void put_new(const char *text)
{
    long page;

    while ((page = next_link(&text)) >= 0) {
        if (!is_new(page))
            continue;
        crawl.pages[crawl.count++] = page;
        crawl.unfinished++;
        pthread_cond_signal(&crawl.more);
    }
}

/* Call with the lock held. Returns false when there will be no more pages. */
static bool get(long *page)
{
    while (crawl.first == crawl.count && crawl.unfinished > 0)
        pthread_cond_wait(&crawl.more, &crawl.lock);
    if (crawl.first == crawl.count)
        return false;
    *page = crawl.pages[crawl.first++];
    if (++crawl.busy > crawl.busy_most)
        crawl.busy_most = crawl.busy;
    return true;
}

static void *work(void *arg)
{
    char bytes[PAGE_BYTES];
    long page;
    int fd = -1;

    (void)arg;
    pthread_mutex_lock(&crawl.lock);
    while (get(&page)) {
        pthread_mutex_unlock(&crawl.lock);
        fetch(&fd, page, bytes);
        pthread_mutex_lock(&crawl.lock);
        put_new(bytes);
        crawl.busy--;
        crawl.fetched++;
        if (--crawl.unfinished == 0)
            pthread_cond_broadcast(&crawl.more);
    }
    pthread_mutex_unlock(&crawl.lock);
    if (fd >= 0)
        close(fd);
    return NULL;
}

int main(int argc, char **argv)
{
    struct stopwatch watch;
    pthread_t workers[1000];

    crawl.port = (uint16_t)argument(argc, argv, 1);
    crawl.workers = argument(argc, argv, 2);
    bench_must(crawl.workers <= 1000, "so many workers");
    watch = stopwatch_start();
    is_new(0);
    crawl.count = crawl.unfinished = 1;
    for (long i = 0; i < crawl.workers; i++)
        bench_must(pthread_create(&workers[i], NULL, work, NULL) == 0, "pthread_create");
    for (long i = 0; i < crawl.workers; i++)
        pthread_join(workers[i], NULL);
    stopwatch_report(&watch, 1);
    figure("pages", (double)crawl.fetched);
    figure("busy", (double)crawl.busy_most);
    return 0;
}
