/* needs: coil-testing certificate */
/* tls.c - compiles and runs the examples in docs/manual/tls.md. */
#include "simulated.h"

static int talk(coil_stream *s)
{
    char line[10];

    CHECK(coil_write(s, "hello\n", 6) == 6);
    return coil_read_line(s, line, sizeof line) == 5 ? coil_tls_stop(s) : -EPROTO;
}

static int answer(coil_stream *s)
{
    char line[10];

    CHECK(coil_read_line(s, line, sizeof line) == 5);
    return (int)coil_write(s, "hello\n", 6);
}

#include "tls.md/tls"
#include "tls.md/a-server"

static int create(coil_tls **out)
{
    coil_tls *tls;
    int rc;

#include "tls.md/a-server-2"
    *out = tls;
    return rc;
}

static int add_names(coil_tls *tls, coil_tls *www, coil_tls *net)
{
    int rc;

#include "tls.md/a-server-3"
    return rc;
}

#include "tls.md/certificates-that-change"

static void reload_twice(void)
{
    coil_tls_opts opts = {.certificate_file = "fullchain.pem", .key_file = "privkey.pem"};
    coil_tls *chosen;

    CHECK(choose("localhost", NULL) == NULL);
    CHECK(reload(&opts) == 0 && reload(&opts) == 0);
    opts.key_file = "none.pem";
    CHECK(reload(&opts) < 0);
    chosen = choose("localhost", NULL);
    CHECK(chosen == newest);
    coil_tls_release(chosen);
    coil_tls_release(newest);
}

static int start(coil_stream *s)
{
    char line[100];
    int rc;

#include "tls.md/starttls"
    return rc;
}

struct accepting {
    coil_listener *listener;
    coil_tls *tls;
};

static int accept_one(void *arg)
{
    struct accepting *accepting = arg;
    coil_stream *s;
    int rc = coil_accept(accepting->listener, &s);

    return rc < 0 ? rc : serve(s, accepting->tls);
}

static int offer_tls(coil_stream *s, void *tls)
{
    CHECK(coil_write(s, "220 go ahead\r\n", 14) == 14);
    return coil_accept_tls(s, tls);
}

static int app(void *arg)
{
    struct accepting accepting;
    struct host host;
    coil_stream *s;
    coil_task *task;
    coil_tls *tls, *www;
    int rc = create(&tls);

    (void)arg;
    if (rc == -ENOSYS)
        return 0; // coil was built without OpenSSL
    reload_twice();
    CHECK(rc == 0 && create(&www) == 0 && add_names(tls, www, www) == 0);
    use_known_hosts();

    accepting.tls = tls;
    CHECK(coil_listen(NULL, "443", 0, &accepting.listener) == 0);
    CHECK(coil_spawn(accept_one, &accepting, NULL, &task) == 0);
    CHECK(talk_to("example.org") == 0 && coil_task_await(task) >= 0);
    coil_task_release(task);
    coil_listener_destroy(accepting.listener);

    open_host(&host, "25", offer_tls, tls);
    CHECK(coil_connect("mail.example.org", "25", &s) == 0 && start(s) == 0);
    coil_stream_destroy(s);
    close_host(&host);
    coil_tls_release(www);
    coil_tls_release(tls);
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
