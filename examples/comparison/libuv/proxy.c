/* proxy.c - copy the bytes of each connection to a server and back, with half-closes. */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

struct end {
    uv_tcp_t tcp;
    struct pair *pair;
    struct end *other;
    uv_write_t write;       /* writes the bytes that this end has read to the other end */
    uv_shutdown_t shutdown; /* shuts down the other end */
    char bytes[65536];
};

struct pair {
    struct end ends[2];
    uv_connect_t connect;
    int open_handles, ended;
};

static struct sockaddr_in target;

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);

static void on_close(uv_handle_t *handle)
{
    struct pair *pair = ((struct end *)handle->data)->pair;

    if (--pair->open_handles == 0)
        free(pair);
}

static void end_pair(struct pair *pair)
{
    for (int i = 0; i < 2; i++)
        if (!uv_is_closing((uv_handle_t *)&pair->ends[i].tcp))
            uv_close((uv_handle_t *)&pair->ends[i].tcp, on_close);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    struct end *end = handle->data;

    (void)size;
    *buf = uv_buf_init(end->bytes, sizeof end->bytes);
}

static void start_reading(struct end *end)
{
    if (uv_read_start((uv_stream_t *)&end->tcp, on_alloc, on_read) < 0)
        end_pair(end->pair);
}

static void on_written(uv_write_t *write, int status)
{
    struct end *end = write->data;

    if (status < 0)
        end_pair(end->pair);
    else
        start_reading(end);
}

static void on_shutdown(uv_shutdown_t *shutdown, int status)
{
    struct end *end = shutdown->data;

    if (status < 0 || ++end->pair->ended == 2)
        end_pair(end->pair);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct end *end = stream->data;
    uv_stream_t *other = (uv_stream_t *)&end->other->tcp;
    uv_buf_t bytes = uv_buf_init(buf->base, n > 0 ? (unsigned)n : 0);
    int rc;

    if (n == 0)
        return;
    uv_read_stop(stream);
    if (n == UV_EOF)
        rc = uv_shutdown(&end->shutdown, other, on_shutdown);
    else
        rc = n < 0 ? (int)n : uv_write(&end->write, other, &bytes, 1, on_written);
    if (rc < 0)
        end_pair(end->pair);
}

static void on_connect(uv_connect_t *connect, int status)
{
    struct pair *pair = connect->data;

    if (status < 0) {
        end_pair(pair);
        return;
    }
    start_reading(&pair->ends[0]);
    start_reading(&pair->ends[1]);
}

static void on_connection(uv_stream_t *server, int status)
{
    struct pair *pair = status == 0 ? calloc(1, sizeof *pair) : NULL;

    if (pair == NULL)
        return;
    for (int i = 0; i < 2; i++) {
        struct end *end = &pair->ends[i];

        end->pair = pair;
        end->other = &pair->ends[!i];
        end->tcp.data = end->write.data = end->shutdown.data = end;
        uv_tcp_init(server->loop, &end->tcp);
    }
    pair->open_handles = 2;
    pair->connect.data = pair;
    if (uv_accept(server, (uv_stream_t *)&pair->ends[0].tcp) < 0 ||
        uv_tcp_connect(&pair->connect, &pair->ends[1].tcp, (struct sockaddr *)&target,
                       on_connect) < 0)
        end_pair(pair);
}

int main(int argc, char **argv)
{
    uv_loop_t *loop = uv_default_loop();
    struct sockaddr_in address;
    int length = sizeof address;
    uv_tcp_t server;

    if (argc != 2)
        return 2;
    uv_ip4_addr("127.0.0.1", atoi(argv[1]), &target);
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
