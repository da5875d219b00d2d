/*
 * stream.h - functions that the C programs share: they open a connection, create a file,
 * and read the clocks.
 */
#ifndef BENCH_STREAM_H
#define BENCH_STREAM_H

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READ_BYTES ((size_t)256 * 1024)

static double begun;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_of(int who)
{
    struct rusage u;

    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static double cpu(void)
{
    return cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN);
}

static double cpu_before;

static inline void begin(void)
{
    cpu_before = cpu();
    begun = now();
}

static inline void report(size_t total)
{
    double took = now() - begun, gib = (double)total / (double)(1 << 30);

    printf("%.1f %.3f\n", (double)total / 1e6 / took, (cpu() - cpu_before) / gib);
}

/* Pin this process, which is the sender, to processor 0: see run. */
static inline void become_sender(void)
{
    cpu_set_t first;

    CPU_ZERO(&first);
    CPU_SET(0, &first);
    sched_setaffinity(0, sizeof first, &first);
}

/* Open both ends of a TCP connection over loopback, as blocking sockets. */
static inline void make_connection(int fds[2])
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t length = sizeof name;
    int listening = socket(AF_INET, SOCK_STREAM, 0);

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fds[1] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listening, (struct sockaddr *)&name, length) < 0 ||
        listen(listening, 1) < 0 ||
        getsockname(listening, (struct sockaddr *)&name, &length) < 0 ||
        connect(fds[1], (struct sockaddr *)&name, length) < 0 ||
        setsockopt(fds[1], IPPROTO_TCP, TCP_CONGESTION, "reno", 4) < 0 || // see run
        (fds[0] = accept(listening, NULL, NULL)) < 0) {
        perror("connection");
        exit(1);
    }
    close(listening);
}

/* Create a file in memory, because the benchmark does not measure disks. */
static inline int make_file(size_t size)
{
    int fd = memfd_create("piece", 0);

    if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
        exit(1);
    return fd;
}

#endif
