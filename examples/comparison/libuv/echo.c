/* echo.c - an echo server that ends a connection after 300 ms of silence. */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

struct client {
    uv_tcp_t tcp;
    uv_timer_t silence;
    uv_write_t write;
    int open_handles;
    char bytes[4096];
};

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);

static void on_close(uv_handle_t *handle)
{
    struct client *c = handle->data;

    if (--c->open_handles == 0)
        free(c);
}

static void end(struct client *c)
{
    if (uv_is_closing((uv_handle_t *)&c->tcp))
        return;
    uv_close((uv_handle_t *)&c->tcp, on_close);
    uv_close((uv_handle_t *)&c->silence, on_close);
}

static void on_silence(uv_timer_t *timer)
{
    end(timer->data);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    struct client *c = handle->data;

    (void)size;
    *buf = uv_buf_init(c->bytes, sizeof c->bytes);
}

static void listen_to(struct client *c)
{
    uv_timer_start(&c->silence, on_silence, 300, 0);
    if (uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read) < 0)
        end(c);
}

static void on_written(uv_write_t *write, int status)
{
    struct client *c = write->data;

    if (status < 0)
        end(c);
    else
        listen_to(c);
}

/* Stop reading until the bytes are written, because the buffer is in use. */
static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct client *c = stream->data;
    uv_buf_t bytes = uv_buf_init(buf->base, n > 0 ? (unsigned)n : 0);

    if (n == 0)
        return;
    uv_timer_stop(&c->silence);
    uv_read_stop(stream);
    if (n < 0 || uv_write(&c->write, stream, &bytes, 1, on_written) < 0)
        end(c);
}

static void on_connection(uv_stream_t *server, int status)
{
    struct client *c = status == 0 ? calloc(1, sizeof *c) : NULL;

    if (c == NULL)
        return;
    c->tcp.data = c->silence.data = c->write.data = c;
    c->open_handles = 2;
    uv_tcp_init(server->loop, &c->tcp);
    uv_timer_init(server->loop, &c->silence);
    if (uv_accept(server, (uv_stream_t *)&c->tcp) == 0)
        listen_to(c);
    else
        end(c);
}

int main(void)
{
    uv_loop_t *loop = uv_default_loop();
    struct sockaddr_in address;
    int length = sizeof address;
    uv_tcp_t server;

    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_tcp_init(loop, &server);
    if (uv_tcp_bind(&server, (struct sockaddr *)&address, 0) < 0 ||
        uv_listen((uv_stream_t *)&server, 128, on_connection) < 0)
        return 1;
    uv_tcp_getsockname(&server, (struct sockaddr *)&address, &length);
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    return uv_run(loop, UV_RUN_DEFAULT);
}
