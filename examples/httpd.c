/*
 * httpd.c - serve the files of a folder over HTTP/1.1.
 *
 *     httpd DIR [HOST:PORT]
 *
 * There is one task for each connection. The code of a task is sequential: accept the
 * connection, read a request, answer it, and repeat until the client disconnects. After
 * accepting, the task spawns the task that accepts the next connection. So no connection
 * is passed from one task to another, where it could be lost.
 *
 * Deadlines are scopes around calls that may take too long. The task itself opens a file
 * and reads its first piece, which takes microseconds if the file is in the page cache.
 * Threads of the file lane read the rest of the file.
 */
#include "http_request.h"

#include <coil.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES 16384
#define IDLE_NS COIL_SEC(15)  /* limit for the next request */
#define WRITE_NS COIL_SEC(60) /* limit for a write */
#define LINGER_NS COIL_SEC(1) /* limit for the client to close */
#define PAUSE_NS COIL_MSEC(100)

struct server {
    int root; /* descriptor of the served folder */
    coil_listener *listener;
    coil_group group;
};

struct connection {
    coil_stream *stream;
    int root;
    char input[HTTP_HEAD_BYTES + 1]; /* a request, and the beginning of the next one */
    size_t have;
    char output[PIECE_BYTES];
};

/* ---- answering --------------------------------------------------------------------- */

static int send_bytes(coil_stream *stream, const char *bytes, size_t n)
{
    ssize_t written;

    COIL_WITH_DEADLINE(WRITE_NS, written)
    written = coil_write(stream, bytes, n);
    return written < 0 ? (int)written : 0;
}

static int send_status(struct connection *c, const struct http_request *request,
                       int status)
{
    return send_bytes(c->stream, c->output,
                      http_format_status(c->output, sizeof c->output, request, status));
}

struct piece {
    int fd;
    char *to;
    size_t n;
};

static int read_piece(void *arg)
{
    struct piece *piece = arg;
    ssize_t n = read(piece->fd, piece->to, piece->n);

    return n < 0 ? -errno : (int)n;
}

/*
 * Send the rest of a file, piece by piece. The file may have shrunk since its length was
 * sent.
 */
static int send_rest(struct connection *c, int fd, long long left)
{
    int rc = 0;

    while (rc == 0 && left > 0) {
        struct piece piece = {fd, c->output,
                              left < PIECE_BYTES ? (size_t)left : PIECE_BYTES};
        int n = coil_blocking(COIL_LANE_FILE, read_piece, &piece);
        if (n <= 0)
            return n < 0 ? n : -ENODATA;
        left -= n;
        rc = send_bytes(c->stream, c->output, (size_t)n);
    }
    return rc;
}

/*
 * Send the head and the first piece in one write. For most files, this write sends the
 * whole answer.
 */
static int send_file(struct connection *c, const struct http_request *request, int fd,
                     long long size)
{
    size_t head = http_format_ok(c->output, sizeof c->output, request, size);
    struct piece piece = {fd, c->output + head, sizeof c->output - head};
    int n, rc;

    if (request->head_only)
        return send_bytes(c->stream, c->output, head);
    if ((long long)piece.n > size)
        piece.n = (size_t)size;
    n = read_piece(&piece);
    if (n < 0)
        return n;
    rc = send_bytes(c->stream, c->output, head + (size_t)n);
    return rc == 0 ? send_rest(c, fd, size - n) : rc;
}

/* `is_index`: the request was for a folder, and the path is now its index page's. */
static int answer_path(struct connection *c, struct http_request *request, bool is_index)
{
    /* Without O_NONBLOCK, opening a named pipe would wait for a writer. */
    int fd = openat(c->root, request->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
    struct stat info;

    if (fd < 0)
        return send_status(c, request, errno == EMFILE || errno == ENFILE ? 503 : 404);
    if (fstat(fd, &info) < 0)
        info.st_mode = 0;
    if (S_ISREG(info.st_mode) && (is_index || !request->slash)) {
        rc = send_file(c, request, fd, (long long)info.st_size);
        close(fd);
        return rc;
    }
    close(fd);
    if (!S_ISDIR(info.st_mode) || is_index)
        return send_status(c, request, 404);
    if (!request->slash)
        return send_status(c, request, 301);
    memcpy(request->path + strlen(request->path), HTTP_INDEX, sizeof HTTP_INDEX);
    return answer_path(c, request, true);
}

/* ---- connections ------------------------------------------------------------------- */

/*
 * Read until the input holds a whole head. Returns the length of the head, 0 if the
 * client has disconnected, or a negative errno: -E2BIG if the head is too long.
 */
static int read_head(struct connection *c)
{
    for (;;) {
        char *end;
        ssize_t n;
        c->input[c->have] = '\0';
        while (c->have > 0 && (c->input[0] == '\r' || c->input[0] == '\n'))
            memmove(c->input, c->input + 1, c->have--); /* RFC 9112, section 2.2 */
        end = strstr(c->input, "\r\n\r\n");
        if (end != NULL)
            return (int)(end - c->input);
        if (c->have == HTTP_HEAD_BYTES)
            return -E2BIG;
        n = coil_read(c->stream, c->input + c->have, HTTP_HEAD_BYTES - c->have);
        if (n <= 0)
            return (int)n;
        c->have += (size_t)n;
    }
}

static int read_head_in_time(struct connection *c)
{
    int rc;

    COIL_WITH_DEADLINE(IDLE_NS, rc)
    rc = read_head(c);
    return rc;
}

/* Answer the request. Returns 1 if another request may follow. */
static int serve_request(struct connection *c)
{
    struct http_request request = {.status = 0};
    int n = read_head_in_time(c), rc;
    size_t used;

    if (n == -E2BIG) {
        send_status(c, &request, strchr(c->input, '\n') != NULL ? 431 : 414);
        return 0;
    }
    if (n <= 0)
        return 0;
    c->input[n] = '\0';
    http_parse(c->input, &request);
    used = (size_t)n + strlen("\r\n\r\n");
    memmove(c->input, c->input + used, c->have - used);
    c->have -= used;
    rc = request.status != 0 ? send_status(c, &request, request.status)
                             : answer_path(c, &request, false);
    return rc == 0 && request.keep_alive;
}

/*
 * Closing a socket with unread bytes resets the connection, and the client might never
 * see the answer. So shut down the sending side, and read until the client closes.
 */
static void linger(struct connection *c)
{
    ssize_t n = coil_stream_shutdown_write(c->stream);

    if (n < 0)
        return;
    COIL_WITH_DEADLINE(LINGER_NS, n)
    do
        n = coil_read(c->stream, c->input, HTTP_HEAD_BYTES);
    while (n > 0);
}

/* Wait until bytes of a request arrive. */
static int wait_in_time(coil_stream *stream)
{
    int rc;

    COIL_WITH_DEADLINE(IDLE_NS, rc)
    rc = coil_stream_wait_readable(stream);
    return rc;
}

/*
 * Read and answer the requests that have arrived. The buffers are in this function's
 * frame, so a connection that waits for its next request needs no buffers. Returns 1 if
 * another request may follow.
 */
static __attribute__((noinline)) int serve_requests(coil_stream *stream, int root)
{
    struct connection c;
    int rc;

    c.stream = stream;
    c.root = root;
    c.have = 0;
    do
        rc = serve_request(&c);
    while (rc == 1 && c.have > 0);
    if (rc != 1)
        linger(&c);
    return rc;
}

/* Accept a connection. If descriptors or memory have run out, pause and try again. */
static int accept_patiently(coil_listener *listener, coil_stream **out)
{
    for (;;) {
        int rc = coil_accept(listener, out);
        if (rc != -EMFILE && rc != -ENFILE && rc != -ENOBUFS && rc != -ENOMEM)
            return rc;
        rc = coil_sleep(PAUSE_NS);
        if (rc < 0)
            return rc;
    }
}

/*
 * Serve a connection. If no task can be spawned for the next connection, this task serves
 * that connection, too.
 */
static int serve(void *arg)
{
    struct server *server = arg;
    bool relieved = false;

    while (!relieved) {
        coil_stream *stream;
        int rc = accept_patiently(server->listener, &stream);
        if (rc < 0)
            return rc;
        relieved = coil_group_spawn(&server->group, serve, server, NULL, NULL) == 0;
        while (wait_in_time(stream) == 0 && serve_requests(stream, server->root) == 1)
            continue;
        coil_stream_destroy(stream);
    }
    return 0;
}

/* ---- the server -------------------------------------------------------------------- */

struct settings {
    const char *folder, *port;
    char host[256]; /* an IPv6 address in brackets, as in URLs */
};

static int listen_on(const struct settings *settings, coil_listener **out)
{
    char host[sizeof settings->host];
    size_t n = strlen(settings->host);
    bool brackets = n > 2 && settings->host[0] == '[' && settings->host[n - 1] == ']';

    snprintf(host, sizeof host, "%.*s", (int)(brackets ? n - 2 : n),
             settings->host + brackets);
    return coil_listen(host, settings->port, 0, out);
}

static int run(void *arg)
{
    const struct settings *settings = arg;
    struct server server;
    int rc = listen_on(settings, &server.listener);

    if (rc < 0)
        return rc;
    server.root = open(settings->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (server.root < 0) {
        rc = -errno;
        coil_listener_destroy(server.listener);
        return rc;
    }
    printf("listening on %s:%u\n", settings->host, coil_listener_port(server.listener));
    fflush(stdout);
    coil_group_enter(&server.group);
    rc = coil_group_spawn(&server.group, serve, &server, NULL, NULL);
    rc = coil_group_exit(&server.group, rc);
    close(server.root);
    coil_listener_destroy(server.listener);
    return rc;
}

int main(int argc, char *argv[])
{
    struct settings settings = {.folder = argv[1], .host = "127.0.0.1:0"};
    char *colon;
    int rc;

    if (argc == 3)
        snprintf(settings.host, sizeof settings.host, "%s", argv[2]);
    colon = strrchr(settings.host, ':');
    if (argc < 2 || argc > 3 || colon == NULL) {
        fprintf(stderr, "usage: %s DIR [HOST:PORT]\n", argv[0]);
        return 3;
    }
    *colon = '\0';
    settings.port = colon + 1;
    rc = coil_run(run, &settings, NULL);
    return rc < 0 && rc != -EINTR;
}
