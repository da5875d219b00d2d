/*
 * secure_echo.c - an echo server with TLS, and with limits on its clients:
 *
 *     secure_echo cert.pem key.pem 4443      openssl s_client -quiet -connect localhost:4443
 *
 * A server on the Internet should limit the resources that a client can occupy:
 * connections, idle time, and handshakes, which cost the most. With TLS 1.2, only ciphers
 * with forward secrecy are allowed unless .ciphers names others.
 */
#include <coil.h>
#include <coil/tls.h>

#include <stdio.h>

static int echo(coil_stream *stream, void *arg)
{
    ssize_t n = coil_copy(stream, stream);

    (void)arg;
    return n < 0 ? (int)n : 0;
}

static int serve(coil_tls *tls, const char *port)
{
    const coil_server_opts opts = {
        .tls = tls,
        .max_connections = 1000,
        // at a time; further connections wait in the backlog
        .max_handshakes = 50,
        .handshake_ns = COIL_SEC(5), // the default is 10 s
        .idle_ns = COIL_SEC(60),
        .grace_ns = COIL_SEC(3),
    };
    COIL_AUTO(coil_listener) listener = NULL;
    int rc = coil_listen("localhost", port, 0, &listener);

    if (rc < 0)
        return rc;
    printf("serving on port %u\n", coil_listener_port(listener));
    fflush(stdout);
    return coil_serve(listener, echo, NULL, &opts);
}

static int app(void *arg)
{
    char **argv = arg;
    COIL_AUTO(coil_tls) tls = NULL;
    int rc = coil_tls_create(
        &(coil_tls_opts){.certificate_file = argv[1], .key_file = argv[2]}, &tls);

    return rc < 0 ? rc : serve(tls, argv[3]); // the message names the file and the error
}

int main(int argc, char **argv)
{
    int rc;

    if (argc != 4) {
        fprintf(stderr, "usage: secure_echo CERTIFICATE KEY PORT\n");
        return 2;
    }
    rc = coil_run(app, argv, &(coil_run_opts){.take_sigterm = true});
    return rc < 0 && rc != -EINTR;
}
