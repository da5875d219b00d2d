/*
 * 07_toy_select.c - an event loop for times and descriptors, on select(2).
 *
 * Version 2 of run() in the first answer to "How does asyncio actually work?", with its
 * events: AsyncSleep, AsyncRead (reads a file one byte at a time) and AsyncRecv (reads a
 * non-blocking socket). The peer of the socket is another coroutine, which alternately
 * sends a piece and sleeps. Mistakes of the answer's programs are corrected here.
 * AsyncRead and AsyncRecv stop at the end of the file, which reads as 0 bytes, instead of
 * waiting forever. AsyncRecv takes no more than `amount`. After one select(), all ready
 * coroutines are resumed, not only the first.
 *
 * select() always reports a regular file as ready, although reading it may block. So a
 * loop needs threads for files (13_who_knows.c). Descriptors that are always ready must
 * not starve the sleepers: run() looks at all coroutines in every round.
 *
 * Make PIECES 3: AsyncRecv returns the 6144 bytes that came before the end.
 */
#include "toy_gen.h"
#include "toy_time.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#define COROUTINES 5
#define AMOUNT 32768
#define PIECES 16

/* [events] */
struct event {
    enum { SLEEP, READ } kind; // the only kinds that the loop supports
    double until;
    int fd;
};
/* [end] */

static void async_sleep(double duration)
{
    struct event event = {SLEEP, now() + duration, -1};

    gen_yield(&event);
}

/* [read] */
/* Suspend before each byte, and assume that read() does not block then. */
static size_t async_read(int fd, char *buffer, size_t amount)
{
    struct event event = {READ, 0, fd};
    size_t n = 0;

    while (n < amount) {
        gen_yield(&event);
        if (read(fd, buffer + n, 1) <= 0)
            break; // the end of the file
        n++;
    }
    return n;
}

/* Take the available bytes, and suspend only if nothing has arrived. */
static size_t async_recv(int fd, char *buffer, size_t amount)
{
    struct event event = {READ, 0, fd};
    size_t n = 0;

    while (n < amount) {
        ssize_t got = recv(fd, buffer + n, amount - n, MSG_DONTWAIT);
        if (got > 0)
            n += (size_t)got;
        else if (got < 0 && errno == EAGAIN)
            gen_yield(&event);
        else
            break;
    }
    return n;
}
/* [end] */

/* [run] */
struct waiter {
    struct gen *gen; // NULL after its end
    struct event event;
};

/* Wait until a descriptor is ready or the first sleeper is due. */
static int wait_for_events(const struct waiter *waiters, int n, fd_set *ready)
{
    double left = 3600; // at most
    int highest = -1;

    FD_ZERO(ready);
    for (int i = 0; i < n; i++) {
        const struct event *event = &waiters[i].event;
        if (waiters[i].gen == NULL)
            continue;
        if (event->kind == SLEEP) {
            left = event->until - now() < left ? event->until - now() : left;
        } else {
            FD_SET(event->fd, ready);
            highest = event->fd > highest ? event->fd : highest;
        }
    }
    if (left < 0)
        left = 0;
    struct timeval timeout = {(time_t)left,
                              (suseconds_t)((left - (time_t)left) * 1e6) + 1};
    return select(highest + 1, ready, NULL, NULL, &timeout);
}

static void run(struct waiter *waiters, int n)
{
    for (int left = n; left > 0;) {
        fd_set ready;

        if (wait_for_events(waiters, n, &ready) < 0)
            exit(1);
        for (int i = 0; i < n; i++) {
            struct waiter *w = &waiters[i];
            void *event;

            if (w->gen == NULL)
                continue;
            if (w->event.kind == SLEEP ? w->event.until > now()
                                       : !FD_ISSET(w->event.fd, &ready))
                continue;
            if (gen_send(w->gen, NULL, &event)) {
                w->event = *(struct event *)event;
            } else {
                gen_free(w->gen);
                w->gen = NULL;
                left--;
            }
        }
    }
}
/* [end] */

static void *sleepy(void *arg)
{
    for (int round = 1; round <= 5; round++) {
        printf("%s round %d\n", (char *)arg, round);
        async_sleep(0.04);
    }
    return NULL;
}

static void *ready(void *arg)
{
    char buffer[4096]; // on the coroutine's own stack, so each reader has its own
    int fd = open(arg, O_RDONLY);

    if (fd < 0)
        return NULL;
    printf("read %s\n", (char *)arg);
    size_t n = async_read(fd, buffer, sizeof buffer);
    printf("done %s: got %zu B\n", (char *)arg, n);
    close(fd);
    return NULL;
}

static void *receiver(void *arg)
{
    static char buffer[AMOUNT];
    int fd = *(int *)arg;

    printf("read a socket\n");
    size_t n = async_recv(fd, buffer, sizeof buffer);
    printf("done a socket: got %zu B\n", n);
    close(fd);
    return NULL;
}

static void *paced_peer(void *arg)
{
    static const char piece[AMOUNT / 16];
    int fd = *(int *)arg;

    for (int i = 0; i < PIECES; i++) {
        async_sleep(0.005);
        if (send(fd, piece, sizeof piece, MSG_NOSIGNAL) < 0)
            break;
    }
    close(fd);
    return NULL;
}

int main(void)
{
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
        return 1;
    run((struct waiter[COROUTINES]){{.gen = gen_new(sleepy, "background")},
                                    {.gen = gen_new(ready, "/dev/urandom")},
                                    {.gen = gen_new(ready, "/proc/self/exe")},
                                    {.gen = gen_new(receiver, &fds[0])},
                                    {.gen = gen_new(paced_peer, &fds[1])}},
        COROUTINES);
    return 0;
}
