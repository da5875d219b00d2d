/*
 * graceful.c - a service that shuts down gracefully after SIGTERM (systemd, Docker,
 * Kubernetes), SIGHUP or Ctrl-C. The service stops accepting immediately, gives
 * conversations three seconds to end, cancels the others, and exits. A second signal of
 * the same kind kills the service.
 */
#include <coil.h>

#include <stdio.h>
#include <string.h>

static int shout(coil_stream *stream, void *arg)
{
    char line[100];
    ssize_t n;

    (void)arg;
    while ((n = coil_read_line(stream, line, sizeof line - 1)) >= 0) {
        memcpy(&line[n], "!\n", 2); // overwrites the '\0'; `- 1` left room for a byte
        if ((n = coil_write(stream, line, (size_t)n + 2)) < 0)
            break;
    }
    if (n == -ECANCELED) /* the time is up: send a last message, with a deadline */
        COIL_WITH_SHIELD(COIL_MSEC(100))
    coil_write(stream, "closing time\n", 13);
    return n == -ENODATA ? 0 : (int)n;
}

static int app(void *arg)
{
    static const coil_server_opts opts = {.grace_ns = COIL_SEC(3)};
    COIL_AUTO(coil_listener) listener = NULL;
    int rc = coil_listen("localhost", arg, 0, &listener);

    if (rc < 0)
        return rc;
    printf("serving on port %u\n", coil_listener_port(listener));
    fflush(stdout);
    return coil_serve(listener, shout, NULL, &opts); /* returns when cancelled */
}

int main(int argc, char **argv)
{
    int signo = 0, rc;

    rc = coil_run(app, argc > 1 ? argv[1] : "0",
                  &(coil_run_opts){.take_sigterm = true, .signo = &signo});
    if (rc != -EINTR)
        return rc < 0;
    printf("ended in good order by %s\n", strsignal(signo));
    return 0;
}
