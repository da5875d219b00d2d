/* gather.c - fetch from all servers at once; the first failure cancels the others. */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

enum { MOST = 10 };

struct fetch {
    uv_tcp_t tcp;
    uv_connect_t connect;
    char bytes[4096];
};

static struct fetch fetches[MOST];
static int count, failure;
static size_t total;

static void end(struct fetch *f)
{
    if (!uv_is_closing((uv_handle_t *)&f->tcp))
        uv_close((uv_handle_t *)&f->tcp, NULL);
}

static void fail(int status)
{
    if (failure == 0)
        failure = status;
    for (int i = 0; i < count; i++)
        end(&fetches[i]);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    struct fetch *f = handle->data;

    (void)size;
    *buf = uv_buf_init(f->bytes, sizeof f->bytes);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    (void)buf;
    if (n >= 0)
        total += (size_t)n;
    else if (n == UV_EOF)
        end(stream->data);
    else
        fail((int)n);
}

static void on_connect(uv_connect_t *connect, int status)
{
    if (status == UV_ECANCELED) /* by fail() */
        return;
    if (status == 0)
        status = uv_read_start(connect->handle, on_alloc, on_read);
    if (status < 0)
        fail(status);
}

static void start(struct fetch *f, uv_loop_t *loop, int port)
{
    struct sockaddr_in address;
    int rc;

    f->tcp.data = f;
    uv_tcp_init(loop, &f->tcp);
    uv_ip4_addr("127.0.0.1", port, &address);
    count++;
    rc = uv_tcp_connect(&f->connect, &f->tcp, (struct sockaddr *)&address, on_connect);
    if (rc < 0)
        fail(rc);
}

int main(int argc, char **argv)
{
    uv_loop_t *loop = uv_default_loop();

    for (int i = 1; i < argc && i <= MOST && failure == 0; i++)
        start(&fetches[i - 1], loop, atoi(argv[i]));
    uv_run(loop, UV_RUN_DEFAULT);
    if (failure < 0)
        return 1;
    printf("%zu\n", total);
    return 0;
}
