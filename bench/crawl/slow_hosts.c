/*
 * slow_hosts.c - serves hosts that answer each request after a fixed delay, using almost
 * no processor time.
 *
 *     slow_hosts HOSTS PAGES MILLISECONDS
 *
 * Each host is a port of 127.0.0.1 with PAGES pages: / links to /1 and /2, and /N to
 * /2N+1 and /2N+2. The program prints the ports, one per line. Once all pages have been
 * requested, it prints the seconds from the first request to the last.
 */
#include <coil.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct hosts {
    unsigned long count, pages, asked;
    int64_t wait_ns;
    double begin;
    coil_group group;
};

struct host {
    struct hosts *all;
    coil_listener *listener;
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void count(struct hosts *all)
{
    if (all->asked++ == 0)
        all->begin = now();
    if (all->asked == all->count * all->pages) {
        printf("%.6f\n", now() - all->begin);
        fflush(stdout);
    }
}

static int answer(struct hosts *all, coil_stream *stream, const char *request)
{
    char body[128], text[512];
    unsigned long number = strtoul(request + strlen("GET /"), NULL, 10);
    int length = 0, rc;

    count(all);
    rc = coil_sleep(all->wait_ns);
    if (rc < 0)
        return rc;
    for (unsigned long child = 2 * number + 1; child <= 2 * number + 2; child++)
        if (child < all->pages)
            length += snprintf(body + length, sizeof body - (size_t)length,
                               "<a href=/%lu>x</a>", child);
    length = snprintf(text, sizeof text,
                      "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                      "Content-Length: %d\r\n\r\n%.*s",
                      length, length, body);
    return (int)coil_write(stream, text, (size_t)length);
}

static void serve_requests(struct hosts *all, coil_stream *stream)
{
    char request[4096];
    size_t have = 0;

    for (;;) {
        ssize_t n = coil_read(stream, request + have, sizeof request - 1 - have);
        if (n <= 0)
            return;
        have += (size_t)n;
        request[have] = '\0';
        if (strstr(request, "\r\n\r\n") == NULL)
            continue;
        if (answer(all, stream, request) < 0)
            return;
        have = 0; /* the crawler sends one request at a time */
    }
}

static int serve(void *arg)
{
    struct host *host = arg;
    coil_stream *stream;
    int rc = coil_accept(host->listener, &stream);

    if (rc < 0)
        return rc;
    rc = coil_group_spawn(&host->all->group, serve, host, NULL, NULL);
    serve_requests(host->all, stream);
    coil_stream_destroy(stream);
    return rc;
}

static int open_host(struct hosts *all, struct host *host)
{
    int rc = coil_listen("127.0.0.1", "0", 0, &host->listener);

    if (rc < 0)
        return rc;
    host->all = all;
    printf("%u\n", coil_listener_port(host->listener));
    return coil_group_spawn(&all->group, serve, host, NULL, NULL);
}

static int run(void *arg)
{
    struct hosts *all = arg;
    struct host *hosts = calloc(all->count, sizeof *hosts);
    int rc = 0;

    if (hosts == NULL)
        return -ENOMEM;
    coil_group_enter(&all->group);
    for (unsigned long i = 0; i < all->count && rc == 0; i++)
        rc = open_host(all, &hosts[i]);
    fflush(stdout);
    rc = coil_group_exit(&all->group, rc);
    for (unsigned long i = 0; i < all->count; i++)
        coil_listener_destroy(hosts[i].listener);
    free(hosts);
    return rc;
}

int main(int argc, char *argv[])
{
    struct hosts all = {0};

    if (argc == 4) {
        all.count = strtoul(argv[1], NULL, 10);
        all.pages = strtoul(argv[2], NULL, 10);
        all.wait_ns = COIL_MSEC(strtol(argv[3], NULL, 10));
    }
    if (all.count == 0 || all.pages == 0) {
        fprintf(stderr, "usage: %s HOSTS PAGES MILLISECONDS\n", argv[0]);
        return 3;
    }
    return coil_run(run, &all, NULL) < 0;
}
