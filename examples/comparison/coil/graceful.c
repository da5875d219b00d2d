/* graceful.c - after SIGTERM, stop accepting, and give handlers three seconds to end. */
#include <coil.h>
#include <stdio.h>

static int answer(coil_stream *stream, void *arg)
{
    char line[100];
    ssize_t n = coil_read_line(stream, line, sizeof line);

    (void)arg;
    if (n >= 0)
        n = coil_sleep(COIL_MSEC(500));
    if (n >= 0)
        n = coil_write(stream, "done\n", 5);
    return n < 0 ? (int)n : 0;
}

static int app(void *arg)
{
    COIL_AUTO(coil_listener) listener = NULL;
    int rc = coil_listen("127.0.0.1", "0", 0, &listener);

    (void)arg;
    if (rc < 0)
        return rc;
    printf("%u\n", coil_listener_port(listener));
    fflush(stdout);
    return coil_serve(listener, answer, NULL,
                      &(coil_server_opts){.grace_ns = COIL_SEC(3)});
}

int main(void)
{
    return coil_run(app, NULL, &(coil_run_opts){.take_sigterm = true}) != -EINTR;
}
