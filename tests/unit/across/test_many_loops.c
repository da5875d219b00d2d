/*
 * test_many_loops.c - one server on several loops: with a shared port, and with
 * connections that move from loop to loop.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 3
#define CLIENTS 60

/* Data that the threads share. */
struct world {
    char port[8];
    coil_promise *listening, *finished;
    coil_loop *_Atomic loops[THREADS];
    atomic_int served[THREADS];
};

static void on_every_backend(coil_task_fn fn)
{
    static const char *const backends[] = {"io_uring", "epoll", "poll", "select"};

    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        coil_run_opts opts = {.loop.backend = backends[i]};
        struct world world = {.listening = NULL};
        int rc;

        CHECK_INT(coil_promise_create(&world.listening), 0);
        CHECK_INT(coil_promise_create(&world.finished), 0);
        rc = coil_run_threads(THREADS, fn, &world, &opts);
        if (rc != -ENOSYS)
            CHECK_INT(rc, 0);
        coil_promise_release(world.listening);
        coil_promise_release(world.finished);
    }
}

/* ---- both ends --------------------------------------------------------------------- */

static int echo(coil_stream *stream)
{
    char buf[64];
    ssize_t n;

    while ((n = coil_read(stream, buf, sizeof buf)) > 0) {
        n = coil_write(stream, buf, (size_t)n);
        if (n < 0)
            break;
    }
    coil_stream_destroy(stream);
    return (int)n;
}

static int ask(void *arg)
{
    struct world *world = arg;
    coil_stream *stream;
    char buf[5];
    ssize_t n = coil_connect("127.0.0.1", world->port, &stream);

    if (n < 0)
        return (int)n;
    for (int i = 0; i < 3 && n >= 0; i++) {
        n = coil_write(stream, "hello", 5);
        if (n >= 0)
            n = coil_read_exact(stream, buf, 5);
        if (n >= 0 && memcmp(buf, "hello", 5) != 0)
            n = -EPROTO;
    }
    coil_stream_destroy(stream);
    return n < 0 ? (int)n : 0;
}

static int ask_all(struct world *world)
{
    coil_group g;
    int rc = 0;

    coil_group_enter(&g);
    for (int i = 0; i < CLIENTS && rc == 0; i++)
        rc = coil_group_spawn(&g, ask, world, NULL, NULL);
    return coil_group_exit(&g, rc);
}

static int listen_at(struct world *world, coil_listener **out)
{
    coil_listen_options opts = {
        .host = "127.0.0.1",
        .port = world->port[0] != '\0' ? world->port : "0",
        .reuse_port = true,
    };
    int rc = coil_listen_opts(&opts, out);

    if (rc == 0 && world->port[0] == '\0')
        snprintf(world->port, sizeof world->port, "%u",
                 (unsigned)coil_listener_port(*out));
    return rc;
}

/* ---- a shared port ----------------------------------------------------------------- */

static int serve_one(void *arg)
{
    return echo(arg);
}

static int accept_all(void *arg)
{
    coil_listener *listener = arg;
    coil_stream *stream;
    coil_group g;
    int rc;

    coil_group_enter(&g);
    while ((rc = coil_accept(listener, &stream)) == 0)
        rc = coil_group_spawn(&g, serve_one, stream, NULL, NULL);
    return coil_group_exit(&g, rc == -EBADF ? 0 : rc);
}

static int share_port(void *arg)
{
    struct world *world = arg;
    coil_listener *listener;
    coil_task *acceptor;
    int rc = 0;

    if (coil_thread_index() > 0)
        rc = coil_promise_await(world->listening);
    if (rc == 0)
        rc = listen_at(world, &listener);
    if (rc < 0)
        return rc;
    if (coil_thread_index() == 0)
        CHECK_INT(coil_promise_set(world->listening, 0, NULL, NULL), 0);
    CHECK_INT(coil_spawn(accept_all, listener, NULL, &acceptor), 0);
    /*
     * Each listener has its own backlog, from which no other listener can accept
     * connections. So all listeners must exist before the first request, and until all
     * requests have been answered.
     */
    world->served[coil_thread_index()] = 1;
    while (world->served[0] + world->served[1] + world->served[2] < THREADS && rc == 0)
        rc = coil_sleep(COIL_USEC(200));
    if (rc == 0 && coil_thread_index() == 0) {
        rc = ask_all(world);
        CHECK_INT(coil_promise_set(world->finished, rc, NULL, NULL), 0);
    } else if (rc == 0) {
        rc = coil_promise_await(world->finished);
    }
    coil_listener_close(listener);
    CHECK_INT(coil_task_await(acceptor), 0);
    coil_task_release(acceptor);
    coil_listener_destroy(listener);
    return rc;
}

TEST(many_loops_share_a_port)
{
    on_every_backend(share_port);
}

/* ---- connections that move --------------------------------------------------------- */

static struct world *moved_world;

static int serve_moved(void *arg)
{
    int rc = coil_stream_attach(arg);

    CHECK_INT(rc, 0);
    CHECK(coil_thread_index() > 0);
    moved_world->served[coil_thread_index()]++;
    return rc < 0 ? rc : echo(arg);
}

/*
 * Accept connections on thread 0, and pass them to the other threads, which serve them.
 */
static int deal_out(struct world *world, coil_listener *listener)
{
    static coil_promise *served[CLIENTS];
    int rc = 0;

    for (int i = 0; i < CLIENTS && rc == 0; i++) {
        coil_stream *stream;

        rc = coil_accept(listener, &stream);
        if (rc == 0)
            rc = coil_stream_detach(stream);
        if (rc == 0)
            rc = coil_spawn_threadsafe(world->loops[1 + i % (THREADS - 1)], serve_moved,
                                       stream, NULL, &served[i]);
        CHECK_INT(rc, 0);
    }
    for (int i = 0; i < CLIENTS && rc == 0; i++) {
        rc = coil_promise_await(served[i]);
        coil_promise_release(served[i]);
    }
    return rc;
}

static int ask_all_of(void *arg)
{
    return ask_all(arg);
}

static int accept_here(struct world *world)
{
    coil_listener *listener;
    coil_task *clients;
    int rc = listen_at(world, &listener);

    if (rc < 0)
        return rc;
    while (world->loops[1] == NULL || world->loops[2] == NULL)
        CHECK_INT(coil_sleep(COIL_USEC(200)), 0);
    CHECK_INT(coil_spawn(ask_all_of, world, NULL, &clients), 0);
    rc = deal_out(world, listener);
    CHECK_INT(coil_task_await(clients), 0);
    coil_task_release(clients);
    coil_listener_destroy(listener);
    CHECK_INT(world->served[1], CLIENTS / 2);
    CHECK_INT(world->served[2], CLIENTS / 2);
    return rc;
}

static int hand_over(void *arg)
{
    struct world *world = arg;
    int rc;

    if (coil_thread_index() > 0) {
        world->loops[coil_thread_index()] = coil_loop_retain(coil_loop_current());
        return coil_promise_await(world->finished);
    }
    moved_world = world;
    rc = accept_here(world);
    CHECK_INT(coil_promise_set(world->finished, rc, NULL, NULL), 0);
    for (int i = 1; i < THREADS; i++)
        coil_loop_release(world->loops[i]);
    return rc;
}

TEST(many_loops_hand_connections_over)
{
    on_every_backend(hand_over);
}
