/*
 * test_look_ahead.c - reading lines, reading up to a separator, peeking, limits, and ends
 * of streams.
 */
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <string.h>
#include <unistd.h>

static void put(int peer, const char *text)
{
    CHECK_INT(write(peer, text, strlen(text)), (long long)strlen(text));
}

/* ---- lines ------------------------------------------------------------------------- */

IO_TEST(read_line_by_line)
{
    int peer;
    coil_stream *s = make_stream_and_peer(&peer);
    char line[64];

    put(peer, "one\r\n\ntwo words\nrest");
    CHECK_INT(coil_read_line(s, line, sizeof line), 4);
    CHECK_STR(line, "one\r");
    CHECK_INT(coil_read_line(s, line, sizeof line), 0);
    CHECK_STR(line, "");
    CHECK_INT(coil_read_line(s, line, sizeof line), 9);
    CHECK_STR(line, "two words");
    CHECK_INT(coil_stream_read_transferred(s), 10);
    CHECK(!coil_stream_at_end(s));
    close(peer);
    CHECK_INT(coil_read_line(s, line, sizeof line), -ENODATA);
    CHECK_STR(line, "rest");
    CHECK_INT(coil_stream_read_transferred(s), 4);
    CHECK(coil_stream_at_end(s));
    CHECK_INT(coil_read_line(s, line, sizeof line), -ENODATA);
    CHECK_STR(line, "");
    CHECK_INT(coil_stream_read_transferred(s), 0);
    coil_stream_destroy(s);
}

struct line {
    coil_stream *stream;
    char text[64];
    size_t size;
    ssize_t result;
    bool ended;
};

static int do_read_line(void *arg)
{
    struct line *l = arg;

    l->result = coil_read_line(l->stream, l->text, l->size);
    l->ended = true;
    return 0;
}

static coil_task *start_line(struct line *l)
{
    coil_task *task;

    CHECK_INT(coil_spawn(do_read_line, l, NULL, &task), 0);
    settle();
    return task;
}

IO_TEST(read_line_waits_until_it_is_whole)
{
    int peer;
    struct line l = {.stream = make_stream_and_peer(&peer), .size = sizeof l.text};
    coil_task *task = start_line(&l);

    for (const char *c = "piecemeal"; *c != '\0'; c++) {
        CHECK_INT(write(peer, c, 1), 1);
        coil_sleep(COIL_USEC(100));
        CHECK(!l.ended);
    }
    put(peer, "\nand more");
    finish(task);
    CHECK_STR(l.text, "piecemeal");
    coil_stream_destroy(l.stream);
    close(peer);
}

IO_TEST(read_line_cancelled_has_taken_nothing)
{
    int peer;
    struct line l = {.stream = make_stream_and_peer(&peer), .size = sizeof l.text};
    coil_task *task;

    put(peer, "half a ");
    task = start_line(&l);
    coil_task_cancel(task, NULL);
    finish(task);
    CHECK_INT(l.result, -ECANCELED);
    put(peer, "line\n");
    CHECK_INT(coil_read_line(l.stream, l.text, sizeof l.text), 11);
    CHECK_STR(l.text, "half a line");
    coil_stream_destroy(l.stream);
    close(peer);
}

IO_TEST(read_line_is_woken_by_close_and_destroy)
{
    int peer;
    struct line l = {.stream = make_stream_and_peer(&peer), .size = sizeof l.text};
    coil_task *task = start_line(&l);
    char byte;

    put(peer, "begun");
    CHECK_INT(coil_read(l.stream, &byte, 1), -EBUSY);
    CHECK_INT(coil_stream_close(l.stream), 0);
    finish(task);
    CHECK_INT(l.result, -EBADF);
    CHECK_INT(coil_read_line(l.stream, l.text, sizeof l.text), -EBADF);
    coil_stream_destroy(l.stream);
    close(peer);

    l.stream = make_stream_and_peer(&peer);
    task = start_line(&l);
    coil_stream_destroy(l.stream);
    finish(task);
    CHECK_INT(l.result, -EBADF);
    close(peer);
}

IO_TEST(read_line_longer_than_its_memory)
{
    int peer;
    coil_stream *s = make_stream_and_peer(&peer);
    char line[8];

    put(peer, "seven77\neight888\nend\n");
    CHECK_INT(coil_read_line(s, line, 8), 7);
    CHECK_STR(line, "seven77");
    CHECK_INT(coil_read_line(s, line, 8), -EMSGSIZE);
    CHECK_INT(coil_stream_read_transferred(s), 0);
    CHECK_INT(coil_read_line(s, line, 8), -EMSGSIZE);
    CHECK_INT(coil_read(s, line, 8), 8);
    CHECK(memcmp(line, "eight888", 8) == 0);
    CHECK_INT(coil_read_line(s, line, 1), 0);
    CHECK_STR(line, "");
    CHECK_INT(coil_read_line(s, line, 8), 3);
    CHECK_INT(coil_read_line(s, line, 0), -EINVAL);
    coil_stream_destroy(s);
    close(peer);
}

/* ---- separators -------------------------------------------------------------------- */

IO_TEST(read_until_a_separator_of_several_bytes)
{
    int peer;
    coil_stream *s = make_stream_and_peer(&peer);
    char buf[64];

    put(peer, "head\r\n\r\nbody");
    CHECK_INT(coil_read_until(s, "\r\n\r\n", 4, buf, sizeof buf), 8);
    CHECK(memcmp(buf, "head\r\n\r\n", 8) == 0);
    CHECK_INT(coil_stream_read_transferred(s), 8);
    CHECK_INT(coil_read_until(s, "dy", 2, buf, 3), -EMSGSIZE);
    CHECK_INT(coil_read_until(s, "dy", 2, buf, 4), 4);
    CHECK_INT(coil_read_until(s, "", 0, buf, sizeof buf), -EINVAL);
    CHECK_INT(coil_read_until(s, "long", 4, buf, 0), -EMSGSIZE);
    put(peer, "left");
    close(peer);
    CHECK_INT(coil_read_until(s, "\r\n", 2, buf, sizeof buf), -ENODATA);
    CHECK_INT(coil_stream_read_transferred(s), 4);
    CHECK(memcmp(buf, "left", 4) == 0);
    coil_stream_destroy(s);
}

/* The separator arrives in several packets, after text that looks like its beginning. */
IO_TEST(read_until_a_separator_in_pieces)
{
    static const char *const pieces[] = {"xxxabababab", "ab", "x", "ababac", NULL};

    for (int gap = 0; gap < 2; gap++) {
        int peer;
        struct line l = {.stream = make_stream_and_peer(&peer), .size = sizeof l.text};
        char buf[64];

        for (const char *const *piece = pieces; *piece != NULL; piece++) {
            put(peer, *piece);
            if (gap) { /* receive each piece separately */
                const void *data;

                CHECK(coil_peek(l.stream, &data, 1) > 0);
            }
        }
        CHECK_INT(coil_read_until(l.stream, "ababac", 6, buf, sizeof buf), 20);
        CHECK(memcmp(buf,
                     "xxxababababab"
                     "xababac",
                     20) == 0);
        coil_stream_destroy(l.stream);
        close(peer);
    }
}

/* ---- the limit --------------------------------------------------------------------- */

IO_TEST(read_until_within_the_limit)
{
    int peer;
    coil_stream *s = make_stream_and_peer(&peer);
    const void *data;
    char buf[64];

    CHECK_INT(coil_stream_set_limit(s, 0), -EINVAL);
    CHECK_INT(coil_stream_set_limit(s, 5), 0);
    put(peer, "12345\n123456\nabc");
    CHECK_INT(coil_read_until(s, "\n", 1, buf, sizeof buf), 6);
    CHECK_INT(coil_read_until(s, "\n", 1, buf, sizeof buf), -EMSGSIZE);
    CHECK_INT(coil_read_until(s, "\n", 1, buf, sizeof buf), -EMSGSIZE);
    CHECK_INT(coil_stream_set_limit(s, 6), 0);
    CHECK_INT(coil_read_until(s, "\n", 1, buf, sizeof buf), 7);
    CHECK_INT(coil_peek(s, &data, 7), -EMSGSIZE);
    CHECK_INT(coil_peek(s, &data, 3), 3);
    CHECK(memcmp(data, "abc", 3) == 0);
    coil_stream_destroy(s);
    close(peer);
}

/*
 * The stream's buffer never exceeds the limit: further bytes stay in the kernel until the
 * reader has consumed some.
 */
IO_TEST(read_until_holds_no_more_than_the_limit)
{
    static char bytes[300000];
    coil_stream *ends[2];
    size_t before;
    char buf[16];

    memset(bytes, 'x', sizeof bytes);
    make_stream_pair(ends);
    CHECK_INT(coil_write(ends[0], bytes, sizeof bytes), sizeof bytes);
    before = test_bytes_held();
    CHECK_INT(coil_read_until(ends[1], "\n", 1, bytes, sizeof bytes), -EMSGSIZE);
    CHECK(test_bytes_held() - before >= 65536);
    CHECK(test_bytes_held() - before < 65536 + 4096);
    for (size_t left = sizeof bytes; left > 0;) {
        ssize_t n = coil_read(ends[1], bytes, left);

        CHECK(n > 0);
        left -= (size_t)n;
    }
    CHECK_INT(coil_write(ends[0], "short\n", 6), 6);
    CHECK_INT(coil_read_line(ends[1], buf, sizeof buf), 5);
    CHECK_INT(coil_write(ends[0], "short\n", 6), 6);
    CHECK_INT(coil_read_line(ends[1], buf, sizeof buf), 5);
    CHECK(test_bytes_held() - before <= 8192); /* and shrinks again */
    destroy_streams(ends);
}

static int write_lines(void *arg)
{
    char line[256];

    for (int i = 0; i < 20000; i++) {
        int n = snprintf(line, sizeof line, "%d %.*s\n", i, i % 200,
                         "........................................................"
                         "........................................................"
                         "........................................................"
                         "........................................");
        ssize_t rc = coil_write(arg, line, (size_t)n);
        if (rc < 0)
            return (int)rc;
    }
    return coil_stream_shutdown_write(arg);
}

NET_TEST(read_line_of_very_many)
{
    coil_stream *ends[2];
    coil_task *task;
    char line[256];
    ssize_t n;
    int count = 0;

    connect_streams(ends);
    CHECK_INT(coil_spawn(write_lines, ends[0], NULL, &task), 0);
    while ((n = coil_read_line(ends[1], line, sizeof line)) >= 0) {
        if (atoi(line) != count || n != snprintf(NULL, 0, "%d ", count) + count % 200)
            break;
        count++;
    }
    CHECK_INT(n, -ENODATA);
    CHECK_INT(count, 20000);
    finish(task);
    destroy_streams(ends);
}

/* ---- peeking ----------------------------------------------------------------------- */

IO_TEST(peek_and_consume)
{
    int peer;
    coil_stream *s = make_stream_and_peer(&peer);
    const void *data;
    char buf[16];

    CHECK_INT(coil_peek(s, &data, 0), 0);
    put(peer, "abcdef");
    CHECK_INT(coil_peek(s, &data, 2), 6);
    CHECK(memcmp(data, "abcdef", 6) == 0);
    CHECK_INT(coil_peek(s, &data, 6), 6);
    coil_stream_consume(s, 2);
    CHECK_INT(coil_peek(s, &data, 0), 4);
    CHECK(memcmp(data, "cdef", 4) == 0);
    coil_stream_consume(s, 0);
    CHECK_INT(coil_read(s, buf, 3), 3);
    CHECK(memcmp(buf, "cde", 3) == 0);
    put(peer, "gh");
    CHECK_INT(coil_read_exact(s, buf, 3), 3);
    CHECK(memcmp(buf, "fgh", 3) == 0);
    put(peer, "end");
    close(peer);
    CHECK_INT(coil_peek(s, &data, 10), 3);
    CHECK(!coil_stream_at_end(s));
    coil_stream_consume(s, 3);
    CHECK(coil_stream_at_end(s));
    CHECK_INT(coil_peek(s, &data, 10), 0);
    CHECK_INT(coil_read(s, buf, 3), 0);
    coil_stream_destroy(s);
}

static void consume_too_much(void *arg)
{
    coil_stream_consume(arg, 4);
}

IO_TEST(consume_more_than_there_is)
{
    int peer;
    coil_stream *s = make_stream_and_peer(&peer);
    const void *data;

    put(peer, "abc");
    CHECK_INT(coil_peek(s, &data, 3), 3);
    test_dies(consume_too_much, s, "4 bytes, of 3");
    coil_stream_destroy(s);
    close(peer);
}

IO_TEST(stream_at_end_only_when_it_is_known)
{
    int peer;
    coil_stream *s = make_stream_and_peer(&peer);
    char buf[16];

    CHECK(!coil_stream_at_end(s));
    close(peer);
    CHECK(!coil_stream_at_end(s));
    CHECK_INT(coil_read_exact(s, buf, 1), -ENODATA);
    CHECK(coil_stream_at_end(s));
    coil_stream_destroy(s);
}

/* ---- failures ---------------------------------------------------------------------- */

IO_TEST(read_line_without_memory)
{
    int peer;
    coil_stream *s = make_stream_and_peer(&peer);
    char line[64];

    put(peer, "kept\n");
    test_fail_allocation(1);
    CHECK_INT(coil_read_line(s, line, sizeof line), -ENOMEM);
    test_fail_allocation(0);
    CHECK_INT(coil_read_line(s, line, sizeof line), 4);
    coil_stream_destroy(s);
    close(peer);
}

/* If a buffer of the preferred size cannot be allocated, coil uses a smaller one. */
IO_TEST(read_line_with_little_memory)
{
    static char bytes[9000];
    int peer;
    coil_stream *s = make_stream_and_peer(&peer);

    memset(bytes, 'x', sizeof bytes);
    bytes[5000] = bytes[8999] = '\n';
    CHECK_INT(write(peer, bytes, sizeof bytes), sizeof bytes);
    test_fail_allocation(2);
    CHECK_INT(coil_read_line(s, bytes, sizeof bytes), -ENOMEM);
    test_fail_allocation(0);
    CHECK_INT(coil_read_line(s, bytes, sizeof bytes), 5000);
    CHECK_INT(coil_read_line(s, bytes, sizeof bytes), 3998);
    coil_stream_destroy(s);
    close(peer);
}
