/*
 * hostile_echo.c - test an echo server on 300 bad networks; with a SEED, show one of
 * them.
 */
#include <coil.h>

#include <stdlib.h>
#include <string.h>

static int echo(coil_stream *stream, void *arg)
{
    char bytes[100];
    ssize_t n;

    (void)arg;
    while ((n = coil_read(stream, bytes, sizeof bytes)) > 0)
        if (coil_write(stream, bytes, (size_t)n) < 0)
            break;
    return 0; // a client that disconnects is not an error
}

/* Send the question until an answer arrives. An answer must never be wrong. */
static int client(void *port)
{
    char question[1000], answer[1000];
    int rc;

    for (int i = 0; i < 1000; i++)
        question[i] = (char)(i * i);
    do {
        coil_stream *stream = NULL;
        rc = coil_connect("192.0.2.1", port, &stream);
        if (rc == 0)
            rc = (int)coil_write(stream, question, sizeof question);
        if (rc >= 0)
            rc = (int)coil_read_exact(stream, answer, sizeof answer);
        coil_stream_destroy(stream);
    } while (rc == -ECONNREFUSED || rc == -ECONNRESET || rc == -EPIPE || rc == -ENODATA);
    return rc < 0 || memcmp(question, answer, sizeof answer) == 0
               ? rc
               : coil_fail(-COIL_EFAILED, "the answer is wrong");
}

static int test_echo(void *arg)
{
    COIL_AUTO(coil_listener) listener = NULL;
    COIL_AUTO(coil_server) server = NULL;
    int rc = coil_listen("192.0.2.1", "7", 0, &listener);

    if (rc == 0)
        rc = coil_server_create(listener, echo, arg, NULL, &server);
    if (rc < 0)
        return rc;
    COIL_WITH_GROUP(clients, rc)
    for (int i = 0; i < 5 && rc == 0; i++)
        rc = coil_group_spawn(&clients, client, "7", NULL, NULL);
    return rc < 0 ? rc : coil_server_stop(server);
}

int main(int argc, char *argv[])
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;

    for (uint64_t seed = first; seed < first + (argc > 1 ? 1 : 300); seed++) {
        coil_network_opts opts = coil_network_hostile(seed);

        opts.accept_limit_ppm = 0; // otherwise the server would report its pauses
        opts.log = argc > 1 ? stdout : NULL;
        coil_testing_network(&opts);
        if (coil_testing_run(test_echo, NULL) < 0)
            return printf("not on network %llu\n", (unsigned long long)seed), 1;
    }
    puts("right answers only");
    return 0;
}
