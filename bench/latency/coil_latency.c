/*
 * coil_latency.c - echo while other tasks of the same loop compute.
 *
 *     coil_latency STEP-US
 *
 * Each of COMPUTING tasks computes in steps of STEP-US microseconds, and lets the other
 * tasks run after each step. The program writes a byte to stderr for each step.
 */
#include <coil.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 4096, COMPUTING = 4 };

static uint64_t units; /* of one step */
static volatile uint64_t sink;

static void compute(uint64_t n)
{
    uint64_t x = 1;

    while (n-- > 0) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    sink = x;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Return how many units of computation take `step` seconds. */
static uint64_t units_of(double step)
{
    double took = 0;
    uint64_t n = 1024;

    while (took < 0.05) {
        double began = seconds();

        n *= 2;
        compute(n);
        took = seconds() - began;
    }
    return (uint64_t)((double)n * step / took);
}

static int compute_in_steps(void *arg)
{
    int rc = 0;

    (void)arg;
    while (rc == 0) {
        compute(units);
        if (write(STDERR_FILENO, ".", 1) < 0)
            return coil_fail(-errno, "writing a step");
        rc = coil_yield();
    }
    return rc;
}

static int serve(void *arg)
{
    coil_stream *stream = arg;
    char bytes[4096];
    ssize_t n;

    while ((n = coil_read(stream, bytes, sizeof bytes)) > 0)
        if (coil_write(stream, bytes, (size_t)n) < 0)
            break;
    coil_stream_destroy(stream);
    return 0; /* a client that disconnects is not an error */
}

static int app(void *arg)
{
    coil_listener *listener;
    coil_stream *stream;
    int rc = coil_listen("127.0.0.1", "0", BACKLOG, &listener);

    (void)arg;
    for (int i = 0; rc == 0 && i < COMPUTING; i++)
        rc = coil_spawn(compute_in_steps, NULL, NULL, NULL);
    if (rc < 0)
        return rc;
    printf("%u\n", coil_listener_port(listener));
    fflush(stdout);
    while ((rc = coil_accept(listener, &stream)) == 0) {
        rc = coil_spawn(serve, stream, NULL, NULL);
        if (rc < 0)
            coil_stream_destroy(stream);
    }
    coil_listener_destroy(listener);
    return rc;
}

int main(int argc, char *argv[])
{
    if (argc != 2) {
        fprintf(stderr, "usage: coil_latency STEP-US\n");
        return 2;
    }
    units = units_of(atof(argv[1]) / 1e6);
    return coil_run(app, NULL, NULL) < 0;
}
