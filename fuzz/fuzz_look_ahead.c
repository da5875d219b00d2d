/*
 * fuzz_look_ahead.c - checks that a stream returns each byte once and in order, whichever
 * read calls are used.
 *
 * One task writes in pieces. The other task reads with calls that the input selects.
 * These calls read a number of bytes, a line, or up to a separator, or look ahead without
 * consuming bytes. The target checks the result of each call, and finally that no byte is
 * missing.
 */
#include "fuzz.h"

#include <coil.h>

#define OPS_MAX 64
#define CALLS_MAX 2000

struct talk {
    coil_stream *ends[2];    /* writing end and reading end */
    const uint8_t *text;     /* bytes to write */
    size_t text_bytes, read; /* length of the text; number of bytes read */
    const uint8_t *ops;      /* pairs of a call and its parameter, repeated cyclically */
    size_t op_count, next_op;
    bool ended;
};

/* ---- writing ----------------------------------------------------------------------- */

static int write_all(void *arg)
{
    struct talk *talk = arg;
    int rc = 0;

    for (size_t at = 0, turn = 0, n; at < talk->text_bytes && rc >= 0; at += n, turn++) {
        n = 1 + talk->text[turn % talk->text_bytes] % 61u * (turn % 5 == 0 ? 50 : 1);
        if (n > talk->text_bytes - at)
            n = talk->text_bytes - at;
        rc = (int)coil_write(talk->ends[0], talk->text + at, n);
        if (turn % 2 == 0)
            coil_yield();
    }
    return coil_stream_close(talk->ends[0]);
}

/* ---- reading ----------------------------------------------------------------------- */

static uint8_t next_op(struct talk *talk)
{
    return talk->ops[talk->next_op++ % talk->op_count];
}

static const uint8_t *expected(const struct talk *talk)
{
    return talk->text + talk->read;
}

static bool is_next(const struct talk *talk, const void *bytes, size_t n)
{
    return n <= talk->text_bytes - talk->read && memcmp(bytes, expected(talk), n) == 0;
}

static void take(struct talk *talk, const void *bytes, size_t n)
{
    CLAIM(is_next(talk, bytes, n));
    talk->read += n;
}

/*
 * Check the bytes from a call that reached the end of the stream, and that no byte is
 * missing.
 */
static void take_tail(struct talk *talk, const void *bytes)
{
    take(talk, bytes, coil_stream_read_transferred(talk->ends[1]));
    CLAIM(talk->read == talk->text_bytes);
}

static void read_some(struct talk *talk, char *buf, size_t size)
{
    ssize_t n = coil_read(talk->ends[1], buf, size);

    CLAIM(n >= 0 && (size_t)n <= size);
    take(talk, buf, (size_t)n);
    talk->ended = n == 0;
}

static void read_exactly(struct talk *talk, char *buf, size_t size)
{
    ssize_t n = coil_read_exact(talk->ends[1], buf, size);

    if (n >= 0) {
        CLAIM((size_t)n == size);
        take(talk, buf, size);
    } else {
        CLAIM(n == -ENODATA);
        take_tail(talk, buf);
    }
}

static void read_a_line(struct talk *talk, char *buf, size_t size)
{
    ssize_t n = coil_read_line(talk->ends[1], buf, size);
    size_t taken = coil_stream_read_transferred(talk->ends[1]);

    if (n >= 0) {
        CLAIM(buf[n] == '\0' && memchr(buf, '\n', (size_t)n) == NULL);
        CLAIM(taken > (size_t)n && taken <= talk->text_bytes - talk->read);
        CLAIM(expected(talk)[taken - 1] == '\n');
        take(talk, buf, (size_t)n);
        talk->read += taken - (size_t)n;
    } else if (n == -ENODATA) {
        CLAIM(taken < size && buf[taken] == '\0');
        take_tail(talk, buf);
    } else {
        CLAIM(n == -EMSGSIZE && taken == 0);
    }
}

static void read_to_separator(struct talk *talk, char *buf, size_t size, uint8_t x)
{
    uint8_t separator[4];
    size_t length = 1 + x % sizeof separator;
    ssize_t n;

    for (size_t i = 0; i < length; i++)
        separator[i] = talk->ops[(talk->next_op + i) % talk->op_count];
    n = coil_read_until(talk->ends[1], separator, length, buf, size);
    if (n >= 0) {
        CLAIM((size_t)n >= length && (size_t)n <= size);
        CLAIM(memcmp(buf + n - length, separator, length) == 0);
        CLAIM(memmem(buf, (size_t)n - 1, separator, length) == NULL);
        CLAIM(coil_stream_read_transferred(talk->ends[1]) == (size_t)n);
        take(talk, buf, (size_t)n);
    } else if (n == -ENODATA) {
        take_tail(talk, buf);
    } else {
        CLAIM(n == -EMSGSIZE && coil_stream_read_transferred(talk->ends[1]) == 0);
    }
}

static void look(struct talk *talk, uint8_t op, uint8_t x)
{
    const void *bytes;
    ssize_t n = coil_peek(talk->ends[1], &bytes, x);

    if (n < 0) {
        CLAIM(n == -EMSGSIZE);
        return;
    }
    CLAIM(n == 0 || is_next(talk, bytes, (size_t)n));
    CLAIM(n >= x || talk->read + (size_t)n == talk->text_bytes);
    if (n > 0) {
        size_t taken = op % ((size_t)n + 1);

        coil_stream_consume(talk->ends[1], taken);
        talk->read += taken;
    }
}

static void make_a_call(struct talk *talk)
{
    uint8_t op = next_op(talk), x = next_op(talk);
    size_t size = 1 + x * (size_t)(op >> 3);
    char *buf = malloc(size);

    if (buf == NULL)
        abort();
    switch (op % 8) {
    case 0:
        read_some(talk, buf, size);
        break;
    case 1:
        read_exactly(talk, buf, size);
        break;
    case 2:
        read_a_line(talk, buf, size);
        break;
    case 3:
        read_to_separator(talk, buf, size, x);
        break;
    case 4:
        look(talk, op, x);
        break;
    case 5:
        coil_stream_set_limit(talk->ends[1], 1 + x);
        break;
    case 6:
        coil_stream_set_limit(talk->ends[1], 1 + x * (size_t)257);
        break;
    default:
        coil_yield();
        CLAIM(!coil_stream_at_end(talk->ends[1]) || talk->read == talk->text_bytes);
    }
    free(buf);
}

/*
 * Read to the end of the stream. Calls that only look ahead, or that fail at their limit,
 * may not have reached the end.
 */
static void read_the_rest(struct talk *talk)
{
    char buf[4096];

    while (!talk->ended)
        read_some(talk, buf, sizeof buf);
}

static int talk_it_out(void *arg)
{
    struct talk *talk = arg;
    coil_group group;

    if (coil_stream_pair(talk->ends) < 0)
        abort();
    coil_group_enter(&group);
    CLAIM(coil_group_spawn(&group, write_all, talk, NULL, NULL) == 0);
    for (int i = 0; i < CALLS_MAX && !talk->ended; i++)
        make_a_call(talk);
    read_the_rest(talk);
    CLAIM(talk->read == talk->text_bytes);
    CLAIM(coil_group_exit(&group, 0) == 0);
    coil_stream_destroy(talk->ends[0]);
    coil_stream_destroy(talk->ends[1]);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const backends[] = {"epoll", "poll", "select", NULL};
    struct fuzz_input in = {data, size};
    coil_run_opts opts = {.no_signals = true};
    struct talk talk = {0};

    opts.loop.backend = backends[fuzz_byte(&in) % 4];
    talk.op_count = in.left / 2 < OPS_MAX ? in.left / 2 : OPS_MAX;
    talk.ops = in.at;
    talk.text = in.at + talk.op_count;
    talk.text_bytes = in.left - talk.op_count;
    if (talk.op_count == 0)
        return 0;
    CLAIM(coil_run(talk_it_out, &talk, &opts) == 0);
    return 0;
}
