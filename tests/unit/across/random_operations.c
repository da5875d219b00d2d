/*
 * random_operations.c - see random_operations.h.
 *
 * The objects are pairs of streams, pairs of datagram sockets, a file, and a listener. In
 * each round 32 tasks choose an operation and an object, usually with a deadline of at
 * most 3 ms. Often several tasks use the same stream at the same time (-EBUSY). Some
 * tasks are cancelled. In the end all tasks are cancelled, and the remaining bytes in the
 * streams are read.
 *
 * THE MODEL. The value of each byte of a stream is computed from its position. So two
 * numbers describe the state of a direction: the position of the next byte to send, and
 * the position of the next byte to receive. Each call advances a position by the number
 * of bytes that it reports. In the end both positions must be equal. Each datagram has a
 * number, and must be received at most once, and only if it was sent. Between local
 * sockets each datagram must arrive. The file is compared with a copy in memory.
 *
 * coil_blocking() has no deadline, because it waits for a job that has begun
 * (coil/executor.h).
 */
#include "random_operations.h"
#include "deadlines.h"
#include "random_tls.h"
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <arpa/inet.h>
#include <coil/poll.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ROUNDS = 4,
    PAIRS = 6,
    TASKS = 32,
    LARGEST = 40000,
    DATAGRAMS = 2048, /* maximum number for one pair */
    DATAGRAM = 1400,
    FILE_SIZE = 100000,
    PATIENCE_MS = 5000, /* deadline of operations that normally do not wait */
};

struct way {
    struct pair *pair;
    coil_stream *from, *to;
    unsigned char salt;
    size_t sent, received;
    bool ended;  /* the writer has shut down */
    bool ending; /* the writer has begun to shut down */
};

struct pair {
    coil_stream *ends[2];
    struct way ways[2];
    int way_count;
    bool closed; /* one of the ends was reset, so bytes in flight are lost */
};

enum fate { UNUSED, SENDING, SENT, FAILED, RECEIVED, RECEIVED_EARLY };

struct datagrams {
    coil_datagram *ends[2];
    bool may_lose;
    uint32_t next;
    unsigned char fates[DATAGRAMS];
    int sent, received;
};

struct world {
    uint64_t dice;
    int complaints;
    bool has_tls;
    coil_tls *tls[2]; /* the server's and the client's context */
    struct pair pairs[PAIRS];
    struct datagrams datagrams[2];
    coil_file *file;
    bool file_busy;
    unsigned char copy[FILE_SIZE];
    coil_listener *listener;
    char port[8];
};

static struct world *world;

/* ---- random choices, errors -------------------------------------------------------- */

/* splitmix64. */
static size_t below(size_t n)
{
    uint64_t z = world->dice += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((z ^ z >> 31) % n);
}

/*
 * Return a random size, usually a small one. A large size may exceed the capacity of all
 * buffers between two ends.
 */
static size_t some_bytes(void)
{
    static const size_t limits[] = {10, 500, 5000, LARGEST};

    return 1 + below(limits[below(4)]);
}

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
    va_list args;

    world->complaints++;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static void must_be(const char *what, ssize_t rc, bool explained)
{
    if (rc < 0 && rc != -ECANCELED && rc != -EBUSY && !explained)
        complain("%s: %s, for no reason", what, strerror((int)-rc));
}

/* ---- streams: bytes ---------------------------------------------------------------- */

static unsigned char byte_of(const struct way *way, size_t i)
{
    return pattern_byte(i) ^ way->salt;
}

static void fill(const struct way *way, unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = byte_of(way, way->sent + i);
}

static void take(struct way *way, const char *what, const void *data, size_t n)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < n; i++)
        if (bytes[i] != byte_of(way, way->received + i)) {
            complain("%s: byte %zu is wrong", what, way->received + i);
            break;
        }
    way->received += n;
}

static bool read_may_fail(const struct way *way, ssize_t rc)
{
    return way->pair->closed || (rc == -ENODATA && way->ending) || rc == -EMSGSIZE;
}

static bool write_may_fail(const struct way *way, ssize_t rc)
{
    return way->pair->closed || (rc == -EPIPE && way->ending);
}

/*
 * Return true if coil_stream_write_transferred() and similar functions refer to this
 * call. After -EBUSY or -EBADF, they may refer to another call.
 */
static bool has_a_count(ssize_t rc)
{
    return rc != -EBUSY && rc != -EBADF;
}

/* ---- streams: reading -------------------------------------------------------------- */

static ssize_t read_some(struct way *way, unsigned char *buf, size_t n)
{
    ssize_t rc = coil_read(way->to, buf, n);

    if (rc > 0)
        take(way, "read", buf, (size_t)rc);
    if (rc == 0 && !way->ending && !way->pair->closed)
        complain("read: an end that is none");
    return rc;
}

static ssize_t wait_only(struct way *way, unsigned char *buf, size_t n)
{
    (void)buf;
    (void)n;
    return coil_stream_wait_readable(way->to);
}

static ssize_t wait_and_read(struct way *way, unsigned char *buf, size_t n)
{
    int rc = coil_stream_wait_readable(way->to);

    return rc < 0 ? rc : read_some(way, buf, n);
}

static ssize_t read_exact(struct way *way, unsigned char *buf, size_t n)
{
    ssize_t rc = coil_read_exact(way->to, buf, n);

    if (has_a_count(rc))
        take(way, "read_exact", buf, coil_stream_read_transferred(way->to));
    return rc;
}

static ssize_t read_until(struct way *way, unsigned char *buf, size_t n)
{
    ssize_t rc = coil_read_until(way->to, "\1\2", 2, buf, n);

    if (rc > 0 && (rc < 2 || buf[rc - 2] != 1 || buf[rc - 1] != 2))
        complain("read_until: stopped at the wrong place");
    if (rc > 0)
        take(way, "read_until", buf, (size_t)rc);
    else if (rc == -ENODATA)
        take(way, "read_until", buf, coil_stream_read_transferred(way->to));
    return rc;
}

static ssize_t read_line(struct way *way, unsigned char *buf, size_t n)
{
    ssize_t rc = coil_read_line(way->to, (char *)buf, n);

    if (rc == -ENODATA)
        take(way, "read_line", buf, coil_stream_read_transferred(way->to));
    if (rc < 0)
        return rc;
    take(way, "read_line", buf, (size_t)rc);
    take(way, "read_line", "\n", 1);
    return rc;
}

static ssize_t look(struct way *way, unsigned char *buf, size_t n)
{
    const void *bytes;
    ssize_t there = coil_peek(way->to, &bytes, n % 9000);
    size_t some;

    (void)buf;
    if (there <= 0)
        return there;
    some = below((size_t)there + 1);
    take(way, "peek", bytes, some);
    coil_stream_consume(way->to, some);
    return there;
}

static void read_from(struct way *way, struct watched *w, int64_t deadline)
{
    static const struct {
        const char *name;
        ssize_t (*call)(struct way *way, unsigned char *buf, size_t n);
    } kinds[] = {{"coil_read", read_some},
                 {"coil_read", read_some},
                 {"coil_read_exact", read_exact},
                 {"coil_read_until", read_until},
                 {"coil_read_line", read_line},
                 {"coil_peek", look},
                 {"coil_stream_wait_readable", wait_and_read},
                 {"coil_stream_wait_readable", wait_only}};
    size_t kind = below(8), n = some_bytes();
    unsigned char *buf = watched_buffer(n);
    ssize_t rc;

    w->what = kinds[kind].name;
    w->bytes = n;
    watch(w, deadline);
    rc = kinds[kind].call(way, buf, n);
    unwatch(w);
    must_be(w->what, rc, read_may_fail(way, rc));
    return_buffer(buf, n);
}

/* ---- streams: writing -------------------------------------------------------------- */

static ssize_t write_bytes(struct way *way, unsigned char *buf, size_t n)
{
    return coil_write(way->from, buf, n);
}

static ssize_t write_parts(struct way *way, unsigned char *buf, size_t n)
{
    struct iovec parts[4];
    size_t from = 0;

    for (int i = 0; i < 4; i++) {
        size_t part = i < 3 ? below(n - from + 1) : n - from;

        parts[i] = (struct iovec){buf + from, part};
        from += part;
    }
    return coil_writev(way->from, parts, 4);
}

/*
 * Each call uses a new file: sendfile(2) does not copy the file's pages, so the file must
 * not be overwritten afterwards.
 */
static ssize_t send_file(struct way *way, unsigned char *buf, size_t n)
{
    int fd = memfd_create("sent", MFD_CLOEXEC);
    int64_t from = 0;
    ssize_t rc = -EIO;

    if (fd >= 0 && pwrite(fd, buf, n, 0) == (ssize_t)n)
        rc = coil_sendfile(way->from, fd, &from, n);
    /*
     * After -EBUSY or -EBADF, the number of transferred bytes may belong to another call.
     */
    if (rc != -EBUSY && rc != -EBADF &&
        (size_t)from != coil_stream_write_transferred(way->from))
        complain("sendfile: moved %lld, and says %zu", (long long)from,
                 coil_stream_write_transferred(way->from));
    close(fd);
    return rc;
}

static void write_to(struct way *way, struct watched *w, int64_t deadline)
{
    static const struct {
        const char *name;
        ssize_t (*call)(struct way *way, unsigned char *buf, size_t n);
    } kinds[] = {{"coil_write", write_bytes},
                 {"coil_write", write_bytes},
                 {"coil_writev", write_parts},
                 {"coil_sendfile", send_file}};
    size_t kind = below(8) == 0 ? 3 : below(3), n = some_bytes();
    ssize_t rc = 0;

    w->what = kinds[kind].name;
    w->bytes = n;
    for (int times = below(6) == 0 ? 30 : 1; times > 0 && rc >= 0; times--) {
        unsigned char *buf = watched_buffer(n);

        fill(way, buf, n);
        watch(w, deadline);
        rc = kinds[kind].call(way, buf, n);
        unwatch(w);
        if (has_a_count(rc))
            way->sent += coil_stream_write_transferred(way->from);
        if (rc >= 0 && (size_t)rc != n)
            complain("%s of %zu returned %zd", w->what, n, rc);
        must_be(w->what, rc, write_may_fail(way, rc));
        return_buffer(buf, n);
    }
}

static void end_way(struct way *way, struct watched *w, int64_t deadline)
{
    bool before = way->ending;
    int rc;

    w->what = "coil_stream_shutdown_write";
    w->bytes = 0;
    way->ending = true; /* the reader may see the end first */
    watch(w, deadline);
    rc = way->pair->way_count == 2 ? coil_stream_shutdown_write(way->from)
                                   : coil_stream_close(way->from);
    unwatch(w);
    way->ended = way->ended || rc == 0;
    if (rc == -EBUSY)
        way->ending = before;
    must_be(w->what, rc, way->pair->closed || way->ended);
}

static void use_streams(struct watched *w, int64_t deadline)
{
    struct pair *pair = &world->pairs[below(PAIRS)];
    struct way *way = &pair->ways[below((size_t)pair->way_count)];

    switch (below(60)) {
    case 0:
        if (pair->way_count == 2)
            end_way(way, w, deadline);
        break;
    case 1:
        pair->closed = true;
        coil_stream_close(pair->ends[below(2)]);
        break;
    default:
        if (below(5) < 2)
            read_from(way, w, deadline);
        else
            write_to(way, w, deadline);
    }
}

/* ---- datagrams --------------------------------------------------------------------- */

static void fill_datagram(uint32_t number, unsigned char *buf, size_t n)
{
    memset(buf, (int)(number & 0xff), n);
    memcpy(buf, &number, sizeof number);
}

static void take_datagram(struct datagrams *d, const unsigned char *buf, size_t n)
{
    uint32_t number = DATAGRAMS;

    if (n >= sizeof number)
        memcpy(&number, buf, sizeof number);
    for (size_t i = sizeof number; i < n && number < DATAGRAMS; i++)
        if (buf[i] != (unsigned char)number)
            number = DATAGRAMS;
    if (number >= DATAGRAMS)
        complain("a datagram of %zu bytes that nobody sent", n);
    else if (d->fates[number] != SENDING && d->fates[number] != SENT)
        complain("datagram %u came %s", number,
                 d->fates[number] == FAILED ? "although its call failed" : "twice");
    else
        d->fates[number] = d->fates[number] == SENT ? RECEIVED : RECEIVED_EARLY;
    d->received++;
}

static void settle_datagram(struct datagrams *d, uint32_t number, ssize_t rc)
{
    bool early = d->fates[number] == RECEIVED_EARLY;

    if (rc < 0 && early)
        complain("datagram %u came although its call failed", number);
    d->fates[number] = rc < 0 ? FAILED : early ? RECEIVED : SENT;
    d->sent += rc >= 0;
}

static void send_one(struct datagrams *d, struct watched *w, int64_t deadline)
{
    size_t n = sizeof(uint32_t) + below(DATAGRAM - sizeof(uint32_t));
    unsigned char *buf = watched_buffer(n);
    uint32_t number = d->next++;
    ssize_t rc;

    w->what = "coil_send";
    w->bytes = n;
    d->fates[number] = SENDING;
    fill_datagram(number, buf, n);
    watch(w, deadline);
    rc = coil_send(d->ends[0], buf, n);
    unwatch(w);
    settle_datagram(d, number, rc);
    must_be(w->what, rc, false);
    return_buffer(buf, n);
}

enum { BATCH = 8 };

static void send_batch(struct datagrams *d, struct watched *w, int64_t deadline)
{
    coil_message messages[BATCH];
    unsigned char *buf = watched_buffer(BATCH * 100);
    uint32_t from = d->next;
    int rc;

    memset(messages, 0, sizeof messages);
    for (uint32_t i = 0; i < BATCH; i++) {
        messages[i].data = buf + 100 * i;
        messages[i].size = 100;
        d->fates[from + i] = SENDING;
        fill_datagram(from + i, buf + 100 * i, 100);
    }
    d->next += BATCH;
    w->what = "coil_send_batch";
    w->bytes = BATCH * 100;
    watch(w, deadline);
    rc = coil_send_batch(d->ends[0], messages, BATCH);
    unwatch(w);
    for (int i = 0; i < BATCH; i++)
        settle_datagram(d, from + (uint32_t)i, i < rc ? 0 : -ECANCELED);
    must_be(w->what, rc, false);
    return_buffer(buf, BATCH * 100);
}

static ssize_t receive_one(struct datagrams *d, struct watched *w, int64_t deadline)
{
    unsigned char *buf = watched_buffer(DATAGRAM);
    ssize_t rc;

    w->what = "coil_receive";
    w->bytes = DATAGRAM;
    watch(w, deadline);
    rc = coil_receive(d->ends[1], buf, DATAGRAM);
    unwatch(w);
    if (rc >= 0)
        take_datagram(d, buf, (size_t)rc);
    must_be(w->what, rc, false);
    return_buffer(buf, DATAGRAM);
    return rc;
}

static void receive_batch(struct datagrams *d, struct watched *w, int64_t deadline)
{
    coil_message messages[BATCH];
    unsigned char *buf = watched_buffer(BATCH * DATAGRAM);
    int rc;

    memset(messages, 0, sizeof messages);
    for (int i = 0; i < BATCH; i++) {
        messages[i].data = buf + DATAGRAM * i;
        messages[i].size = DATAGRAM;
    }
    w->what = "coil_receive_batch";
    w->bytes = BATCH * DATAGRAM;
    watch(w, deadline);
    rc = coil_receive_batch(d->ends[1], messages, BATCH);
    unwatch(w);
    for (int i = 0; i < rc; i++)
        take_datagram(d, messages[i].data, messages[i].received);
    must_be(w->what, rc, false);
    return_buffer(buf, BATCH * DATAGRAM);
}

static void use_datagrams(struct watched *w, int64_t deadline)
{
    struct datagrams *d = &world->datagrams[below(2)];

    if (d->next + BATCH >= DATAGRAMS)
        return;
    switch (below(6)) {
    case 0:
        receive_batch(d, w, deadline);
        break;
    case 1:
        receive_one(d, w, deadline);
        break;
    case 2:
        send_batch(d, w, deadline);
        break;
    default:
        for (int times = below(4) == 0 ? 20 : 1; times > 0; times--)
            if (d->next + BATCH < DATAGRAMS)
                send_one(d, w, deadline);
    }
}

/* ---- files ------------------------------------------------------------------------- */

static void write_file(size_t at, size_t n, struct watched *w, int64_t deadline)
{
    unsigned char *buf = watched_buffer(n);
    size_t done;
    ssize_t rc;

    memset(buf, (int)below(256), n);
    w->what = "coil_file_pwrite";
    w->bytes = n;
    watch(w, deadline);
    rc = coil_file_pwrite(world->file, buf, n, (int64_t)at);
    unwatch(w);
    done = coil_file_transferred(world->file);
    if (rc >= 0 && ((size_t)rc != n || done != n))
        complain("pwrite of %zu returned %zd", n, rc);
    memcpy(world->copy + at, buf, done);
    must_be(w->what, rc, false);
    return_buffer(buf, n);
}

static void read_file(size_t at, size_t n, struct watched *w, int64_t deadline)
{
    unsigned char *buf = watched_buffer(n);
    ssize_t rc;

    w->what = "coil_file_pread_exact";
    w->bytes = n;
    watch(w, deadline);
    rc = coil_file_pread_exact(world->file, buf, n, (int64_t)at);
    unwatch(w);
    if (memcmp(buf, world->copy + at, coil_file_transferred(world->file)) != 0)
        complain("the file has other bytes from %zu on", at);
    must_be(w->what, rc, false);
    return_buffer(buf, n);
}

/*
 * Write or read a part of the file. Only one task at a time uses the file, so that the
 * copy in memory matches the file.
 */
static void use_file(struct watched *w, int64_t deadline)
{
    size_t n = some_bytes(), at = below(FILE_SIZE - n);

    if (world->file_busy)
        return;
    world->file_busy = true;
    if (below(3) > 0)
        write_file(at, n, w, deadline);
    else
        read_file(at, n, w, deadline);
    world->file_busy = false;
}

/* ---- processes --------------------------------------------------------------------- */

/*
 * Write bytes to cat(1), and read them back, with repeated calls that each have a
 * deadline.
 */
static void talk_to_cat(struct watched *w)
{
    const char *const argv[] = {"cat", NULL};
    coil_process_opts opts = {.argv = argv, .in = COIL_PIPE, .out = COIL_PIPE};
    size_t n = 50000 + below(100000), given = 0;
    unsigned char *input = watched_buffer(n);
    coil_process *process;
    coil_output out = {.data = NULL};
    int rc = coil_process_spawn(&opts, &process);

    memset(input, 'x', n);
    w->what = "coil_process_communicate";
    w->bytes = n;
    for (bool again = rc == 0; again;) {
        coil_scope scope;

        rc = coil_scope_enter(&scope, coil_in(COIL_USEC(below(3000))));
        watch(w, coil_scope_deadline(&scope));
        if (rc == 0)
            rc = coil_process_communicate(process, input + given, n - given, &out, NULL,
                                          0);
        unwatch(w);
        rc = coil_scope_exit(&scope, rc);
        given += coil_stream_write_transferred(coil_process_stdin(process));
        again = rc == -ETIMEDOUT;
    }
    must_be(w->what, rc, false);
    if (rc == 0 && (out.size != n || memcmp(out.data, input, n) != 0))
        complain("cat was given %zu bytes and returned %zu", n, out.size);
    coil_output_finish(&out);
    coil_process_destroy(process);
    return_buffer(input, n);
}

static void wait_for_a_long_one(struct watched *w, int64_t deadline)
{
    const char *const argv[] = {"sleep", "1000", NULL};
    coil_process_opts opts = {.argv = argv, .in = COIL_NULL};
    coil_process *process;
    int rc = coil_process_spawn(&opts, &process);

    must_be("coil_process_spawn", rc, false);
    if (rc < 0)
        return;
    w->what = "coil_process_wait";
    watch(w, deadline);
    rc = coil_process_wait(process);
    unwatch(w);
    must_be(w->what, rc, false);
    coil_process_destroy(process);
}

/* ---- the rest ---------------------------------------------------------------------- */

static void accept_one(struct watched *w, int64_t deadline)
{
    coil_stream *stream;
    int rc;

    w->what = "coil_accept";
    watch(w, deadline);
    rc = coil_accept(world->listener, &stream);
    unwatch(w);
    must_be(w->what, rc, rc == -ECONNABORTED);
    if (rc == 0)
        coil_stream_destroy(stream);
}

static void connect_one(struct watched *w, int64_t deadline)
{
    coil_stream *stream;
    int rc;

    w->what = "coil_connect";
    watch(w, deadline);
    rc = coil_connect("127.0.0.1", world->port, &stream);
    unwatch(w);
    must_be(w->what, rc, false);
    if (rc == 0)
        coil_stream_destroy(stream);
}

/* Wait for an event that never occurs. */
static void wait_for_nothing(struct watched *w, int64_t deadline)
{
    int fds[2] = {-1, -1}, rc;
    struct pollfd p;

    if (pipe(fds) < 0)
        return;
    p = (struct pollfd){.fd = fds[0], .events = POLLIN};
    w->what = below(2) ? "coil_wait_fd" : "coil_poll";
    watch(w, deadline);
    rc = strcmp(w->what, "coil_poll") == 0 ? coil_poll(&p, 1, COIL_NEVER)
                                           : coil_wait_fd(fds[0], COIL_READABLE);
    unwatch(w);
    must_be(w->what, rc, false);
    coil_poll_end(fds[0]);
    close(fds[0]);
    close(fds[1]);
}

static int nap(void *arg)
{
    usleep((useconds_t)(intptr_t)arg);
    return 0;
}

static void blocking(struct watched *w, int64_t deadline)
{
    void *long_one = (void *)(intptr_t)below(6000);
    int rc;

    if (below(2)) {
        rc = coil_blocking(COIL_LANE_CPU, nap, long_one);
        must_be("coil_blocking", rc, false);
        return;
    }
    w->what = "coil_blocking_abandonable";
    watch(w, deadline);
    rc = coil_blocking_abandonable(COIL_LANE_CPU, nap, long_one, NULL);
    unwatch(w);
    must_be(w->what, rc, false);
}

/* Start a handshake with a peer that never answers. */
static void shake_hands_alone(struct watched *w, int64_t deadline)
{
    coil_stream *ends[2];
    int rc;

    if (!world->has_tls || coil_stream_pair(ends) < 0)
        return;
    w->what = "coil_start_tls";
    watch(w, deadline);
    rc = below(2) ? coil_start_tls(ends[0], world->tls[1], "localhost")
                  : coil_accept_tls(ends[0], world->tls[0]);
    unwatch(w);
    must_be(w->what, rc, false);
    destroy_streams(ends);
}

/* ---- a task ------------------------------------------------------------------------ */

static void use_something(struct watched *w, int64_t deadline)
{
    static void (*const rare[])(struct watched *, int64_t) = {
        accept_one, connect_one, wait_for_nothing, blocking, shake_hands_alone, use_file};
    size_t which = below(20);

    w->bytes = 0;
    if (which < 13)
        use_streams(w, deadline);
    else if (which < 16)
        use_datagrams(w, deadline);
    else if (which < 19)
        rare[below(6)](w, deadline);
    else if (below(16) == 0)
        wait_for_a_long_one(w, deadline);
}

static int some_operations(void *arg)
{
    struct watched *w = arg;
    int rc = 0;

    if (below(100) == 0)
        talk_to_cat(w);
    for (size_t n = 1 + below(3); n > 0 && rc == 0; n--) {
        int64_t deadline = below(8) == 0 ? COIL_NEVER : coil_in(COIL_USEC(below(3000)));
        coil_scope scope;

        rc = coil_scope_enter(&scope, deadline);
        if (rc == 0)
            use_something(w, deadline);
        rc = coil_scope_exit(&scope, rc);
        if (rc == -ETIMEDOUT)
            rc = 0;
    }
    return rc;
}

/* ---- a round ----------------------------------------------------------------------- */

static void cancel_some(coil_task *const tasks[], struct watched watched[])
{
    for (size_t i = below(6); i > 0; i--) {
        size_t which = below(TASKS);

        if (tasks[which] != NULL && coil_task_cancel(tasks[which], "chance"))
            watch_cancelled(&watched[which]);
        if (below(2))
            coil_sleep(COIL_USEC(below(500)));
    }
}

static void one_round(void)
{
    static struct watched watched[TASKS];
    struct watched round = {.what = "a round"};
    coil_task *tasks[TASKS] = {NULL};
    coil_group group;

    watch(&round, coil_in(COIL_MSEC(PATIENCE_MS)));
    coil_group_enter(&group);
    for (int i = 0; i < TASKS; i++) {
        coil_group_spawn(&group, some_operations, &watched[i], NULL, &tasks[i]);
        if (below(4) == 0)
            coil_yield();
    }
    cancel_some(tasks, watched);
    coil_sleep(COIL_USEC(below(5000)));
    coil_group_cancel(&group, "the round is over");
    watch_all_cancelled();
    coil_group_exit(&group, 0);
    unwatch(&round);
}

/* ---- the end of a world ------------------------------------------------------------ */

static int say_the_end(void *arg)
{
    struct watched w;

    end_way(arg, &w, coil_in(COIL_MSEC(PATIENCE_MS)));
    return 0;
}

static int read_the_rest(void *arg)
{
    struct way *way = arg;
    struct watched w = {.what = "the last coil_read", .bytes = LARGEST};
    ssize_t rc;

    do {
        unsigned char *buf = watched_buffer(LARGEST);

        watch(&w, coil_in(COIL_MSEC(PATIENCE_MS)));
        rc = coil_read(way->to, buf, LARGEST);
        unwatch(&w);
        if (rc > 0)
            take(way, w.what, buf, (size_t)rc);
        return_buffer(buf, LARGEST);
    } while (rc > 0);
    must_be(w.what, rc, false);
    if (rc == 0 && way->received != way->sent)
        complain("%zu bytes were sent, %zu received", way->sent, way->received);
    return 0;
}

static void finish_pair(struct pair *pair)
{
    coil_group group;

    coil_group_enter(&group);
    for (int i = 0; i < pair->way_count && !pair->closed; i++) {
        struct way *way = &pair->ways[i];

        if (!way->ended)
            coil_group_spawn(&group, say_the_end, way, NULL, NULL);
        coil_group_spawn(&group, read_the_rest, way, NULL, NULL);
    }
    CHECK_INT(coil_group_exit(&group, 0), 0);
    coil_stream_destroy(pair->ends[0]);
    coil_stream_destroy(pair->ends[1]);
}

static void finish_datagrams(struct datagrams *d)
{
    struct watched w;
    ssize_t rc = 0;

    while (!d->may_lose && d->received < d->sent && rc >= 0)
        rc = receive_one(d, &w, coil_in(COIL_MSEC(PATIENCE_MS)));
    if (d->received > d->sent)
        complain("%d datagrams were sent, %d received", d->sent, d->received);
    coil_datagram_destroy(d->ends[0]);
    coil_datagram_destroy(d->ends[1]);
}

static void finish_file(void)
{
    struct watched w;

    read_file(0, FILE_SIZE, &w, coil_in(COIL_MSEC(PATIENCE_MS)));
    coil_file_destroy(world->file);
}

/* ---- its beginning ----------------------------------------------------------------- */

static int serve_handshake(void *arg)
{
    return coil_accept_tls(arg, world->tls[0]);
}

static void start_tls(struct pair *pair)
{
    struct watched w = {.what = "a handshake"};
    coil_group group;

    watch(&w, coil_in(COIL_MSEC(PATIENCE_MS)));
    coil_group_enter(&group);
    coil_group_spawn(&group, serve_handshake, pair->ends[1], NULL, NULL);
    CHECK_INT(coil_start_tls(pair->ends[0], world->tls[1], "localhost"), 0);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    unwatch(&w);
}

/* Give the pair small buffers, so that writes soon have to wait. */
static void narrow(struct pair *pair)
{
    int bytes = (int)(2000 + below(20000));

    for (int i = 0; i < 2; i++)
        setsockopt(coil_stream_fd(pair->ends[i]), SOL_SOCKET, SO_SNDBUF, &bytes,
                   sizeof bytes);
}

static void open_pair(struct pair *pair)
{
    size_t kind = below(6);

    pair->way_count = kind == 0 ? 1 : 2;
    if (kind == 0)
        CHECK_INT(coil_pipe(pair->ends), 0);
    else if (kind == 1)
        make_stream_pair(pair->ends);
    else
        CHECK_INT(coil_stream_pair(pair->ends), 0);
    if (kind > 0 && below(2))
        narrow(pair);
    if (kind == 2 && world->has_tls)
        start_tls(pair);
    /* a pipe has one direction, from ends[1] to ends[0] */
    for (int i = 0; i < pair->way_count; i++)
        pair->ways[i] = (struct way){.pair = pair,
                                     .from = pair->ends[!i],
                                     .to = pair->ends[i],
                                     .salt = (unsigned char)below(256)};
}

static void open_datagrams(struct datagrams *d, bool local)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t size = sizeof name;
    int fds[2];

    d->may_lose = !local;
    if (local) {
        CHECK_INT(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
    } else {
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        for (int i = 0; i < 2; i++) {
            fds[i] = socket(AF_INET, SOCK_DGRAM, 0);
            CHECK_INT(bind(fds[i], (struct sockaddr *)&name, sizeof name), 0);
        }
        getsockname(fds[1], (struct sockaddr *)&name, &size);
        CHECK_INT(connect(fds[0], (struct sockaddr *)&name, size), 0);
    }
    for (int i = 0; i < 2; i++)
        CHECK_INT(coil_datagram_adopt(fds[i], &d->ends[i]), 0);
}

static void open_file(void)
{
    int fd = memfd_create("oracle", MFD_CLOEXEC);

    CHECK_INT(ftruncate(fd, FILE_SIZE), 0);
    CHECK_INT(coil_file_adopt(fd, &world->file), 0);
}

static void begin_world(uint64_t seed)
{
    world = calloc(1, sizeof *world);
    world->dice = seed;
    world->has_tls =
        seed % 4 == 0 && random_tls_open(seed, &world->tls[0], &world->tls[1]);
    for (int i = 0; i < PAIRS; i++)
        open_pair(&world->pairs[i]);
    open_datagrams(&world->datagrams[0], true);
    open_datagrams(&world->datagrams[1], false);
    open_file();
    CHECK_INT(coil_listen("127.0.0.1", "0", 64, &world->listener), 0);
    snprintf(world->port, sizeof world->port, "%u", coil_listener_port(world->listener));
}

static int end_world(void)
{
    int complaints;

    for (int i = 0; i < PAIRS; i++)
        finish_pair(&world->pairs[i]);
    finish_datagrams(&world->datagrams[0]);
    finish_datagrams(&world->datagrams[1]);
    finish_file();
    coil_listener_destroy(world->listener);
    if (world->has_tls)
        random_tls_close(world->tls[0], world->tls[1]);
    check_buffers();
    complaints = world->complaints;
    free(world);
    return complaints;
}

int run_random_operations(uint64_t seed)
{
    /* only for some seeds, because posts wake the loop and can hide a missed event */
    bool with_posts = seed % 4 == 1;

    begin_world(seed);
    if (with_posts)
        posts_begin();
    for (int i = 0; i < ROUNDS; i++)
        one_round();
    if (with_posts)
        posts_end();
    return end_world();
}
