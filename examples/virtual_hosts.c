/*
 * virtual_hosts.c - a TLS server with a certificate for each name, which SIGHUP reloads.
 *
 *     virtual_hosts PORT a.example b.example     reads a.example.pem and b.example.pem
 *
 * Each file has a certificate and its key. Unknown names get the first certificate. If
 * SSLKEYLOGFILE=keys is set, coil writes the session keys to that file for Wireshark.
 */
#include <coil.h>

#include <signal.h>
#include <stdio.h>
#include <strings.h>

static char **names; // ends with NULL
static coil_tls *contexts[100];

static coil_tls *choose(const char *name, void *arg)
{
    (void)arg;
    for (int i = 1; names[i] != NULL; i++)
        if (strcasecmp(names[i], name) == 0)
            return coil_tls_retain(contexts[i]);
    return coil_tls_retain(contexts[0]);
}

// If a file is invalid, its old context remains in use.
static int load(void)
{
    for (int i = 0; names[i] != NULL; i++) {
        COIL_AUTO(coil_tls) tls = NULL;
        char file[300];
        snprintf(file, sizeof file, "%s.pem", names[i]);
        int rc = coil_tls_create(
            &(coil_tls_opts){.certificate_file = file, .choose = choose}, &tls);
        if (rc < 0)
            return rc;
        coil_tls_release(contexts[i]);
        contexts[i] = COIL_TAKE(tls);
    }
    return 0;
}

static void reload(void *arg)
{
    (void)arg;
    puts(load() < 0 ? coil_error_message(coil_last_error()) : "reloaded");
}

static int greet(coil_stream *stream, void *arg)
{
    (void)arg;
    return (int)coil_write(stream, "hello\n", 6);
}

static int app(void *port)
{
    COIL_AUTO(coil_listener) listener = NULL;
    int rc = coil_add_signal_handler(SIGHUP, reload, NULL);

    if (rc == 0 && (rc = load()) == 0)
        rc = coil_listen("localhost", port, 0, &listener);
    if (rc < 0)
        return rc;
    printf("serving on port %u\n", coil_listener_port(listener));
    return coil_serve(listener, greet, NULL, &(coil_server_opts){.tls = contexts[0]});
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 101)
        return 2;
    names = argv + 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    int rc = coil_run(app, argv[1], NULL); // until Ctrl-C
    for (int i = 0; names[i] != NULL; i++)
        coil_tls_release(contexts[i]);
    return rc != -EINTR;
}
