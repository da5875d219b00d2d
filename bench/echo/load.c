/*
 * load.c - the load generator of the echo benchmark: measures a server's rate and
 * processor time.
 *
 *     load CONNECTIONS SLICE-MS PORT SERVER-PID
 *
 * The load is a closed loop: each connection has one request of 64 bytes outstanding. A
 * connection sends the next request after it has received the whole answer and compared
 * it with the request. The program connects, prints "ready", and then sends requests for
 * one slice after each line that it reads. In this way many servers can run at once and
 * take turns, each with its own load generator. A change in the machine's speed then
 * affects all servers alike, and consecutive slices can be compared. The first fifth of a
 * slice is not counted, and a slice ends when all answers have arrived. For each slice
 * the program prints
 *
 *     REQUESTS/S  SERVER-CPU-US/REQUEST  P50-US  P99-US
 *
 * The server's time comes from the CPU clock of its process (clock_getcpuclockid(3)).
 * This clock shows the sum of user and system time, like /proc/PID/stat, but in
 * nanoseconds instead of ticks. The uncounted fifth of the slice is excluded. Rank
 * servers by this figure and not by their rate, because this program cannot make more
 * than about 150,000 requests a second.
 *
 * Latencies are counted in a histogram with 32 buckets for each power of two. A bucket is
 * 3 % wide.
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
#define MSEC INT64_C(1000000)

struct connection {
    int fd;
    uint32_t sequence;
    size_t got;
    int64_t sent_at;
    char answer[MESSAGE + 1]; /* one more byte, to detect a surplus byte */
};

struct server {
    clockid_t clock;
    int epoll_fd;
    struct connection *connections;
};

static uint32_t connection_count;
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

/* ---- latencies --------------------------------------------------------------------- */

static unsigned bucket_of(uint64_t ns)
{
    unsigned exponent;

    if (ns < STEPS)
        return (unsigned)ns;
    exponent = 63 - (unsigned)__builtin_clzll(ns) - 5;
    return (exponent + 1) * STEPS + (unsigned)(ns >> exponent) - STEPS;
}

/* Return the middle of a bucket, in microseconds. */
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

/* ---- requests ---------------------------------------------------------------------- */

/*
 * Write the connection's next request. All outstanding requests differ, so an answer to
 * another request is detected.
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

/* Receive the bytes that have arrived. Returns true once the answer is complete. */
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

/*
 * Wait for answers and receive them. If `ask` is true, send the next request on each
 * connection with a complete answer. Returns the number of complete answers.
 */
static uint32_t turn(const struct server *server, bool ask)
{
    struct epoll_event events[BATCH];
    int n = epoll_wait(server->epoll_fd, events, BATCH, 10000);
    uint32_t answers = 0;
    int64_t now;

    if (n == 0)
        errno = ETIMEDOUT;
    if (n == 0 || (n < 0 && errno != EINTR))
        give_up("waiting for answers");
    for (int i = 0; i < n; i++) {
        struct connection *c = &server->connections[events[i].data.u32];

        if (!receive_answer(c))
            continue;
        now = time_of(CLOCK_MONOTONIC);
        histogram[bucket_of((uint64_t)(now - c->sent_at))]++;
        answers++;
        if (ask)
            send_request(c, now);
    }
    return answers;
}

/* Exchange requests and answers for `span` nanoseconds. */
static void drive(const struct server *server, int64_t span)
{
    int64_t end = time_of(CLOCK_MONOTONIC) + span;

    while (time_of(CLOCK_MONOTONIC) < end)
        request_count += turn(server, true);
}

/* Measure one slice. The figures for the uncounted parts of the slice are discarded. */
static void measure(const struct server *server, int64_t span)
{
    uint32_t outstanding = connection_count;
    int64_t begin, cpu;

    for (uint32_t i = 0; i < connection_count; i++)
        send_request(&server->connections[i], time_of(CLOCK_MONOTONIC));
    drive(server, span / 5);
    memset(histogram, 0, sizeof histogram);
    request_count = 0;
    begin = time_of(CLOCK_MONOTONIC);
    cpu = time_of(server->clock);
    drive(server, span - span / 5);
    cpu = time_of(server->clock) - cpu;
    begin = time_of(CLOCK_MONOTONIC) - begin;
    errno = ETIMEDOUT;
    if (request_count == 0)
        give_up("no answer");
    printf("%.0f %.3f %.1f %.1f\n", (double)request_count * (double)SEC / (double)begin,
           (double)cpu / 1e3 / (double)request_count, percentile(0.5), percentile(0.99));
    fflush(stdout);
    while (outstanding > 0)
        outstanding -= turn(server, false);
}

/* ---- connections ------------------------------------------------------------------- */

/*
 * Open a connection that will be closed with a reset, so that no port is left in
 * TIME_WAIT.
 */
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

static void open_all(struct server *server, uint16_t port)
{
    server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    server->connections = calloc(connection_count, sizeof *server->connections);
    if (server->epoll_fd < 0 || server->connections == NULL)
        give_up("beginning");
    for (uint32_t i = 0; i < connection_count; i++) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u32 = i};
        int fd = open_connection(port);

        server->connections[i].fd = fd;
        if (epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
            give_up("epoll_ctl");
    }
}

int main(int argc, char *argv[])
{
    struct server server;
    char line[16];

    if (argc != 5) {
        fprintf(stderr, "usage: load CONNECTIONS SLICE-MS PORT SERVER-PID\n");
        return 2;
    }
    connection_count = (uint32_t)atoi(argv[1]);
    errno = clock_getcpuclockid(atoi(argv[4]), &server.clock);
    if (errno != 0)
        give_up("the server's clock");
    open_all(&server, (uint16_t)atoi(argv[3]));
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL)
        measure(&server, atoi(argv[2]) * MSEC);
    return 0;
}
