/*
 * client.h - runs a blocking client in tasks or in threads, and measures it.
 *
 *     PROGRAM coil|threads|async SERVER CONNECTIONS COUNT
 *
 * The program opens all connections, and then makes COUNT requests in total. The program
 * prints four figures: the processor time per request in microseconds, the user part of
 * that time, the requests per second, and the peak memory of the process in MB, including
 * page tables. The times do not include opening and closing the connections.
 *
 * `async` uses the client library's own asynchronous interface, in one thread.
 */
#ifndef BENCH_CLIENT_H
#define BENCH_CLIENT_H

#include <coil.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define STACK_BYTES ((size_t)256 * 1024)

/* These functions call client_stop() if they fail. */
struct client {
    void *(*open)(const char *server);
    void (*request)(void *connection);
    void (*close)(void *connection);
    /* Make `requests` requests over each connection. */
    void (*use_async)(void **connections, int count, int requests);
};

struct client_run {
    const struct client *client;
    const char *server;
    void **connections;
    int count, requests; /* number of connections; requests per connection */
    int next;            /* index of the next connection to open or to use */
    pthread_mutex_t lock;
    double cpu, user, wall; /* in microseconds */
};

static inline void client_stop(const char *why)
{
    fprintf(stderr, "client: %s\n", why);
    exit(1);
}

static inline void **client_take(struct client_run *run)
{
    int i;

    pthread_mutex_lock(&run->lock);
    i = run->next++;
    pthread_mutex_unlock(&run->lock);
    return &run->connections[i];
}

static inline int client_open(void *arg)
{
    struct client_run *run = arg;

    *client_take(run) = run->client->open(run->server);
    return 0;
}

static inline int client_use(void *arg)
{
    struct client_run *run = arg;
    void *connection = *client_take(run);

    for (int i = 0; i < run->requests; i++)
        run->client->request(connection);
    return 0;
}

/* ---- measuring --------------------------------------------------------------------- */

static inline double client_clock(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static inline double client_user(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec * 1e6 + (double)usage.ru_utime.tv_usec;
}

/* Add the clocks to the run's times if `sign` is 1, or subtract them if it is -1. */
static inline void client_add_clocks(struct client_run *run, int sign)
{
    run->wall += sign * client_clock(CLOCK_MONOTONIC);
    run->cpu += sign * client_clock(CLOCK_PROCESS_CPUTIME_ID);
    run->user += sign * client_user();
}

static inline double client_memory(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    double kib = 0, n;
    char line[200];

    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmHWM: %lf", &n) == 1 || sscanf(line, "VmPTE: %lf", &n) == 1)
            kib += n;
    if (status != NULL)
        fclose(status);
    return kib / 1024;
}

static inline void client_print(const struct client_run *run)
{
    double count = (double)run->requests * run->count;

    printf("%.3f %.3f %.0f %.2f\n", run->cpu / count, run->user / count,
           count * 1e6 / run->wall, client_memory());
}

/* ---- tasks and threads ------------------------------------------------------------- */

static inline int client_in_tasks(struct client_run *run, coil_task_fn fn)
{
    coil_spawn_opts opts = {.stack_bytes = STACK_BYTES};
    coil_group group;
    int rc = 0;

    run->next = 0;
    coil_group_enter(&group);
    for (int i = 0; i < run->count && rc == 0; i++)
        rc = coil_group_spawn(&group, fn, run, &opts, NULL);
    return coil_group_exit(&group, rc);
}

static inline int client_main_task(void *arg)
{
    struct client_run *run = arg;
    int rc = client_in_tasks(run, client_open);

    if (rc < 0)
        return rc;
    client_add_clocks(run, -1);
    rc = client_in_tasks(run, client_use);
    client_add_clocks(run, 1);
    return rc;
}

static inline void *client_open_on_thread(void *run)
{
    client_open(run);
    return NULL;
}

static inline void *client_use_on_thread(void *run)
{
    client_use(run);
    return NULL;
}

static inline void client_in_threads(struct client_run *run, void *(*fn)(void *))
{
    pthread_t *threads = calloc((size_t)run->count, sizeof *threads);
    pthread_attr_t attr;

    run->next = 0;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    for (int i = 0; i < run->count; i++)
        if (threads == NULL || pthread_create(&threads[i], &attr, fn, run) != 0)
            client_stop("no thread");
    for (int i = 0; i < run->count; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attr);
    free(threads);
}

static inline void client_by_threads(struct client_run *run)
{
    client_in_threads(run, client_open_on_thread);
    client_add_clocks(run, -1);
    client_in_threads(run, client_use_on_thread);
    client_add_clocks(run, 1);
}

static inline void client_by_async(struct client_run *run)
{
    for (int i = 0; i < run->count; i++)
        client_open(run);
    client_add_clocks(run, -1);
    run->client->use_async(run->connections, run->count, run->requests);
    client_add_clocks(run, 1);
}

static inline int client_main(const struct client *client, int argc, char **argv)
{
    struct client_run run = {.client = client, .lock = PTHREAD_MUTEX_INITIALIZER};

    if (argc != 5)
        client_stop("usage: coil|threads|async SERVER CONNECTIONS COUNT");
    run.server = argv[2];
    run.count = atoi(argv[3]);
    run.requests = atoi(argv[4]) / run.count;
    run.connections = calloc((size_t)run.count, sizeof *run.connections);
    if (run.connections == NULL)
        client_stop("no memory");
    if (strcmp(argv[1], "threads") == 0)
        client_by_threads(&run);
    else if (strcmp(argv[1], "async") == 0)
        client_by_async(&run);
    else if (coil_run(client_main_task, &run, NULL) < 0)
        client_stop("coil_run() has failed");
    client_print(&run);
    for (int i = 0; i < run.count; i++)
        client->close(run.connections[i]);
    free(run.connections);
    return 0;
}

#endif
