/* gather.c - fetch from all servers at once; the first failure cancels the others. */
#include <coil.h>
#include <stdio.h>

struct fetch {
    const char *port;
    size_t bytes;
};

static int fetch(void *arg)
{
    struct fetch *f = arg;
    COIL_AUTO(coil_stream) stream = NULL;
    ssize_t n = coil_connect("127.0.0.1", f->port, &stream);
    char bytes[4096];

    while (n >= 0 && (n = coil_read(stream, bytes, sizeof bytes)) > 0)
        f->bytes += (size_t)n;
    return (int)n;
}

static int app(void *arg)
{
    char **ports = arg;
    struct fetch fetches[10] = {{NULL, 0}};
    size_t total = 0;
    int rc;

    COIL_WITH_GROUP(group, rc)
    for (int i = 0; i < 10 && ports[i] != NULL && rc == 0; i++) {
        fetches[i].port = ports[i];
        rc = coil_group_spawn(&group, fetch, &fetches[i], NULL, NULL);
    }
    for (int i = 0; i < 10; i++)
        total += fetches[i].bytes;
    if (rc == 0)
        printf("%zu\n", total);
    return rc;
}

int main(int argc, char **argv)
{
    return argc < 2 || coil_run(app, argv + 1, NULL) < 0;
}
