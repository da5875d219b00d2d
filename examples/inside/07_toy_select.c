/*
 * 07_toy_select.c - an event loop for times and descriptors, on select(2).
 *
 * This is version 2 of run() in the first answer to "How does asyncio actually work?",
 * with its events: AsyncSleep, AsyncRead (reads a file one byte at a time) and AsyncRecv
 * (reads a non-blocking socket). The peer of the socket is another coroutine, which
 * alternately sends a piece and sleeps. This program corrects mistakes in the answer's
 * programs. AsyncRead and AsyncRecv stop at the end of the file, when a read returns 0,
 * instead of waiting forever. AsyncRecv reads at most `amount` bytes. After one select(),
 * all ready coroutines are resumed, not only the first one.
 *
 * select() always reports a regular file as ready, although reading it may block. So a
 * loop needs threads for files (13_who_knows.c). Descriptors that are always ready must
 * not starve the sleepers: run() looks at all coroutines in every round.
 *
 * The answer's loop takes thirty lines of Python. run() is about as long, but C also
 * needs wait_for_events(), which fills the sets and the timeout of select().
 *
 * To try: make PIECES 3. AsyncRecv then returns the 6144 bytes that arrived before the
 * end. Or remove SOCK_NONBLOCK. An assertion then fails, because recv() would block the
 * loop.
 */
#include "toy_gen.h"
#include "toy_time.h"

#include <assert.h>
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
    enum { SLEEP, READ, RECV } kind; // the only kinds that the loop supports
    double until;
    int fd;
    size_t amount, progress;
};

static void print_event(const struct event *event)
{
    if (event->kind == SLEEP)
        printf("  AsyncSleep(until=%.3f)\n", event->until);
    else
        printf("  %s(file=%d, amount=%zu, progress=%zu)\n",
               event->kind == READ ? "AsyncRead" : "AsyncRecv", event->fd, event->amount,
               event->progress);
}
/* [end] */

static void async_sleep(double duration)
{
    struct event event = {.kind = SLEEP, .until = now() + duration};

    gen_yield(&event);
}

/* [read] */
/* Suspend before each byte, and assume that read() does not block after that. */
static size_t async_read(int fd, char *buffer, size_t amount)
{
    struct event event = {READ, 0, fd, amount, 0};

    while (event.progress < amount) {
        gen_yield(&event);
        if (read(fd, buffer + event.progress, 1) <= 0)
            break; // the end of the file
        event.progress++;
    }
    return event.progress;
}

/* Take the available bytes, and suspend only if nothing has arrived. */
static size_t async_recv(int fd, char *buffer, size_t amount)
{
    struct event event = {RECV, 0, fd, amount, 0};

    assert((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
    while (event.progress < amount) {
        ssize_t got = recv(fd, buffer + event.progress, amount - event.progress, 0);
        if (got > 0)
            event.progress += (size_t)got;
        else if (got < 0 && errno == EAGAIN)
            gen_yield(&event);
        else
            break;
    }
    return event.progress;
}
/* [end] */

/* [run] */
struct waiter {
    struct gen *gen; // NULL when the coroutine has ended
    struct event event;
};

static struct waiter waiters[COROUTINES];

/* Wait until a descriptor is ready or the first sleeper is due. */
static int wait_for_events(fd_set *ready)
{
    double left = 3600; // at most
    int highest = -1;

    FD_ZERO(ready);
    for (int i = 0; i < COROUTINES; i++) {
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

static void run(void)
{
    for (int left = COROUTINES; left > 0;) {
        fd_set ready;

        if (wait_for_events(&ready) < 0)
            exit(1);
        for (int i = 0; i < COROUTINES; i++) {
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

/* Print the events for which the other coroutines wait. */
static void print_waiters(void)
{
    for (int i = 0; i < COROUTINES; i++)
        if (waiters[i].gen != NULL && waiters[i].gen != gen_running)
            print_event(&waiters[i].event);
}

static void *sleepy(void *arg)
{
    for (int round = 1; round <= 5; round++) {
        printf("%s round %d\n", (char *)arg, round);
        if (round == 2)
            print_waiters();
        async_sleep(0.04);
    }
    return NULL;
}

struct file {
    const char *path;
    size_t amount;
};

static void *ready(void *arg)
{
    const struct file *file = arg;
    char buffer[AMOUNT]; // on the coroutine's stack, so each reader has its own
    int fd = open(file->path, O_RDONLY);

    if (fd < 0)
        return NULL;
    printf("read %s\n", file->path);
    size_t n = async_read(fd, buffer, file->amount);
    printf("done %s: got %zu B\n", file->path, n);
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

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) < 0)
        return 1;
    waiters[0].gen = gen_new(sleepy, "background");
    waiters[1].gen = gen_new(ready, &(struct file){"/dev/urandom", AMOUNT});
    waiters[2].gen = gen_new(ready, &(struct file){"/proc/self/exe", 4096});
    waiters[3].gen = gen_new(receiver, &fds[0]);
    waiters[4].gen = gen_new(paced_peer, &fds[1]);
    run();
    return 0;
}
