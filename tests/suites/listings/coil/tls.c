/* needs: coil-testing certificate */
/* tls.c - compiles and runs the examples in include/coil/tls.h. */
#include "simulated.h"

static int get(const char *request)
{
    char buf[100];
    ssize_t rc;

#include "tls.h/1"
    return (int)rc;
}

static int answer(coil_stream *stream, void *tls)
{
    char line[100];
    int rc = coil_accept_tls(stream, tls);

    if (rc == 0)
        rc = (int)coil_read_line(stream, line, sizeof line);
    return rc < 0 ? rc : (int)coil_write(stream, "an answer\n", 10);
}

static int app(void *arg)
{
    coil_tls_opts opts = {.certificate_file = "fullchain.pem", .key_file = "privkey.pem"};
    struct host host;
    coil_tls *tls;
    int rc = coil_tls_create(&opts, &tls);

    (void)arg;
    if (rc == -ENOSYS)
        return 0; // coil was built without OpenSSL
    CHECK(rc == 0);
    use_known_hosts();
    open_host(&host, "443", answer, tls);
    CHECK(get("a question\n") == 0);
    close_host(&host);
    coil_tls_release(tls);
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
