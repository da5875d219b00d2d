/*
 * traceback.c - a failure three calls deep, in a task that another task awaits.
 */
#include <coil.h>

#include <stdio.h>
#include <stdlib.h>

static int port_of(const char *line)
{
    int port = atoi(line);

    if (port <= 0)
        return coil_fail(-EINVAL, "'%s' is not a port", line);
    return port;
}

static int largest_port(const char *const lines[], size_t n)
{
    int largest = 0;

    for (size_t i = 0; i < n; i++) {
        int port = port_of(lines[i]);
        if (port < 0)
            return port;
        if (port > largest)
            largest = port;
    }
    return largest;
}

static int read_config(void *arg)
{
    static const char *const lines[] = {"80", "http"};

    (void)arg;
    return largest_port(lines, 2);
}

static int start_server(void *arg)
{
    coil_task *config;
    int port =
        coil_spawn(read_config, NULL, &(coil_spawn_opts){.name = "config"}, &config);

    (void)arg;
    if (port < 0)
        return port;
    port = coil_task_await(config);
    coil_task_release(config);
    if (port < 0)
        return port;
    return printf("port %d\n", port);
}

static int app(void *arg)
{
    coil_task *server;
    int rc = coil_spawn(start_server, arg, &(coil_spawn_opts){.name = "server"}, &server);

    if (rc < 0)
        return rc;
    rc = coil_task_await(server);
    if (rc < 0)
        coil_error_print(coil_last_error(), stdout);
    coil_task_release(server);
    return 0;
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
