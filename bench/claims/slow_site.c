/*
 * slow_site.c - a web site that delays its answers like a distant server.
 *
 *     slow_site PAGES ANSWER-MS
 *
 * Page 0 links to pages 1 to 10, and page n to pages 10n+1 to 10n+10, if these pages
 * exist. The program prints its port. Any number of requests may be waiting at once,
 * because the delay simulates a slow network, not a busy site.
 */
#include <coil.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINKS 10

static long page_count;
static int64_t answer_ns;

static size_t write_page(char *out, size_t size, long page)
{
    char body[1024];
    size_t n = 0;

    for (long link = page * LINKS + 1; link <= page * LINKS + LINKS; link++)
        if (link < page_count)
            n += (size_t)snprintf(body + n, sizeof body - n,
                                  "<a href=\"/%ld\">page %ld</a>\n", link, link);
    return (size_t)snprintf(out, size,
                            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                            "Content-Length: %zu\r\n\r\n%.*s",
                            n, (int)n, body);
}

static int serve(void *arg)
{
    coil_stream *stream = arg;
    char head[512], answer[2048];
    ssize_t n;

    while ((n = coil_read_until(stream, "\r\n\r\n", 4, head, sizeof head - 1)) > 0) {
        head[n] = '\0';
        if (coil_sleep(answer_ns) < 0)
            break;
        n = (ssize_t)write_page(answer, sizeof answer, atol(head + strlen("GET /")));
        if (coil_write(stream, answer, (size_t)n) < 0)
            break;
    }
    coil_stream_destroy(stream);
    return 0; /* a client that disconnects is not an error */
}

static int app(void *arg)
{
    coil_listener *listener;
    coil_stream *stream;
    int rc = coil_listen("127.0.0.1", "0", 0, &listener);

    (void)arg;
    if (rc < 0)
        return rc;
    printf("%u\n", coil_listener_port(listener));
    fflush(stdout);
    while ((rc = coil_accept(listener, &stream)) == 0)
        if (coil_spawn(serve, stream, NULL, NULL) < 0)
            coil_stream_destroy(stream);
    coil_listener_destroy(listener);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: slow_site PAGES ANSWER-MS\n");
        return 3;
    }
    page_count = atol(argv[1]);
    answer_ns = COIL_MSEC(atol(argv[2]));
    return coil_run(app, NULL, NULL) < 0;
}
