/*
 * test_deadline.c - an operation ends by its deadline, whatever its peer does, and
 * neither coil nor the kernel accesses its buffer afterwards.
 */
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LARGEST = 40000, WRITES = 150, SEEDS = 6 };

/*
 * One direction of a connection or pipe with small buffers, and the numbers of bytes
 * written and received.
 */
struct way {
    coil_stream *in;
    int out; /* a non-blocking descriptor */
    unsigned dice;
    size_t written, got;
    bool ended;
};

static unsigned throw(struct way * w, unsigned faces)
{
    w->dice = w->dice * 1103515245u + 12345u;
    return (w->dice >> 8) % faces;
}

/*
 * Read some bytes, and check that each arrives unchanged and exactly once. Returns false
 * at the end.
 */
static bool drain(struct way *w, size_t most)
{
    unsigned char bytes[4096];
    ssize_t n = read(w->out, bytes, most < sizeof bytes ? most : sizeof bytes);

    for (ssize_t i = 0; i < n; i++)
        if (bytes[i] != pattern_byte(w->got++)) {
            CHECK_INT(w->got, 0);
            return false;
        }
    return n != 0;
}

static int read_now_and_then(void *arg)
{
    struct way *w = arg;

    while (!w->ended) {
        for (unsigned n = throw(w, 6); n > 0; n--)
            drain(w, 1 + throw(w, 4096));
        coil_sleep(COIL_USEC(throw(w, 400)));
    }
    return 0;
}

/*
 * Write a random number of bytes with a deadline, and overwrite the buffer as soon as the
 * write has returned.
 */
static void write_in_time(struct way *w)
{
    static unsigned char page[LARGEST];
    size_t n = 1 + throw(w, LARGEST), done;
    coil_scope scope;
    ssize_t rc;

    for (size_t i = 0; i < n; i++)
        page[i] = pattern_byte(w->written + i);
    coil_scope_enter(&scope, coil_in(COIL_USEC(throw(w, 1500))));
    rc = coil_write(w->in, page, n);
    done = coil_stream_write_transferred(w->in);
    memset(page, 0xee, sizeof page);
    rc = coil_scope_exit(&scope, rc < 0 ? (int)rc : 0);
    CHECK(rc == 0 || rc == -ETIMEDOUT);
    CHECK(rc < 0 || done == n);
    w->written += done;
}

static void write_through(struct way *w, unsigned seed)
{
    coil_task *reader;

    w->dice = seed;
    fcntl(w->out, F_SETFL, O_NONBLOCK);
    CHECK_INT(coil_spawn(read_now_and_then, w, NULL, &reader), 0);
    for (int i = 0; i < WRITES; i++)
        write_in_time(w);
    w->ended = true;
    finish(reader);
    coil_stream_destroy(w->in);
    while (drain(w, LARGEST))
        ;
    CHECK_INT(w->got, w->written);
    close(w->out);
}

IO_TEST(deadline_ends_a_write_to_a_local_socket)
{
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct way w = {0};
        int fds[2];

        CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        CHECK_INT(coil_stream_adopt(fds[0], &w.in), 0);
        w.out = fds[1];
        write_through(&w, seed);
    }
}

IO_TEST(deadline_ends_a_write_to_a_connection)
{
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct way w = {0};

        w.in = make_stream_and_peer(&w.out);
        write_through(&w, seed);
    }
}

IO_TEST(deadline_ends_a_write_to_a_pipe)
{
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct way w = {0};
        int fds[2];

        CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
        CHECK_INT(coil_stream_adopt(fds[1], &w.in), 0);
        w.out = fds[0];
        write_through(&w, seed);
    }
}

/* ---- a crowd: all operations of streams, in any order, none past its deadline ------ */

enum { STREAMS = 12, CALLS = 9, TASKS = 40, ROUNDS = 60 };

struct crowd {
    coil_stream *streams[STREAMS];
    unsigned seed;
};

struct call {
    struct crowd *crowd;
    unsigned stream, what;
    uint32_t length, deadline;
};

static ssize_t make_call(const struct call *c)
{
    coil_stream *stream = c->crowd->streams[c->stream];
    static const char page[5000] = {1};
    char bytes[5000];
    const void *found;
    ssize_t rc = 0;

    switch (c->what) {
    case 0:
        return coil_read(stream, bytes, sizeof bytes);
    case 1:
        return coil_write(stream, page, c->length);
    case 2:
        return coil_read_line(stream, bytes, 100);
    case 3:
        return coil_read_until(stream, "\1\1", 2, bytes, sizeof bytes);
    case 4:
        return coil_peek(stream, &found, c->length);
    case 5:
        return coil_read_exact(stream, bytes, c->length);
    case 6:
        return coil_stream_shutdown_write(stream);
    case 7:
        return coil_stream_close(stream);
    default:
        for (int i = 0; i < 30 && rc >= 0; i++)
            rc = coil_write(stream, page, sizeof page);
        return rc;
    }
}

static int call_in_time(void *arg)
{
    const struct call *c = arg;
    coil_scope scope;
    ssize_t rc;

    coil_scope_enter(&scope, coil_in(COIL_USEC(c->deadline)));
    rc = make_call(c);
    coil_scope_exit(&scope, rc < 0 ? (int)rc : 0);
    return 0;
}

static void one_round(struct crowd *crowd)
{
    static struct call calls[TASKS];
    coil_group group;

    for (int i = 0; i < STREAMS; i += 2)
        CHECK_INT(rand_r(&crowd->seed) % 2 ? coil_stream_pair(crowd->streams + i)
                                           : coil_pipe(crowd->streams + i),
                  0);
    coil_group_enter(&group);
    for (int i = 0; i < TASKS; i++) {
        calls[i] = (struct call){.crowd = crowd,
                                 .stream = (unsigned)rand_r(&crowd->seed) % STREAMS,
                                 .what = (unsigned)rand_r(&crowd->seed) % CALLS,
                                 .length = 1 + (unsigned)rand_r(&crowd->seed) % 4999,
                                 .deadline = (unsigned)rand_r(&crowd->seed) % 3000};
        CHECK_INT(coil_group_spawn(&group, call_in_time, &calls[i], NULL, NULL), 0);
        if (rand_r(&crowd->seed) % 4 == 0)
            coil_yield();
    }
    if (rand_r(&crowd->seed) % 3 == 0)
        coil_group_cancel(&group, NULL);
    coil_sleep(COIL_USEC(rand_r(&crowd->seed) % 2000));
    coil_group_exit(&group, 0);
    for (int i = 0; i < STREAMS; i++)
        coil_stream_destroy(crowd->streams[i]);
}

/* If an operation did not end, the test would exceed its time limit. */
IO_TEST(deadline_ends_whatever_a_stream_does)
{
    static const unsigned seeds[] = {9, 15, 21, 33, 1, 2, 3, 4};

    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        struct crowd crowd = {.seed = seeds[i]};

        for (int round = 0; round < ROUNDS; round++)
            one_round(&crowd);
    }
}
