/*
 * hiredis_get.c - makes GET requests with hiredis, a blocking library, in tasks or in
 * threads.
 *
 *     hiredis_get coil|threads SOCKET CONNECTIONS COUNT
 *
 * The program makes COUNT requests in total. The program prints the processor time of a
 * request, and the user part of that, in microseconds. Connecting is included.
 */
#include <coil.h>

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define STACK_BYTES ((size_t)256 * 1024)

static const char *socket_path;
static int connections, requests; /* of each connection */

static void stop(const char *why)
{
    fprintf(stderr, "hiredis_get: %s\n", why);
    exit(1);
}

static int use(void *unused)
{
    redisContext *redis = redisConnectUnix(socket_path);

    (void)unused;
    if (redis == NULL || redis->err != 0)
        stop("no connection");
    for (int i = 0; i < requests; i++) {
        redisReply *reply = redisCommand(redis, "GET key");

        if (reply == NULL)
            stop(redis->errstr);
        freeReplyObject(reply);
    }
    redisFree(redis);
    return 0;
}

static int use_in_tasks(void *unused)
{
    coil_spawn_opts opts = {.stack_bytes = STACK_BYTES};
    coil_group group;
    int rc = 0;

    (void)unused;
    coil_group_enter(&group);
    for (int i = 0; i < connections && rc == 0; i++)
        rc = coil_group_spawn(&group, use, NULL, &opts, NULL);
    return coil_group_exit(&group, rc);
}

static void *use_on_thread(void *unused)
{
    use(NULL);
    return unused;
}

static void use_in_threads(void)
{
    pthread_t *threads = calloc((size_t)connections, sizeof *threads);

    for (int i = 0; i < connections; i++)
        if (pthread_create(&threads[i], NULL, use_on_thread, NULL) != 0)
            stop("no thread");
    for (int i = 0; i < connections; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

static double microseconds(const struct timeval *t)
{
    return (double)t->tv_sec * 1e6 + (double)t->tv_usec;
}

int main(int argc, char **argv)
{
    struct timespec cpu;
    struct rusage usage;
    double count;

    if (argc != 5)
        stop("usage: coil|threads SOCKET CONNECTIONS COUNT");
    socket_path = argv[2];
    connections = atoi(argv[3]);
    requests = atoi(argv[4]) / connections;
    count = (double)requests * connections;
    if (strcmp(argv[1], "threads") == 0)
        use_in_threads();
    else if (coil_run(use_in_tasks, NULL, NULL) < 0)
        stop("coil_run() has failed");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    getrusage(RUSAGE_SELF, &usage);
    printf("%.3f %.3f\n", ((double)cpu.tv_sec * 1e6 + (double)cpu.tv_nsec / 1e3) / count,
           microseconds(&usage.ru_utime) / count);
    return 0;
}
