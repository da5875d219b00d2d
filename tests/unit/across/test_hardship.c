/*
 * test_hardship.c - tests with many signals, slow readers, and very many connections.
 */
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct flood {
    coil_stream *stream;
    size_t size, moved, wrong;
};

static int flood_out(void *arg)
{
    struct flood *f = arg;
    static unsigned char bytes[32768];

    while (f->moved < f->size) {
        ssize_t n;

        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = pattern_byte(f->moved + i);
        n = coil_write(f->stream, bytes, sizeof bytes);
        if (n < 0)
            return (int)n;
        f->moved += (size_t)n;
    }
    return coil_stream_shutdown_write(f->stream);
}

static int flood_in(void *arg)
{
    struct flood *f = arg;
    unsigned char bytes[5000];
    ssize_t n;

    while ((n = coil_read(f->stream, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            f->wrong += bytes[i] != pattern_byte(f->moved + (size_t)i);
        f->moved += (size_t)n;
    }
    return (int)n;
}

/* ---- signals ----------------------------------------------------------------------- */

static volatile sig_atomic_t drops;

static void count_drop(int signo)
{
    (void)signo;
    drops++;
}

IO_TEST(stream_while_signals_rain)
{
    struct sigaction action = {.sa_handler = count_drop}; /* no SA_RESTART */
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    struct flood out = {.size = (size_t)4 << 20}, in = {.size = 0};
    coil_stream *ends[2];
    coil_task *writer, *reader;

    if (test_under_valgrind())
        test_skip("under valgrind a wait that a signal interrupts may fail with EFAULT");
    make_stream_pair(ends);
    out.stream = ends[0];
    in.stream = ends[1];
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    CHECK_INT(coil_spawn(flood_out, &out, NULL, &writer), 0);
    CHECK_INT(coil_spawn(flood_in, &in, NULL, &reader), 0);
    finish(writer);
    finish(reader);
    while (drops < 10) /* some signals must arrive while this task sleeps */
        CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    setitimer(ITIMER_REAL, &never, NULL);
    CHECK_INT(in.moved, out.size);
    CHECK_INT(in.wrong, 0);
    destroy_streams(ends);
}

/* ---- a slow reader ----------------------------------------------------------------- */

IO_TEST(writer_is_held_up_by_a_slow_reader)
{
    struct flood out = {.size = (size_t)64 << 20}, in = {.size = 0};
    size_t before = test_bytes_held(), held = 1, moved;
    coil_stream *ends[2];
    coil_task *writer, *reader;

    make_stream_pair(ends);
    out.stream = ends[0];
    in.stream = ends[1];
    CHECK_INT(coil_spawn(flood_out, &out, NULL, &writer), 0);
    /* wait until the writer makes no progress any more */
    for (moved = 0; moved != held; moved = out.moved) {
        held = moved;
        coil_sleep(COIL_MSEC(3));
        if (moved == 0)
            held = 1;
    }
    CHECK(out.moved < out.size / 2);
    /* the bytes are in the kernel, not in coil */
    CHECK(test_bytes_held() - before < 65536);
    CHECK_INT(coil_spawn(flood_in, &in, NULL, &reader), 0);
    finish(writer);
    finish(reader);
    CHECK_INT(in.moved, out.size);
    CHECK_INT(in.wrong, 0);
    destroy_streams(ends);
}

/* ---- very many connections --------------------------------------------------------- */

/*
 * A server process with a task for each connection, and a client process that opens the
 * connections. Each process opens as many descriptors as its limit allows. The
 * connections stay idle until all pairs of processes are ready. After that, the client
 * sends one request on each.
 */
struct pair {
    int count;
    int port_pipe[2], up_pipe[2], go_pipe[2];
    pid_t server, client;
};

static int left; /* number of the server's connections that are still open */

static int answer(coil_stream *stream, void *arg)
{
    char byte;
    ssize_t n;

    while ((n = coil_read(stream, &byte, 1)) == 1)
        if ((n = coil_write(stream, &byte, 1)) < 0)
            break;
    if (--left == 0)
        coil_listener_close(arg);
    return (int)n;
}

static int serve_pair(void *arg)
{
    struct pair *p = arg;
    coil_server_opts opts = {.stack_bytes = 16384};
    coil_listener *listener;
    uint16_t port;
    int rc = coil_listen("127.0.0.1", "0", 4096, &listener);

    if (rc < 0)
        return rc;
    left = p->count;
    port = coil_listener_port(listener);
    if (write(p->port_pipe[1], &port, sizeof port) != sizeof port)
        return -EPIPE;
    rc = coil_serve(listener, answer, listener, &opts);
    coil_listener_destroy(listener);
    return rc;
}

/*
 * Connect, from another address for every 8,000 connections: once half of an address's
 * ports are in use, the kernel takes longer and longer to find a free one.
 */
static int connect_one(int i, const struct sockaddr_in *name)
{
    struct sockaddr_in from = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + (unsigned)i / 8000);
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&from, sizeof from) < 0 ||
        connect(fd, (const struct sockaddr *)name, sizeof *name) < 0)
        return -1;
    return fd;
}

static int connect_all(const struct pair *p, int *fds, uint16_t port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < p->count; i++) {
        fds[i] = connect_one(i, &name);
        if (fds[i] < 0)
            return -1;
    }
    return 0;
}

static int hold_pair(struct pair *p)
{
    int *fds = malloc((size_t)p->count * sizeof *fds), failed = 0;
    uint16_t port = 0;
    char byte = 'x';

    if (read(p->port_pipe[0], &port, sizeof port) != sizeof port)
        return 1;
    if (connect_all(p, fds, port) != 0)
        return 2;
    if (write(p->up_pipe[1], &byte, 1) != 1 || read(p->go_pipe[0], &byte, 1) != 1)
        return 3;
    for (int i = 0; i < p->count; i++)
        failed += send(fds[i], &byte, 1, MSG_NOSIGNAL) != 1;
    for (int i = 0; i < p->count; i++)
        failed += recv(fds[i], &byte, 1, 0) != 1;
    free(fds); /* the kernel closes the descriptors when the process exits */
    return failed > 0 ? 4 : 0;
}

static void start_pair(struct pair *p, int count)
{
    p->count = count;
    CHECK_INT(pipe(p->port_pipe) + pipe(p->up_pipe) + pipe(p->go_pipe), 0);
    p->server = fork();
    if (p->server == 0)
        _exit(coil_run(serve_pair, p, NULL) < 0);
    p->client = fork();
    if (p->client == 0)
        _exit(hold_pair(p));
}

static void finish_pair(struct pair *p)
{
    int status = -1;

    CHECK_INT(waitpid(p->client, &status, 0), p->client);
    CHECK_INT(status, 0);
    CHECK_INT(waitpid(p->server, &status, 0), p->server);
    CHECK_INT(status, 0);
    for (int i = 0; i < 2; i++) {
        close(p->port_pipe[i]);
        close(p->up_pipe[i]);
        close(p->go_pipe[i]);
    }
}

static int descriptors_allowed(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur > 50000 ? 50000 : (int)limit.rlim_cur;
}

TEST(server_of_a_hundred_thousand_idle_connections)
{
    enum { PAIRS_MAX = 16 };
    struct pair pairs[PAIRS_MAX];
    int each = descriptors_allowed() - 64, count, total = test_hundred_thousand();
    long free_kib = test_proc_kib("/proc/meminfo", "MemAvailable");
    char byte = 'x';

    if (each < 1000)
        test_skip("the limit of descriptors is too low");
    /* a connection takes 20 KiB, including both sockets */
    if (free_kib > 0 && free_kib / 20 < total)
        total = (int)(free_kib / 20);
    count = (total + each - 1) / each;
    if (count > PAIRS_MAX)
        count = PAIRS_MAX;
    if (each > total / count)
        each = (total + count - 1) / count;
    for (int i = 0; i < count; i++)
        start_pair(&pairs[i], each);
    for (int i = 0; i < count; i++) {
        struct pollfd up = {.fd = pairs[i].up_pipe[0], .events = POLLIN};

        CHECK_INT(poll(&up, 1, 60000), 1);
    }
    printf("%d idle connections, in %d pairs of processes\n", each * count, count);
    for (int i = 0; i < count; i++)
        CHECK_INT(write(pairs[i].go_pipe[1], &byte, 1), 1);
    for (int i = 0; i < count; i++)
        finish_pair(&pairs[i]);
}
