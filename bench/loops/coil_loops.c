/*
 * coil_loops.c N - like echo/coil_echo.c, with a loop on each of N threads. The loops
 * share the port with SO_REUSEPORT. The kernel chooses the loop for each connection, and
 * the connection stays on that loop.
 */
#include <coil.h>

#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { BACKLOG = 4096 };

static char port[8];
static _Atomic unsigned listening;

/* Reserve a port for all loops. The socket that reserves the port never listens. */
static bool choose_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) < 0)
        return false;
    snprintf(port, sizeof port, "%u", ntohs(address.sin_port));
    return true;
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
    coil_listen_options at = {
        .host = "127.0.0.1", .port = port, .backlog = BACKLOG, .reuse_port = true};
    coil_listener *listener;
    coil_stream *stream;
    int rc = coil_listen_opts(&at, &listener);

    (void)arg;
    if (rc < 0)
        return rc;
    if (++listening == coil_thread_count()) {
        printf("%s\n", port);
        fflush(stdout);
    }
    while ((rc = coil_accept(listener, &stream)) == 0) {
        rc = coil_spawn(serve, stream, NULL, NULL);
        if (rc < 0)
            coil_stream_destroy(stream);
    }
    coil_listener_destroy(listener);
    return rc;
}

int main(int argc, char **argv)
{
    int n = argc == 2 ? atoi(argv[1]) : 0;

    if (n < 1 || !choose_port()) {
        fprintf(stderr, "usage: coil_loops N\n");
        return 2;
    }
    return coil_run_threads((unsigned)n, app, NULL, NULL) < 0;
}
