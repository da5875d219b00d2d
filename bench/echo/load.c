/*
 * load.c - the load of the echo benchmark: how fast a server answers, at what cost.
 *
 *     load PORT SERVER-PID CONNECTIONS SECONDS
 *
 * A closed loop: each connection has one request of 64 bytes outstanding, and sends the
 * next when it has got, and compared, the whole answer. After a warm-up it counts for a
 * fixed time, and prints
 *
 *     REQUESTS/S  SERVER-CPU-US/REQUEST  P50-US  P99-US
 *
 * The server's time is that of its process's CPU clock (clock_getcpuclockid(3)), the sum
 * of user and system time that /proc/PID/stat shows, in nanoseconds instead of ticks,
 * over the counted time alone. It is the figure that ranks servers: the rate is limited
 * by this program, too, which can make some 150,000 requests a second.
 *
 * Latencies go to a histogram of 32 steps for each power of two: 3 % wide.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 64, BATCH = 256, STEPS = 32, BUCKETS = 64 * STEPS };

#define SEC INT64_C(1000000000)
#define WARM_UP (SEC / 2)

struct connection {
    int fd;
    uint32_t sequence;
    size_t got;
    int64_t sent_at;
    char answer[MESSAGE + 1]; /* room for a byte too many, to notice it */
};

static struct connection *connections;
static uint64_t histogram[BUCKETS], request_count;

static void give_up(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t time_of(clockid_t clock)
{
    struct timespec t;

    if (clock_gettime(clock, &t) < 0)
        give_up("the server has ended");
    return t.tv_sec * SEC + t.tv_nsec;
}

/* ---- latencies -------------------------------------------------------------------- */

static unsigned bucket_of(uint64_t ns)
{
    unsigned exponent;

    if (ns < STEPS)
        return (unsigned)ns;
    exponent = 63 - (unsigned)__builtin_clzll(ns) - 5;
    return (exponent + 1) * STEPS + (unsigned)(ns >> exponent) - STEPS;
}

/* The middle of a bucket, in microseconds. */
static double middle_of(unsigned bucket)
{
    unsigned exponent = bucket / STEPS;

    if (exponent == 0)
        return bucket / 1e3;
    return ((bucket % STEPS) + STEPS + 0.5) * (double)(UINT64_C(1) << (exponent - 1)) /
           1e3;
}

static double percentile(double share)
{
    uint64_t below = 0;
    unsigned i = 0;

    while (i < BUCKETS - 1 && (below += histogram[i]) < share * (double)request_count)
        i++;
    return middle_of(i);
}

/* ---- requests --------------------------------------------------------------------- */

/* No two requests of a time are alike, so that an answer of somebody else's is noticed.
 */
static void make_message(const struct connection *c, char *message)
{
    uint64_t seed = ((uint64_t)c->fd << 32 | c->sequence) * UINT64_C(0x9e3779b97f4a7c15);

    for (size_t i = 0; i < MESSAGE;
         i += sizeof seed, seed += UINT64_C(0x0101010101010101))
        memcpy(message + i, &seed, sizeof seed);
}

static void send_request(struct connection *c, int64_t now)
{
    char message[MESSAGE];

    c->sequence++;
    c->got = 0;
    c->sent_at = now;
    make_message(c, message);
    if (send(c->fd, message, MESSAGE, MSG_NOSIGNAL) != MESSAGE)
        give_up("sending");
}

/* True when the answer is complete. */
static bool receive_answer(struct connection *c)
{
    char expected[MESSAGE];
    ssize_t n = recv(c->fd, c->answer + c->got, sizeof c->answer - c->got, 0);

    if (n < 0 && errno == EAGAIN)
        return false;
    if (n == 0)
        errno = ECONNRESET;
    if (n <= 0)
        give_up("receiving");
    c->got += (size_t)n;
    if (c->got < MESSAGE)
        return false;
    make_message(c, expected);
    errno = EBADMSG;
    if (c->got > MESSAGE || memcmp(c->answer, expected, MESSAGE) != 0)
        give_up("an answer differs from its request");
    return true;
}

/* Go on until `end`; returns when that was. */
static int64_t drive(int epoll_fd, int64_t end)
{
    struct epoll_event events[BATCH];
    int64_t now;

    do {
        int n = epoll_wait(epoll_fd, events, BATCH, 1000);

        if (n < 0 && errno != EINTR)
            give_up("epoll_wait");
        now = time_of(CLOCK_MONOTONIC);
        for (int i = 0; i < n; i++) {
            struct connection *c = &connections[events[i].data.u32];

            if (!receive_answer(c))
                continue;
            now = time_of(CLOCK_MONOTONIC);
            histogram[bucket_of((uint64_t)(now - c->sent_at))]++;
            request_count++;
            send_request(c, now);
        }
    } while (now < end);
    return now;
}

/* ---- connections ------------------------------------------------------------------ */

/* Closed with a reset, so that no port is kept in TIME_WAIT for the next run. */
static int open_connection(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct linger reset = {.l_onoff = 1};
    int yes = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0)
        give_up("socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        give_up("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    return fd;
}

static void open_all(int epoll_fd, uint16_t port, uint32_t count)
{
    connections = calloc(count, sizeof *connections);
    if (connections == NULL)
        give_up("memory");
    for (uint32_t i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u32 = i};

        connections[i].fd = open_connection(port);
        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, connections[i].fd, &event) < 0)
            give_up("epoll_ctl");
    }
    for (uint32_t i = 0; i < count; i++)
        send_request(&connections[i], time_of(CLOCK_MONOTONIC));
}

int main(int argc, char *argv[])
{
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    clockid_t server;
    int64_t begin, end, cpu;

    if (argc != 5) {
        fprintf(stderr, "usage: load PORT SERVER-PID CONNECTIONS SECONDS\n");
        return 2;
    }
    errno = clock_getcpuclockid(atoi(argv[2]), &server);
    if (errno != 0)
        give_up("the server's clock");
    open_all(epoll_fd, (uint16_t)atoi(argv[1]), (uint32_t)atoi(argv[3]));
    drive(epoll_fd, time_of(CLOCK_MONOTONIC) + WARM_UP);
    memset(histogram, 0, sizeof histogram);
    request_count = 0;

    begin = time_of(CLOCK_MONOTONIC);
    cpu = time_of(server);
    end = drive(epoll_fd, begin + (int64_t)(atof(argv[4]) * (double)SEC));
    cpu = time_of(server) - cpu;

    errno = ETIMEDOUT;
    if (request_count == 0)
        give_up("no answer");
    printf("%.0f %.3f %.1f %.1f\n",
           (double)request_count * (double)SEC / (double)(end - begin),
           (double)cpu / 1e3 / (double)request_count, percentile(0.5), percentile(0.99));
    return 0;
}
