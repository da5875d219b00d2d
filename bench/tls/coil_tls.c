/*
 * coil_tls.c - the TLS server with coil: a task for each connection.
 *
 *     coil_tls CERTIFICATE
 *
 * The server sends each request of 64 bytes back. If a request begins with 'S', the
 * server sends a GiB instead.
 */
#include <coil.h>

#include <stdio.h>
#include <string.h>

enum { BACKLOG = 4096, MESSAGE = 64, CHUNK = 65536 };

static coil_tls *tls;

static ssize_t send_much(coil_stream *stream)
{
    static char chunk[CHUNK];
    ssize_t n = 0;

    for (int64_t left = INT64_C(1) << 30; left > 0 && n >= 0; left -= CHUNK)
        n = coil_write(stream, chunk, CHUNK);
    return n;
}

static int serve(void *arg)
{
    coil_stream *stream = arg;
    char bytes[MESSAGE];
    ssize_t n = coil_accept_tls(stream, tls);

    while (n >= 0 && coil_read_exact(stream, bytes, MESSAGE) > 0)
        n = bytes[0] == 'S' ? send_much(stream) : coil_write(stream, bytes, MESSAGE);
    coil_stream_destroy(stream);
    return 0; // a client that disconnects is not an error
}

static int app(void *certificate)
{
    coil_tls_opts opts = {.certificate_file = certificate};
    coil_listener *listener;
    coil_stream *stream;
    int rc = coil_tls_create(&opts, &tls);

    if (rc == 0)
        rc = coil_listen("127.0.0.1", "0", BACKLOG, &listener);
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
    int rc = coil_run(app, argc > 1 ? argv[1] : "", NULL);

    if (rc < 0 && rc != -EINTR)
        fprintf(stderr, "coil_tls: %s\n", strerror(-rc));
    return rc < 0;
}
