/*
 * uv_stream.c - transfers bulk data over one connection with libuv. Each write starts
 * when the previous one is done.
 *
 *     uv_stream BYTES PIECE
 */
#include <uv.h>

#include "stream.h"

static size_t left, piece;
static char *bytes;
static uv_tcp_t tcp;

static void write_next(uv_write_t *request, int status)
{
    uv_buf_t buf = uv_buf_init(bytes, (unsigned)(piece < left ? piece : left));

    if (status < 0)
        _exit(1);
    if (left == 0) {
        uv_close((uv_handle_t *)&tcp, NULL);
        return;
    }
    left -= buf.len;
    uv_write(request, (uv_stream_t *)&tcp, &buf, 1, write_next);
}

static void give_buffer(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    (void)handle;
    (void)size;
    *buf = uv_buf_init(bytes, READ_BYTES);
}

static void received(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    (void)buf;
    if (n > 0)
        left -= (size_t)n;
    else if (n < 0)
        uv_close((uv_handle_t *)stream, NULL);
}

static void run(int fd, int sends)
{
    uv_loop_t loop;
    uv_write_t request;

    uv_loop_init(&loop);
    uv_tcp_init(&loop, &tcp);
    uv_tcp_open(&tcp, fd);
    bytes = calloc(1, piece > READ_BYTES ? piece : READ_BYTES);
    if (sends)
        write_next(&request, 0);
    else
        uv_read_start((uv_stream_t *)&tcp, give_buffer, received);
    uv_run(&loop, UV_RUN_DEFAULT);
}

int main(int argc, char *argv[])
{
    size_t total = left = strtoull(argv[1], NULL, 10);
    int fds[2];

    piece = strtoull(argv[2], NULL, 10);
    if (argc > 3)
        return 1;
    make_connection(fds);
    begin();
    if (fork() == 0) {
        become_sender();
        close(fds[0]);
        run(fds[1], 1);
        _exit(0);
    }
    close(fds[1]);
    run(fds[0], 0);
    wait(NULL);
    if (left != 0)
        return 1;
    report(total);
    return 0;
}
