/*
 * slow_site.c - a web site for the crawlers, with pages that take some time.
 *
 *     slow_site MILLISECONDS        prints the address and the port; ends at Ctrl-C
 *
 * There are sixty-four pages: page n links to pages 2n + 1 and 2n + 2, and each page
 * links to the first one, so the crawlers find links that they have already seen. The
 * first page also links to /foo and /bar, which both redirect to /63. The sleep simulates
 * a server that is busy or far away.
 */
#include <coil.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES 64

static int64_t delay_ns;

static const char *page(int number, char *text, size_t size)
{
    int n =
        snprintf(text, size,
                 "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n"
                 "<a href=\"/\">first</a>%s\n",
                 number == 0 ? " <a href=\"/foo\">foo</a> <a href=\"/bar\">bar</a>" : "");

    for (int link = 2 * number + 1; link <= 2 * number + 2 && link < PAGES; link++)
        n += snprintf(text + n, size - (size_t)n, "<a href=\"/%d\">%d</a>\n", link, link);
    return text;
}

static int answer(coil_stream *stream, void *arg)
{
    char line[256], path[32] = "", text[512];

    while (coil_read_line(stream, line, sizeof line) > 0 && strcspn(line, "\r") > 0)
        sscanf(line, "GET /%31[^ ]", path);
    if (coil_sleep(delay_ns) < 0)
        return -ECANCELED;
    if (strcmp(path, "foo") == 0 || strcmp(path, "bar") == 0)
        snprintf(text, sizeof text, "HTTP/1.0 302 Found\r\nLocation: /63\r\n\r\n");
    else if (strspn(path, "0123456789") != strlen(path))
        snprintf(text, sizeof text, "HTTP/1.0 404 Not Found\r\n\r\n");
    else
        page(atoi(path), text, sizeof text);
    coil_write(stream, text, strlen(text));
    return (void)arg, 0; // a client that disconnects is not an error
}

static int serve(void *arg)
{
    coil_listener *listener;
    int rc = coil_listen("127.0.0.1", "0", 0, &listener);

    if (rc < 0)
        return rc;
    printf("127.0.0.1 %u\n", coil_listener_port(listener));
    fflush(stdout);
    rc = coil_serve(listener, answer, NULL, NULL);
    coil_listener_destroy(listener);
    return (void)arg, rc;
}

int main(int argc, char **argv)
{
    delay_ns = COIL_MSEC(argc > 1 ? atoi(argv[1]) : 20);
    int rc = coil_run(serve, NULL, NULL);

    return rc < 0 && rc != -EINTR;
}
