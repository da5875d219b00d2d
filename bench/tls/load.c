/*
 * load.c - the load generator of the TLS benchmark, written with coil.
 *
 *     load CERTIFICATE PORT SERVER-PID CONNECTIONS SECONDS
 *     load CERTIFICATE PORT SERVER-PID 0 0
 *
 * The load is a closed loop: each connection has one request of 64 bytes outstanding.
 * After a warm-up, the program counts requests, and prints REQUESTS/S and the server's
 * processor time per request in us. With 0 connections, the program reads a GiB over one
 * connection, and prints MB/S and the server's processor time in seconds.
 */
#include <coil.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MESSAGE = 64 };

static const char *certificate, *port;
static coil_tls *tls;
static int pid, connections;
static double seconds;
static uint64_t requests;

static int64_t server_cpu(void)
{
    struct timespec t = {0, 0};
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
        exit(1);
    return t.tv_sec * COIL_SEC(1) + t.tv_nsec;
}

static int ask(void *arg)
{
    char message[MESSAGE] = "echo";
    coil_stream *stream;
    ssize_t n = coil_connect_tls("127.0.0.1", port, tls, &stream);

    (void)arg;
    if (n < 0)
        return (int)n;
    while (n >= 0) {
        n = coil_write(stream, message, MESSAGE);
        if (n >= 0)
            n = coil_read_exact(stream, message, MESSAGE);
        requests++;
    }
    coil_stream_destroy(stream);
    return (int)n;
}

static int count_requests(void)
{
    uint64_t requests_before;
    int64_t cpu_before, began;
    coil_group g;
    int rc = 0;

    coil_group_enter(&g);
    for (int i = 0; i < connections && rc == 0; i++)
        rc = coil_group_spawn(&g, ask, NULL, NULL, NULL);
    /* Do not count the first requests, which include the handshakes. */
    while (rc == 0 && requests < (uint64_t)connections * 10)
        rc = coil_sleep(COIL_MSEC(50));
    requests_before = requests;
    cpu_before = server_cpu();
    began = coil_now();
    if (rc == 0)
        rc = coil_sleep((int64_t)(seconds * 1e9));
    requests -= requests_before;
    if (rc == 0)
        printf("%g %g\n", (double)requests * 1e9 / (double)(coil_now() - began),
               (double)(server_cpu() - cpu_before) / 1e3 / (double)requests);
    rc = coil_group_exit(&g, rc < 0 ? rc : -ECANCELED); // ends the tasks
    return rc == -ECANCELED ? 0 : rc;
}

static int count_bytes(void)
{
    static char bytes[262144] = "Stream";
    int64_t cpu_before = server_cpu(), began, left = INT64_C(1) << 30;
    coil_stream *stream;
    ssize_t n = coil_connect_tls("127.0.0.1", port, tls, &stream);

    if (n < 0)
        return (int)n;
    began = coil_now();
    n = coil_write(stream, bytes, MESSAGE);
    for (; left > 0 && n > 0; left -= n > 0 ? n : 0)
        n = coil_read(stream, bytes, sizeof bytes);
    if (left == 0)
        printf("%g %g\n", 1073.741824 * 1e9 / (double)(coil_now() - began),
               (double)(server_cpu() - cpu_before) / 1e9);
    coil_stream_destroy(stream);
    return left == 0 ? 0 : -ENODATA;
}

static int app(void *arg)
{
    int rc = coil_tls_create(&(coil_tls_opts){.ca_file = certificate}, &tls);

    (void)arg;
    if (rc == 0)
        rc = connections > 0 ? count_requests() : count_bytes();
    coil_tls_release(tls);
    return rc;
}

int main(int argc, char *argv[])
{
    int rc;

    if (argc != 6)
        return 2;
    certificate = argv[1];
    port = argv[2];
    pid = atoi(argv[3]);
    connections = atoi(argv[4]);
    seconds = atof(argv[5]);
    rc = coil_run(app, NULL, NULL);
    if (rc < 0)
        fprintf(stderr, "load: %s\n", strerror(-rc));
    return rc < 0;
}
