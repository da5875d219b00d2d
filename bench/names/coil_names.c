/*
 * coil_names.c - looks up N names, each in a task of its own, 100 tasks at a time.
 *
 * coil_names SERVER N: prints the microseconds for each name. Each name is queried once,
 * so the cache does not help.
 */
#include <coil.h>

#include <stdio.h>
#include <stdlib.h>

#define WORKERS 100

static int names, next_name, failures;

static int work(void *arg)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *list;
    char name[32];

    (void)arg;
    while (next_name < names) {
        snprintf(name, sizeof name, "host%d.bench.", next_name++);
        if (coil_getaddrinfo(name, "80", &hints, &list) == 0)
            freeaddrinfo(list);
        else
            failures++;
    }
    return 0;
}

static int run(void *arg)
{
    coil_resolver_opts opts = {.engine = "c-ares", .servers = arg};
    coil_group group;
    int64_t before;
    int rc = 0;

    if (coil_resolver_configure(&opts) < 0)
        return -EINVAL;
    before = coil_now();
    coil_group_enter(&group);
    for (int i = 0; i < WORKERS && rc == 0; i++)
        rc = coil_group_spawn(&group, work, NULL, NULL, NULL);
    rc = coil_group_exit(&group, rc);
    printf("%.3f\n", (double)(coil_now() - before) / 1000 / names);
    return rc < 0 ? rc : failures;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    names = atoi(argv[2]);
    return coil_run(run, argv[1], NULL) != 0;
}
