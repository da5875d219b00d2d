/*
 * knock.c - print which ports of an address are open, and the greeting of each service:
 *
 *     knock 127.0.0.1 20 25
 *
 * A group with a limit tries ten ports at a time. Each try may take two seconds: a scope
 * with a deadline surrounds the call, which returns a count.
 */
#include <coil.h>

#include <stdio.h>
#include <stdlib.h>

static unsigned ports[2]; // the first and the last port

static ssize_t greeting(const coil_address *address, char *text, size_t size)
{
    COIL_AUTO(coil_stream) stream = NULL; // closed whenever the function returns
    ssize_t n = coil_connect_address(address, &stream);

    if (n < 0)
        return n;
    snprintf(text, size, "open");
    return coil_read_line(stream, text, size);
}

static int knock(void *arg)
{
    const coil_address *address = arg;
    char text[256] = "closed";
    ssize_t n;

    COIL_WITH_DEADLINE(COIL_SEC(2), n) // the count, or -ETIMEDOUT after two seconds
    n = greeting(address, text, sizeof text);
    if (n == -ECANCELED)
        return -ECANCELED;
    printf("%u: %s%s\n", coil_address_port(address), n >= 0 ? "says " : "", text);
    return 0; // a closed port is not an error
}

static int app(void *host)
{
    coil_address address;
    coil_spawn_opts opts = {.arg_bytes = sizeof address};
    int rc;

    COIL_WITH_GROUP(group, rc)
    {
        coil_group_set_limit(&group, 10);
        for (unsigned port = ports[0]; port <= ports[1] && rc == 0; port++) {
            rc = coil_address_of_numbers(host, (uint16_t)port, &address);
            if (rc == 0)
                rc = coil_group_spawn_when_free(&group, knock, &address, &opts, NULL);
        }
    }
    return rc;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 2 && argc == 4; i++)
        ports[i] = (unsigned)strtoul(argv[2 + i], NULL, 10);
    if (argc != 4 || ports[1] > UINT16_MAX) {
        fprintf(stderr, "usage: knock ADDRESS FIRST LAST\n");
        return 2;
    }
    return coil_run(app, argv[1], NULL) < 0;
}
