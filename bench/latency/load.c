/*
 * load.c - measures latencies of an echo server.
 *
 *     load CONNECTIONS MILLISECONDS PORT SERVER-PID
 *
 * Each connection has a task, which pauses for a random time up to PAUSE_MOST, sends a
 * request of 64 bytes, and waits for the answer. Because of the pauses, requests are not
 * synchronised with the server's turns. The program connects and prints "ready". Then,
 * for each line that it reads, it makes requests for MILLISECONDS, and prints
 *
 *     P50-US  P99-US
 *
 * The first fifth of the time is not counted. SERVER-PID is unused; it is accepted
 * because echo/load.c has this argument.
 */
#include <coil.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE = 64, MOST = 1000000 };

#define PAUSE_MOST COIL_MSEC(10)

static const char *port;
static int connections;
static int64_t span;

static coil_stream **streams;
static float *latencies; /* in microseconds */
static size_t count;
static int64_t begin, end; /* when counting begins and ends */

/* Make one request, and record its latency if the time is counted. */
static int request(coil_stream *stream)
{
    char message[MESSAGE], answer[MESSAGE];
    int64_t began = coil_now();
    ssize_t n;

    memset(message, (int)(began % 251), MESSAGE);
    n = coil_write(stream, message, MESSAGE);
    if (n >= 0)
        n = coil_read_exact(stream, answer, MESSAGE);
    if (n >= 0 && memcmp(message, answer, MESSAGE) != 0)
        n = -EBADMSG;
    if (n < 0)
        return (int)n;
    if (began >= begin && count < MOST)
        latencies[count++] = (float)(coil_now() - began) / 1e3F;
    return 0;
}

static int use(void *stream)
{
    int rc = 0;

    while (rc == 0 && coil_now() < end) {
        rc = coil_sleep(random() % PAUSE_MOST);
        if (rc == 0)
            rc = request(stream);
    }
    return rc;
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static int measure(void)
{
    coil_group group;
    int rc = 0;

    count = 0;
    begin = coil_now() + span / 5;
    end = coil_now() + span;
    coil_group_enter(&group);
    for (int i = 0; rc == 0 && i < connections; i++)
        rc = coil_group_spawn(&group, use, streams[i], NULL, NULL);
    rc = coil_group_exit(&group, rc);
    if (rc < 0)
        return rc;
    if (count == 0)
        return coil_fail(-ETIMEDOUT, "no answer");
    qsort(latencies, count, sizeof *latencies, compare);
    printf("%.1f %.1f\n", (double)latencies[count / 2],
           (double)latencies[count * 99 / 100]);
    fflush(stdout);
    return 0;
}

static int app(void *arg)
{
    char line[16];
    int rc = 0;

    (void)arg;
    for (int i = 0; rc == 0 && i < connections; i++)
        rc = coil_connect("127.0.0.1", port, &streams[i]);
    puts("ready");
    fflush(stdout);
    while (rc == 0 && fgets(line, sizeof line, stdin) != NULL)
        rc = measure();
    for (int i = 0; i < connections; i++)
        coil_stream_destroy(streams[i]);
    return rc;
}

int main(int argc, char *argv[])
{
    if (argc != 5) {
        fprintf(stderr, "usage: load CONNECTIONS MILLISECONDS PORT SERVER-PID\n");
        return 2;
    }
    connections = atoi(argv[1]);
    span = atoi(argv[2]) * COIL_MSEC(1);
    port = argv[3];
    streams = calloc((size_t)connections, sizeof(coil_stream *));
    latencies = malloc(MOST * sizeof *latencies);
    return streams == NULL || latencies == NULL || coil_run(app, NULL, NULL) < 0;
}
