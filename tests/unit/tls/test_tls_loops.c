/*
 * test_tls_loops.c - TLS on several threads: contexts that loops share, and streams that
 * move between loops.
 */
#include "certificates.h"
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- two ends ---------------------------------------------------------------------- */

struct shared {
    struct certificates files;
    coil_tls *server, *client;
};

static void share(struct shared *s)
{
    certificates_make(&s->files);
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.certificate_file = s->files.server},
                              &s->server),
              0);
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.ca_file = s->files.root}, &s->client), 0);
}

static void forget(struct shared *s)
{
    coil_tls_release(s->server);
    coil_tls_release(s->client);
    certificates_remove(&s->files);
}

struct accepting {
    coil_stream *stream;
    coil_tls *tls;
};

static int accept_it(void *arg)
{
    struct accepting *a = arg;

    return coil_accept_tls(a->stream, a->tls);
}

/* Make a TLS connection. ends[0] is the client's end. */
static void connect_ends(struct shared *s, coil_stream *ends[2])
{
    struct accepting a = {.tls = coil_tls_retain(s->server)};
    coil_task *task;

    connect_streams(ends);
    a.stream = ends[1];
    CHECK_INT(coil_spawn(accept_it, &a, NULL, &task), 0);
    CHECK_INT(coil_start_tls(ends[0], s->client, "localhost"), 0);
    finish(task);
    coil_tls_release(a.tls);
}

/* ---- contexts on all threads ------------------------------------------------------- */

#define CONNECTIONS 20

/*
 * Make connections with the shared contexts. The threads also share sessions, so a ticket
 * may be used on any thread.
 */
static int use_contexts(void *arg)
{
    int resumed = 0;

    for (int i = 0; i < CONNECTIONS; i++) {
        coil_stream *ends[2];

        connect_ends(arg, ends);
        check_talk(ends[1], ends[0], "with tickets");
        check_talk(ends[0], ends[1], "thanks");
        resumed += coil_tls_resumed(ends[0]);
        destroy_streams(ends);
    }
    CHECK(resumed > 0);
    return 0;
}

TEST(tls_threads_share_contexts)
{
    struct shared s;

    share(&s);
    CHECK_INT(coil_run_threads(2, use_contexts, &s, NULL), 0);
    forget(&s);
}

/*
 * Make connections with the default context, which both threads need at the same time and
 * share.
 */
static int use_the_default(void *arg)
{
    struct shared copy = *(struct shared *)arg;

    copy.client = NULL;
    return use_contexts(&copy);
}

TEST(tls_threads_share_the_default_context)
{
    struct shared s;

    share(&s);
    setenv("SSL_CERT_FILE", s.files.root, 1);
    CHECK_INT(coil_run_threads(2, use_the_default, &s, NULL), 0);
    forget(&s);
}

/* ---- to another loop --------------------------------------------------------------- */

struct moved {
    coil_stream *stream;
    const char *backend;
    coil_task_fn use; /* function of a task, whose argument is this struct */
    char line[64];
    const unsigned char *bytes;
    size_t n;
};

static int use_moved(void *arg)
{
    struct moved *m = arg;
    int rc = coil_stream_attach(m->stream);

    if (rc == 0)
        rc = m->use(m);
    return rc == 0 ? coil_stream_detach(m->stream) : rc;
}

static void *run_elsewhere(void *arg)
{
    struct moved *m = arg;
    coil_run_opts opts = {.loop.backend = m->backend, .no_signals = true};
    int rc = coil_run(use_moved, m, &opts);

    if (rc == -ENOSYS) { /* too little lockable memory for a second ring */
        opts.loop.backend = "epoll";
        rc = coil_run(use_moved, m, &opts);
    }
    CHECK_INT(rc, 0);
    return NULL;
}

static pthread_t move(struct moved *m)
{
    pthread_t thread;

    m->backend = coil_backend_name();
    CHECK_INT(coil_stream_detach(m->stream), 0);
    CHECK_INT(pthread_create(&thread, NULL, run_elsewhere, m), 0);
    return thread;
}

static int answer_line(void *arg)
{
    struct moved *m = arg;

    CHECK_INT(coil_read_line(m->stream, m->line, sizeof m->line), 11);
    CHECK_INT(coil_write(m->stream, m->line, 11), 11);
    CHECK_STR(coil_tls_version(m->stream), "TLSv1.3");
    return 0;
}

/*
 * Move a stream while some bytes are decrypted, some were received but are still
 * encrypted, and some have not arrived yet. All bytes must be read in order.
 */
IO_TEST(tls_stream_goes_to_another_loop_and_back)
{
    struct moved m = {.use = answer_line};
    struct shared s;
    coil_stream *ends[2];
    const void *data;
    char buf[64] = "";
    pthread_t thread;

    share(&s);
    connect_ends(&s, ends);
    m.stream = ends[0];
    CHECK_INT(coil_write(ends[1], "half a ", 7), 7);
    CHECK_INT(coil_write(ends[1], "li", 2), 2);
    CHECK_INT(coil_peek(ends[0], &data, 7), 7);
    thread = move(&m);
    CHECK_INT(coil_write(ends[1], "ne\nmore", 7), 7);
    CHECK_INT(coil_read_exact(ends[1], buf, 11), 11);
    CHECK_STR(buf, "half a line");
    pthread_join(thread, NULL);
    CHECK_STR(m.line, "half a line");
    CHECK_INT(coil_stream_attach(ends[0]), 0);
    memset(buf, 0, sizeof buf);
    CHECK_INT(coil_read_exact(ends[0], buf, 4), 4);
    CHECK_STR(buf, "more");
    check_talk(ends[0], ends[1], "home");
    destroy_streams(ends);
    forget(&s);
}

#define LARGE ((size_t)24 * 1024 * 1024)

static int write_the_rest(void *arg)
{
    struct moved *m = arg;

    CHECK_INT(coil_write(m->stream, m->bytes, m->n), m->n);
    return coil_stream_shutdown_write(m->stream);
}

static void check_receives(coil_stream *stream)
{
    static unsigned char buf[65536];
    size_t count = 0, wrong = 0;
    ssize_t n;

    while ((n = coil_read(stream, buf, sizeof buf)) > 0)
        for (ssize_t i = 0; i < n; i++)
            wrong += buf[i] != pattern_byte(count++);
    CHECK_INT(n, 0);
    CHECK_INT(count, LARGE);
    CHECK_INT(wrong, 0);
}

/* If a part of a record was sent on one loop, the rest must be sent on the other. */
IO_TEST(tls_stream_takes_a_cut_record_along)
{
    struct moved m = {.use = write_the_rest};
    unsigned char *bytes = malloc(LARGE);
    struct shared s;
    coil_stream *ends[2];
    coil_scope scope;
    pthread_t thread;
    ssize_t n;

    for (size_t i = 0; i < LARGE; i++)
        bytes[i] = pattern_byte(i);
    share(&s);
    connect_ends(&s, ends);
    coil_scope_enter(&scope, coil_in(COIL_MSEC(5)));
    n = coil_write(ends[0], bytes, LARGE); /* nobody reads */
    CHECK_INT(coil_scope_exit(&scope, (int)n), -ETIMEDOUT);
    m.stream = ends[0];
    m.n = LARGE - coil_stream_write_transferred(ends[0]);
    m.bytes = bytes + LARGE - m.n;
    thread = move(&m);
    check_receives(ends[1]);
    pthread_join(thread, NULL);
    destroy_streams(ends);
    free(bytes);
    forget(&s);
}

static void *destroy_elsewhere(void *arg)
{
    coil_stream_destroy(arg);
    return NULL;
}

/* A detached stream can be destroyed on any thread, without sending a close_notify. */
IO_TEST(tls_stream_that_is_detached_is_destroyed_anywhere)
{
    struct shared s;
    coil_stream *ends[2];
    pthread_t thread;
    char byte;

    share(&s);
    connect_ends(&s, ends);
    check_talk(ends[1], ends[0], "with the tickets");
    CHECK_INT(coil_stream_detach(ends[0]), 0);
    CHECK_INT(pthread_create(&thread, NULL, destroy_elsewhere, ends[0]), 0);
    pthread_join(thread, NULL);
    CHECK_INT(coil_read(ends[1], &byte, 1), -ECONNABORTED);
    coil_stream_destroy(ends[1]);
    forget(&s);
}
