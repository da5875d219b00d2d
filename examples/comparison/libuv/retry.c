/* retry.c - connect, with up to ten attempts and a pause that doubles. */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

static struct sockaddr_in target;
static uv_tcp_t tcp;
static uv_connect_t request;
static uv_timer_t timer;
static unsigned pause_ms = 10;
static int attempts, result = UV_ETIMEDOUT;

static void attempt(uv_timer_t *unused);

static void on_closed(uv_handle_t *handle)
{
    (void)handle;
    if (result == UV_ECONNREFUSED && attempts < 10) {
        uv_timer_start(&timer, attempt, pause_ms, 0);
        pause_ms *= 2;
    }
}

static void on_deadline(uv_timer_t *unused)
{
    (void)unused;
    uv_close((uv_handle_t *)&tcp, on_closed); /* on_connect() gets UV_ECANCELED */
}

static void on_connect(uv_connect_t *connect, int status)
{
    (void)connect;
    uv_timer_stop(&timer);
    result = status == UV_ECANCELED ? UV_ETIMEDOUT : status;
    if (status == 0)
        puts("connected");
    if (!uv_is_closing((uv_handle_t *)&tcp))
        uv_close((uv_handle_t *)&tcp, on_closed);
}

static void attempt(uv_timer_t *unused)
{
    (void)unused;
    attempts++;
    uv_tcp_init(timer.loop, &tcp);
    result = uv_tcp_connect(&request, &tcp, (struct sockaddr *)&target, on_connect);
    if (result < 0)
        uv_close((uv_handle_t *)&tcp, on_closed);
    else
        uv_timer_start(&timer, on_deadline, 5000, 0);
}

int main(int argc, char **argv)
{
    uv_loop_t *loop = uv_default_loop();

    if (argc != 2)
        return 2;
    uv_ip4_addr("127.0.0.1", atoi(argv[1]), &target);
    uv_timer_init(loop, &timer);
    attempt(&timer);
    uv_run(loop, UV_RUN_DEFAULT);
    return result < 0;
}
