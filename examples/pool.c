/*
 * pool.c - many tasks share a few connections to a server that sends lines back:
 *
 *     pool localhost 8080
 *
 * The pool is a queue of connections. Getting a connection suspends the task while all
 * connections are in use.
 */
#include <coil.h>

#include <stdio.h>

#define CONNECTIONS 3
#define TASKS 10

static coil_queue pool = COIL_QUEUE_INIT(sizeof(coil_stream *), 0);
static char **server; // host and port
static int answered;

/* [pool] */
static int check_out(coil_stream **out)
{
    int rc = coil_queue_get(&pool, out); // NULL: a connection that is not open yet

    if (rc == 0 && *out == NULL && (rc = coil_connect(server[0], server[1], out)) < 0)
        coil_queue_put_nowait(&pool, &(coil_stream *){NULL});
    return rc;
}

static void check_in(coil_stream *stream, bool is_good)
{
    coil_stream *kept = is_good ? stream : NULL;

    if (!is_good)
        coil_stream_destroy(stream);
    // needs no memory, because coil_queue_get() has freed a slot
    coil_queue_put_nowait(&pool, &kept);
}
/* [end] */

static int ask(void *arg)
{
    char line[100];
    coil_stream *stream;
    ssize_t n = check_out(&stream);

    (void)arg;
    if (n < 0)
        return (int)n;
    n = coil_write(stream, "anything new?\n", 14);
    if (n >= 0)
        n = coil_read_line(stream, line, sizeof line);
    check_in(stream, n >= 0);
    answered += n == 13;
    return n < 0 ? (int)n : 0;
}

static int ask_all(void *arg)
{
    int rc = 0;

    server = arg;
    for (int i = 0; i < CONNECTIONS && rc == 0; i++)
        rc = coil_queue_put(&pool, &(coil_stream *){NULL});
    if (rc == 0)
        COIL_WITH_GROUP(group, rc)
    for (int i = 0; i < TASKS && rc == 0; i++)
        rc = coil_group_spawn(&group, ask, NULL, NULL, NULL);
    for (coil_stream *stream; coil_queue_get_nowait(&pool, &stream) == 0;)
        coil_stream_destroy(stream);
    coil_queue_finish(&pool);
    printf("%d answers\n", answered);
    return rc;
}

int main(int argc, char **argv)
{
    return argc != 3 || coil_run(ask_all, argv + 1, NULL) < 0;
}
