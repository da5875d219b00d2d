/* graceful.c - after SIGTERM, stop accepting, and give handlers three seconds to end. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

struct client {
    uv_tcp_t tcp;
    uv_timer_t work;
    uv_write_t write;
    struct client *next, **previous;
    int open_handles;
    size_t length;
    char line[100];
};

static uv_tcp_t server;
static uv_signal_t term;
static uv_timer_t grace;
static struct client *clients;

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
    *c->previous = c->next;
    if (c->next != NULL)
        c->next->previous = c->previous;
    uv_close((uv_handle_t *)&c->tcp, on_close);
    uv_close((uv_handle_t *)&c->work, on_close);
    if (clients == NULL && uv_is_closing((uv_handle_t *)&server))
        uv_close((uv_handle_t *)&grace, NULL);
}

static void on_written(uv_write_t *write, int status)
{
    (void)status;
    end(write->data);
}

static void on_worked(uv_timer_t *timer)
{
    struct client *c = timer->data;
    uv_buf_t answer = uv_buf_init("done\n", 5);

    if (uv_write(&c->write, (uv_stream_t *)&c->tcp, &answer, 1, on_written) < 0)
        end(c);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    struct client *c = handle->data;

    (void)size;
    *buf = uv_buf_init(c->line + c->length, (unsigned)(sizeof c->line - c->length));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct client *c = stream->data;

    if (n < 0) {
        end(c);
        return;
    }
    c->length += (size_t)n;
    if (memchr(buf->base, '\n', (size_t)n) == NULL)
        return;
    uv_read_stop(stream);
    uv_timer_start(&c->work, on_worked, 500, 0);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct client *c = status == 0 ? calloc(1, sizeof *c) : NULL;

    if (c == NULL)
        return;
    c->tcp.data = c->work.data = c->write.data = c;
    c->open_handles = 2;
    c->next = clients;
    c->previous = &clients;
    if (clients != NULL)
        clients->previous = &c->next;
    clients = c;
    uv_tcp_init(listener->loop, &c->tcp);
    uv_timer_init(listener->loop, &c->work);
    if (uv_accept(listener, (uv_stream_t *)&c->tcp) < 0 ||
        uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read) < 0)
        end(c);
}

static void on_grace(uv_timer_t *timer)
{
    (void)timer;
    while (clients != NULL)
        end(clients);
}

static void on_term(uv_signal_t *handle, int signo)
{
    (void)signo;
    uv_close((uv_handle_t *)&server, NULL);
    uv_close((uv_handle_t *)handle, NULL);
    if (clients == NULL)
        uv_close((uv_handle_t *)&grace, NULL);
    else
        uv_timer_start(&grace, on_grace, 3000, 0);
}

int main(void)
{
    uv_loop_t *loop = uv_default_loop();
    struct sockaddr_in address;
    int length = sizeof address;

    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_timer_init(loop, &grace);
    uv_signal_init(loop, &term);
    uv_tcp_init(loop, &server);
    if (uv_signal_start(&term, on_term, SIGTERM) < 0 ||
        uv_tcp_bind(&server, (struct sockaddr *)&address, 0) < 0 ||
        uv_listen((uv_stream_t *)&server, 128, on_connection) < 0)
        return 1;
    uv_tcp_getsockname(&server, (struct sockaddr *)&address, &length);
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    return uv_run(loop, UV_RUN_DEFAULT);
}
