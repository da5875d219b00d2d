/*
 * server.c - a task for each connection.
 *
 *     run() --- group ---+--- accept_all()   one for each listener
 *                        +--- handle()       one for each connection
 *
 * run() is a task of the loop's own. It waits until somebody asks it to stop, or until
 * there is nothing left that could come; closes the listeners, gives the handlers their
 * time, cancels those that are left, and leaves the group, which waits for all. That is
 * the only way in which a server ends: destroying it, and the closing of the loop, cancel
 * run(), which shortens the way.
 *
 * Handlers begin at once, within the acceptor's step. So a stream is in the hands of
 * whoever destroys it at any time, a task that is cancelled before its first step being
 * one that never had it; and a connection costs no memory but its stream and its task.
 *
 * Invariants
 * 1. run() holds a reference until the group is closed: acceptors and handlers need none.
 * 2. Whoever changes what others wait for calls tell(): they look again.
 */
#include "listener.h"

#include <coil/error.h>
#include <coil/event.h>
#include <coil/group.h>
#include <coil/scope.h>
#include <coil/server.h>

#include <string.h>

#define SHORTEST_REST COIL_MSEC(50)
#define LONGEST_REST COIL_SEC(1)

struct coil_server {
    unsigned references;
    coil_loop *loop; /* a reference */
    coil_handler fn;
    void *arg;
    coil_server_opts opts;
    char name[32];
    coil_group group;
    coil_task *task; /* run()'s; a reference */
    struct coil__list acceptors, connections;
    size_t acceptor_count, connection_count; /* of those that run */
    coil_event changed;                      /* never set for long */
    coil_event stopped;
    bool stopping, resting;
};

struct acceptor {
    struct coil__list link; /* coil_server.acceptors */
    coil_server *server;
    coil_listener *listener; /* a reference to its endpoint */
    coil_task *task;         /* a reference */
    int64_t rest_ns;
};

/* On its handler's stack. */
struct connection {
    struct coil__list link; /* coil_server.connections */
    coil_server *server;
    coil_stream *stream;
    const coil_task *task;
};

static void tell(coil_server *s)
{
    coil_event_set(&s->changed);
    coil_event_clear(&s->changed);
}

static void report(const char *message, int rc)
{
    coil_error *error = coil_last_error();

    if (error != NULL && coil_error_rc(error) != rc)
        error = NULL;
    coil_call_exception_handler(&(coil_exception){
        .message = message, .rc = rc, .error = error, .task = coil_task_current()});
}

/* ---- its life --------------------------------------------------------------------- */

static void destroy_acceptor(struct acceptor *a)
{
    coil__list_remove(&a->link);
    coil__endpoint_release(&a->listener->endpoint);
    coil_task_release(a->task);
    coil__free(a);
}

static void release(coil_server *s)
{
    if (--s->references > 0)
        return;
    while (!coil__list_empty(&s->acceptors))
        destroy_acceptor(COIL__CONTAINER(s->acceptors.next, struct acceptor, link));
    coil_task_release(s->task);
    coil_tls_release(s->opts.tls);
    coil_loop_release(s->loop);
    coil__free(s);
}

/* Nothing that an acceptor is in the midst of is lost: it has taken no connection. */
static void stop_accepting(coil_server *s)
{
    s->stopping = true;
    COIL__LIST_EACH (link, &s->acceptors) {
        struct acceptor *a = COIL__CONTAINER(link, struct acceptor, link);

        coil_task_cancel(a->task, "its server stops");
        coil_listener_close(a->listener);
    }
}

/* ---- connections ------------------------------------------------------------------ */

static int shake_hands(coil_server *s, coil_stream *stream)
{
    int64_t timeout_ns = s->opts.handshake_ns > 0 ? s->opts.handshake_ns : COIL_SEC(60);
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(timeout_ns));

    return rc < 0 ? rc : coil_scope_exit(&scope, coil_accept_tls(stream, s->opts.tls));
}

static int call_handler(coil_server *s, coil_stream *stream)
{
    int rc;

    if (s->opts.tls != NULL && shake_hands(s, stream) < 0)
        return 0;
    rc = s->fn(stream, s->arg);
    if (rc < 0 && rc != -ECANCELED)
        report("Unhandled failure in a connection's handler", rc);
    return rc;
}

static int handle(void *arg)
{
    struct connection c = *(struct connection *)arg;
    coil_server *s = c.server;
    int rc;

    c.task = coil_task_current();
    coil__list_push(&s->connections, &c.link);
    s->connection_count++;
    rc = call_handler(s, c.stream);
    coil_stream_destroy(c.stream);
    coil__list_remove(&c.link);
    s->connection_count--;
    tell(s);
    return rc == -ECANCELED ? rc : 0; /* a failed child would end the group */
}

static int serve(coil_server *s, coil_stream *stream)
{
    struct connection c = {.server = s, .stream = stream};
    coil_spawn_opts opts = {
        .name = s->opts.name, .stack_bytes = s->opts.stack_bytes, .eager = true};

    return coil_group_spawn(&s->group, handle, &c, &opts, NULL);
}

/* Whether the running task is one of its handlers. */
static bool is_handling(const coil_server *s)
{
    const coil_task *task = coil_task_current();

    COIL__LIST_EACH (link, &s->connections)
        if (COIL__CONTAINER(link, struct connection, link)->task == task)
            return true;
    return false;
}

/* ---- accepting -------------------------------------------------------------------- */

/* Nobody wants it to accept any more. Whatever else accept(2) says will be over one day:
   descriptors or memory that ran out, most of all. */
static bool is_over(int rc)
{
    return rc == -ECANCELED || rc == -EBADF || rc == -ESHUTDOWN;
}

/*
 * Until there may be more of what ran out: when one of our connections has ended, or
 * somebody else has let go of something. Returns 0 or -ECANCELED.
 */
static int rest(struct acceptor *a, int why)
{
    coil_server *s = a->server;
    coil_scope scope;
    int rc;

    if (!s->resting)
        report("A server cannot accept a connection, and rests", why);
    s->resting = true;
    rc = coil_scope_enter(&scope, coil_in(a->rest_ns));
    if (rc < 0) /* not even that: only a connection can help */
        return s->connection_count > 0 ? coil_event_wait(&s->changed) : coil_yield();
    rc = coil_scope_exit(&scope, coil_event_wait(&s->changed));
    a->rest_ns = a->rest_ns * 2 < LONGEST_REST ? a->rest_ns * 2 : LONGEST_REST;
    return rc == -ETIMEDOUT ? 0 : rc;
}

static int wait_for_room(coil_server *s)
{
    int rc = 0;

    while (rc == 0 && s->opts.max_connections > 0 &&
           s->connection_count >= s->opts.max_connections)
        rc = coil_event_wait(&s->changed);
    return rc;
}

/* One connection. Who has been accepted is served, however long that takes. */
static int accept_one(struct acceptor *a)
{
    coil_server *s = a->server;
    coil_stream *stream;
    int rc = coil_accept(a->listener, &stream);

    if (rc < 0)
        return rc;
    rc = wait_for_room(s); /* another listener's may have been faster */
    while (rc == 0 && (rc = serve(s, stream)) < 0 && !is_over(rc))
        rc = rest(a, rc);
    if (rc < 0) {
        coil_stream_destroy(stream);
        return rc;
    }
    s->resting = false;
    a->rest_ns = SHORTEST_REST;
    return 0;
}

static int accept_all(void *arg)
{
    struct acceptor *a = arg;
    coil_server *s = a->server;
    int rc = 0;

    while (rc == 0) {
        rc = wait_for_room(s);
        if (rc == 0)
            rc = accept_one(a);
        if (rc < 0 && !is_over(rc))
            rc = rest(a, rc);
    }
    s->acceptor_count--;
    tell(s);
    return 0;
}

int coil_server_add(coil_server *server, coil_listener *listener)
{
    struct acceptor *a;
    int rc;

    coil__loop_check_thread(server->loop);
    if (server->stopping)
        return -ESHUTDOWN;
    a = coil__alloc_zeroed(sizeof *a);
    if (a == NULL)
        return -ENOMEM;
    a->server = server;
    a->listener = listener;
    a->rest_ns = SHORTEST_REST;
    rc = coil_group_spawn(&server->group, accept_all, a,
                          &(coil_spawn_opts){.name = "acceptor"}, &a->task);
    if (rc < 0) {
        coil__free(a);
        return rc;
    }
    coil_task_retain(a->task);
    listener->endpoint.references++;
    coil__list_push(&server->acceptors, &a->link);
    server->acceptor_count++;
    return 0;
}

/* ---- the whole -------------------------------------------------------------------- */

static int wait_until_asked(coil_server *s)
{
    int rc = 0;

    while (rc == 0 && !s->stopping && (s->acceptor_count > 0 || s->connection_count > 0))
        rc = coil_event_wait(&s->changed);
    return rc;
}

/* Without memory for a timer there is no grace: it would have no end. */
static int let_handlers_end(coil_server *s)
{
    coil_scope scope;
    int rc = s->connection_count > 0 && s->opts.grace_ns > 0 ? 0 : -ETIMEDOUT;

    if (rc == 0)
        rc = coil_scope_enter(&scope, coil_in(s->opts.grace_ns));
    if (rc < 0)
        return rc;
    while (rc == 0 && s->connection_count > 0)
        rc = coil_event_wait(&s->changed);
    return coil_scope_exit(&scope, rc);
}

/* Begun by coil_server_create(), which adds the first listener once the group is open. */
static int run(void *arg)
{
    coil_server *s = arg;
    int rc;

    coil_group_enter(&s->group);
    rc = coil_event_wait(&s->changed);
    if (rc == 0)
        rc = wait_until_asked(s);
    stop_accepting(s);
    if (rc == 0)
        rc = let_handlers_end(s);
    coil_group_cancel(&s->group, "its server stops");
    coil_group_exit(&s->group, rc == -ECANCELED ? rc : 0);
    coil_event_set(&s->stopped);
    release(s);
    return 0;
}

static coil_server *alloc_server(coil_handler fn, void *arg, const coil_server_opts *opts)
{
    coil_server *s = coil__alloc_zeroed(sizeof *s);

    if (s == NULL)
        return NULL;
    s->references = 2; /* the creator's, and run()'s */
    s->loop = coil_loop_retain(coil__loop_require("coil_server_create"));
    s->fn = fn;
    s->arg = arg;
    if (opts != NULL)
        s->opts = *opts;
    if (s->opts.tls != NULL)
        coil_tls_retain(s->opts.tls);
    if (s->opts.name != NULL) {
        strncpy(s->name, s->opts.name, sizeof s->name - 1);
        s->opts.name = s->name;
    }
    coil__list_init(&s->acceptors);
    coil__list_init(&s->connections);
    coil_event_init(&s->changed);
    coil_event_init(&s->stopped);
    return s;
}

int coil_server_create(coil_listener *listener, coil_handler fn, void *arg,
                       const coil_server_opts *opts, coil_server **out)
{
    coil_spawn_opts spawn = {.name = "server", .eager = true};
    coil_server *s = alloc_server(fn, arg, opts);
    int rc;

    if (s == NULL)
        return -ENOMEM;
    if (coil_task_current() == NULL)
        coil__misuse("coil_server_create: no task is running");
    rc = coil_spawn(run, s, &spawn, &s->task);
    if (rc < 0) {
        s->references--;
        coil_server_destroy(s);
        return rc;
    }
    rc = coil_server_add(s, listener);
    if (rc < 0) {
        coil_server_destroy(s);
        return rc;
    }
    tell(s);
    *out = s;
    return 0;
}

static int wait_until_stopped(coil_server *s)
{
    int rc;

    s->references++;
    rc = coil_event_wait(&s->stopped);
    release(s);
    return rc;
}

int coil_server_wait(coil_server *server)
{
    coil__loop_check_thread(server->loop);
    return is_handling(server) ? -EDEADLK : wait_until_stopped(server);
}

int coil_server_stop(coil_server *server)
{
    coil__loop_check_thread(server->loop);
    if (!server->stopping) {
        stop_accepting(server);
        tell(server);
    }
    return is_handling(server) ? 0 : wait_until_stopped(server);
}

void coil_server_destroy(coil_server *server)
{
    if (server == NULL)
        return;
    if (server->task != NULL && !coil_event_is_set(&server->stopped)) {
        coil__loop_check_thread(server->loop);
        stop_accepting(server);
        coil_task_cancel(server->task, "its server was destroyed");
    }
    release(server);
}

size_t coil_server_connections(const coil_server *server)
{
    return server->connection_count;
}

/* Stopped in peace, however often the caller is cancelled: its handlers use `arg`. */
static void stop_although_cancelled(coil_server *s)
{
    coil_scope scope;
    int rc = coil_scope_enter_shielded(&scope, COIL_NEVER);

    if (rc == 0)
        coil_scope_exit(&scope, coil_server_stop(s));
}

int coil_serve(coil_listener *listener, coil_handler fn, void *arg,
               const coil_server_opts *opts)
{
    coil_server *s;
    int rc = coil_server_create(listener, fn, arg, opts, &s);

    if (rc < 0)
        return rc;
    rc = coil_server_wait(s);
    if (rc == -ECANCELED)
        stop_although_cancelled(s);
    coil_server_destroy(s);
    return rc;
}
