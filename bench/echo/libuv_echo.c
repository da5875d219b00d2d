/*
 * libuv_echo.c - echo with libuv's callbacks. The server first tries to write, and only
 * queues the bytes that remain.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { BUFFER = 4096, BACKLOG = 4096 };

struct write {
    uv_write_t request;
    char bytes[];
};

/* shared by all connections, because it is empty again before the next read */
static char buffer[BUFFER];

static void give_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    (void)handle, (void)suggested;
    *out = uv_buf_init(buffer, sizeof buffer);
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

static void drop(uv_stream_t *client)
{
    if (!uv_is_closing((uv_handle_t *)client))
        uv_close((uv_handle_t *)client, free_handle);
}

static void read_again(uv_write_t *request, int status);

static void echo(uv_stream_t *client, ssize_t n, const uv_buf_t *in)
{
    uv_buf_t out = uv_buf_init(in->base, n > 0 ? (unsigned)n : 0);
    struct write *write;
    int sent;

    if (n == 0)
        return;
    if (n < 0) {
        drop(client);
        return;
    }
    sent = uv_try_write(client, &out, 1);
    if (sent == n)
        return;
    if (sent < 0)
        sent = 0; /* uv_write() will return the error */
    out.len -= (size_t)sent;
    write = malloc(sizeof *write + out.len);
    if (write == NULL) {
        drop(client);
        return;
    }
    out.base = memcpy(write->bytes, in->base + sent, out.len);
    uv_read_stop(client);
    if (uv_write(&write->request, client, &out, 1, read_again) < 0) {
        free(write);
        drop(client);
    }
}

static void read_again(uv_write_t *request, int status)
{
    if (status < 0)
        drop(request->handle);
    else
        uv_read_start(request->handle, give_buffer, echo);
    free(request);
}

static void accept_one(uv_stream_t *listener, int status)
{
    uv_tcp_t *client = status == 0 ? malloc(sizeof *client) : NULL;

    if (client == NULL)
        return;
    uv_tcp_init(listener->loop, client);
    if (uv_accept(listener, (uv_stream_t *)client) < 0) {
        drop((uv_stream_t *)client);
        return;
    }
    uv_tcp_nodelay(client, 1);
    uv_read_start((uv_stream_t *)client, give_buffer, echo);
}

int main(void)
{
    uv_loop_t *loop = uv_default_loop();
    uv_tcp_t listener;
    struct sockaddr_in address;
    int length = sizeof address;

    signal(SIGPIPE, SIG_IGN); /* a client may disconnect before it gets its answer */
    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_tcp_init(loop, &listener);
    if (uv_tcp_bind(&listener, (struct sockaddr *)&address, 0) < 0 ||
        uv_listen((uv_stream_t *)&listener, BACKLOG, accept_one) < 0 ||
        uv_tcp_getsockname(&listener, (struct sockaddr *)&address, &length) < 0)
        return 1;
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    return uv_run(loop, UV_RUN_DEFAULT);
}
