/*
 * server.c - a server, which handles each connection in a task of its own.
 *
 *     run_server() --- group ---+--- accept_all()   one for each listener
 *                               +--- handle()       one for each connection
 *
 * run_server() is a task that the server spawns. The task waits until the server is asked
 * to stop, or until neither acceptors nor connections are left. After that, run_server()
 * closes the listeners, waits up to the grace time for the handlers, cancels the
 * remaining handlers, and leaves the group, which waits until they have ended. If the
 * server is destroyed or the loop is closed, run_server() is cancelled: it stops
 * accepting and cancels the handlers at once, without the grace time.
 *
 * Handlers start eagerly, within the acceptor's step, because a task that is cancelled
 * before its first step never runs, so it could not destroy its stream. A connection uses
 * memory only for its stream and its task. With idle_ns, it also has a record, which is
 * not stored on the handler's stack, because other tasks read the record while the
 * handler waits.
 *
 * One task checks for idle connections LOOKS times per `idle_ns`, so that connections
 * need no timers and calls need not read the clock. A connection is idle if LOOKS checks
 * in a row find that its handler is waiting and has begun no operation on its stream
 * since the previous check. In that case the scope around the handler expires, as if its
 * deadline had passed.
 *
 * Invariants
 * 1. run_server() has a reference to the server until the group is closed, so acceptors
 *    and handlers need none.
 * 2. Code that changes a condition for which tasks wait must call wake_waiters(), so that
 *    these tasks check the condition again.
 */
#include "listener.h"
#include "../stream/stream.h"

#include "../task/failure.h"
#include "../task/task.h"

#include <coil/address.h>
#include <coil/error.h>
#include <coil/event.h>
#include <coil/group.h>
#include <coil/scope.h>
#include <coil/server.h>

#include <stdio.h>
#include <string.h>

#define SHORTEST_REST COIL_MSEC(50)
#define LONGEST_REST COIL_SEC(1)
#define REPORT_EVERY COIL_SEC(10) /* minimum interval between reports of failures */
#define HANDSHAKE COIL_SEC(10)
#define LOOKS 4 /* number of checks for idle connections per idle_ns */

struct coil_server {
    coil_loop *loop; /* a reference */
    coil_handler fn;
    void *arg;
    unsigned references;
    bool destroyed; /* the owner has dropped its reference */
    coil_server_opts opts;
    char name[32];
    coil_group group;
    coil_task *task; /* the task of run_server(); a reference */
    struct coil__list acceptors;
    struct coil__list connections;           /* connections to check for idleness */
    struct coil__list requests;              /* handlers that wait for a request */
    size_t acceptor_count, connection_count; /* running tasks */
    size_t handshake_count;                  /* connections in a TLS handshake */
    /* set and immediately cleared by wake_waiters() */
    coil_event changed;
    coil_event stopped;
    bool stopping;
};

struct acceptor {
    struct coil__list link; /* coil_server.acceptors */
    coil_server *server;
    coil_listener *listener; /* a reference to the listener's endpoint */
    coil_task *task;         /* a reference */
    int64_t rest_ns;
    int64_t silent_until; /* do not report failures to accept before this time */
    unsigned failures;    /* failures since the last report */
};

/* The peer's address, for reports. Smaller than a coil_address. */
struct peer {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    };
};

/* The argument of a handler's task. */
struct accepted {
    coil_server *server;
    coil_stream *stream;
    const coil_listener *listener;
    struct peer peer;
};

/* A connection that is checked for idleness. Exists only with opts.idle_ns. */
struct connection {
    struct coil__list link; /* coil_server.connections */
    const coil_stream *stream;
    coil_scope *idle;    /* expires when the connection is idle */
    unsigned operations; /* the stream's operation count at the latest check */
    int quiet;           /* consecutive checks that found the connection idle */
};

/*
 * A handler that is waiting in coil_server_wait_request(). Like struct connection, this
 * struct is not stored on the handler's stack.
 */
struct request {
    struct coil__list link; /* coil_server.requests */
    coil_task *task;
    bool ended; /* the server has cancelled the task */
};

static void wake_waiters(coil_server *s)
{
    coil_event_set(&s->changed);
    coil_event_clear(&s->changed);
}

/*
 * NOINLINE, here and below, keeps a function's local variables out of the stack frames of
 * waiting handlers.
 */
static COIL__NOINLINE void report_failure(const char *message, int rc)
{
    coil_call_exception_handler(&(coil_exception){.message = message,
                                                  .rc = rc,
                                                  .error = coil__failure_of(rc),
                                                  .task = coil_task_current()});
}

/* Return the listener's address, or only its port after it was closed. */
static const char *place_of(const coil_listener *listener, char *text, size_t size)
{
    coil_address name;

    if (coil_listener_name(listener, &name) == 0)
        return coil_address_format(&name, text, size);
    snprintf(text, size, "port %u", listener->port);
    return text;
}

static COIL__NOINLINE void report_handler(const struct accepted *a, int rc)
{
    coil_address peer = {.length = sizeof a->peer.v6, .v6 = a->peer.v6};
    char message[2 * COIL_ADDRESS_TEXT + 64], from[COIL_ADDRESS_TEXT] = "";
    char to[COIL_ADDRESS_TEXT];

    /* clients of local sockets rarely have an address */
    if (a->peer.any.sa_family != AF_UNIX)
        coil_address_format(&peer, from, sizeof from);
    snprintf(message, sizeof message,
             "Unhandled failure in the handler of a connection%s%s to %s",
             from[0] != '\0' ? " from " : "", from, place_of(a->listener, to, sizeof to));
    report_failure(message, rc);
}

/* Report a failure to accept, at most once per REPORT_EVERY. */
static COIL__NOINLINE void report_accept_failure(struct acceptor *a, int rc)
{
    char message[COIL_ADDRESS_TEXT + 128], place[COIL_ADDRESS_TEXT];
    int64_t now = coil_now();

    a->failures++;
    if (now < a->silent_until)
        return;
    if (a->failures == 1)
        snprintf(message, sizeof message,
                 "A server cannot accept a connection on %s, and pauses",
                 place_of(a->listener, place, sizeof place));
    else
        snprintf(message, sizeof message,
                 "A server cannot accept connections on %s, and pauses: %u failures "
                 "since the last report",
                 place_of(a->listener, place, sizeof place), a->failures);
    report_failure(message, rc);
    a->silent_until = coil__time_add(now, REPORT_EVERY);
    a->failures = 0;
}

/* ---- references and stopping ------------------------------------------------------- */

static void destroy_acceptor(struct acceptor *a)
{
    coil__list_remove(&a->link);
    coil__endpoint_release(&a->listener->endpoint);
    coil_task_release(a->task);
    coil__free(a);
}

static void release_server(coil_server *s)
{
    if (--s->references > 0)
        return;
    while (!coil__list_empty(&s->acceptors))
        destroy_acceptor(COIL__CONTAINER(s->acceptors.next, struct acceptor, link));
    coil_task_release(s->task);
    coil_tls_release(s->opts.tls);
    coil_loop_release(s->loop);
    coil__free_object(s);
}

static void end_request(struct request *request)
{
    request->ended = true;
    coil_task_cancel(request->task, "its server stops");
}

/* End the waits of all handlers in coil_server_wait_request(). */
static void end_requests(coil_server *s)
{
    COIL__LIST_EACH (link, &s->requests)
        end_request(COIL__CONTAINER(link, struct request, link));
}

/*
 * End the handlers' waits for requests, cancel the acceptors, and close the listeners. An
 * acceptor that is cancelled while it waits for a connection loses none. An acceptor that
 * has accepted a connection, and waits until the server is not full, closes the
 * connection.
 */
static void stop_accepting(coil_server *s)
{
    bool is_first = !s->stopping;

    s->stopping = true;
    if (is_first && !coil__loop_is_parents(s->loop))
        end_requests(s);
    COIL__LIST_EACH (link, &s->acceptors) {
        struct acceptor *a = COIL__CONTAINER(link, struct acceptor, link);

        if (!coil__loop_is_parents(s->loop))
            coil_task_cancel(a->task, "its server stops");
        coil_listener_close(a->listener);
    }
}

/* ---- connections ------------------------------------------------------------------- */

static COIL__NOINLINE int shake_hands(coil_server *s, coil_stream *stream)
{
    int64_t timeout_ns = s->opts.handshake_ns > 0 ? s->opts.handshake_ns : HANDSHAKE;
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(timeout_ns));

    if (rc < 0)
        return rc;
    s->handshake_count++;
    rc = coil_scope_exit(&scope, coil_accept_tls(stream, s->opts.tls));
    s->handshake_count--;
    if (s->opts.max_handshakes > 0)
        wake_waiters(s);
    return rc;
}

static int run_handler(void *arg)
{
    const struct accepted *a = arg;

    return a->server->fn(a->stream, a->server->arg);
}

static int call_handler_contained(const struct accepted *a)
{
    return a->server->opts.contain_misuse ? coil__contain(run_handler, (void *)a)
                                          : run_handler((void *)a);
}

/*
 * Call the handler in a scope that expires when the connection is idle. In that case
 * return 0, because an idle peer is not an error of the server.
 */
static COIL__NOINLINE int call_until_idle(const struct accepted *a)
{
    struct connection *c = coil__alloc_zeroed(sizeof *c);
    coil_server *s = a->server;
    coil_scope scope;
    int rc = c != NULL ? coil_scope_enter(&scope, COIL_NEVER) : coil__failed(-ENOMEM);

    if (rc < 0) {
        coil__free(c);
        return rc;
    }
    c->stream = a->stream;
    c->idle = &scope;
    coil__list_push(&s->connections, &c->link);
    rc = coil_scope_exit(&scope, call_handler_contained(a));
    coil__list_remove(&c->link);
    coil__free(c);
    return rc == -ETIMEDOUT && coil_scope_expired(&scope) ? 0 : rc;
}

static int call_handler(const struct accepted *a)
{
    coil_server *s = a->server;
    int rc;

    if (s->opts.tls != NULL && shake_hands(s, a->stream) < 0)
        return 0;
    rc = s->opts.idle_ns > 0 ? call_until_idle(a) : call_handler_contained(a);
    if (rc < 0 && rc != -ECANCELED)
        report_handler(a, rc);
    return rc;
}

static int handle(void *arg)
{
    const struct accepted a = *(struct accepted *)arg;
    coil_server *s = a.server;
    int rc;

    if (s->connection_count++ == 0 && s->opts.idle_ns > 0)
        wake_waiters(s); /* wakes the task that checks for idle connections */
    rc = call_handler(&a);
    coil_stream_destroy(a.stream);
    s->connection_count--;
    wake_waiters(s);
    return rc == -ECANCELED ? rc : 0; /* a failure would cancel the group */
}

static int serve(const struct acceptor *acceptor, coil_stream *stream,
                 const coil_address *peer)
{
    coil_server *s = acceptor->server;
    struct accepted a = {s, stream, acceptor->listener, {.v6 = peer->v6}};
    coil_spawn_opts opts = {.name = s->opts.name,
                            .stack_bytes = s->opts.stack_bytes,
                            .eager = true,
                            .light = s->opts.light};

    return coil_group_spawn(&s->group, handle, &a, &opts, NULL);
}

static void check_if_idle(struct connection *c)
{
    const struct coil__endpoint *endpoint = &c->stream->endpoint;
    bool waits = endpoint->busy[COIL__IN] || endpoint->busy[COIL__OUT];

    if (!waits || endpoint->operations != c->operations)
        c->quiet = 0;
    else
        c->quiet++;
    c->operations = endpoint->operations;
    if (c->quiet >= LOOKS)
        coil_scope_set_deadline(c->idle, coil_now());
}

static int cancel_idle_connections(void *arg)
{
    coil_server *s = arg;
    int rc = 0;

    while (rc == 0) {
        if (s->connection_count == 0)
            rc = coil_event_wait(&s->changed);
        else
            rc = coil_sleep(s->opts.idle_ns / LOOKS + 1);
        COIL__LIST_EACH (link, &s->connections)
            check_if_idle(COIL__CONTAINER(link, struct connection, link));
    }
    return 0;
}

coil_server *coil_server_current(void)
{
    const coil_task *task = coil_task_current();

    return task != NULL && task->group != NULL && task->fn == handle
               ? (coil_server *)COIL__CONTAINER(task->group, coil_server, group)
               : NULL;
}

/*
 * Return the result of coil_server_wait_request(): if only the server has cancelled the
 * task, replace -ECANCELED with -ESHUTDOWN, and clear the cancellation.
 */
static int end_of_request(const struct request *request, int rc)
{
    if (!request->ended || coil_uncancel() > 0)
        return rc;
    if (rc == -ECANCELED)
        coil_cancel_caught();
    return rc == -ECANCELED ? coil__failed(-ESHUTDOWN) : rc;
}

int coil_server_wait_request(coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    coil_server *s = coil_server_current();
    struct request *request;
    int rc;

    if (s == NULL)
        return coil__failed(-EINVAL);
    request = coil__alloc_zeroed(sizeof *request);
    if (request == NULL)
        return coil__failed(-ENOMEM);
    request->task = coil_task_current();
    coil__list_push(&s->requests, &request->link);
    if (s->stopping)
        end_request(request);
    rc = end_of_request(request, coil_stream_wait_readable(stream));
    coil__list_remove(&request->link);
    coil__free(request);
    return rc;
}

/*
 * True if the running task is one of the server's handlers. (Acceptors belong to the
 * group too, but never call user code.)
 */
static bool is_handling(const coil_server *s)
{
    const coil_task *task = coil_task_current();

    return task != NULL && task->group == &s->group;
}

/* ---- accepting --------------------------------------------------------------------- */

/*
 * True if the acceptor must stop: it was cancelled, its listener was closed, or the group
 * is being cancelled. Other errors of accept(2), such as too many descriptors, are
 * temporary.
 */
static bool is_over(int rc)
{
    return rc == -ECANCELED || rc == -EBADF || rc == -ESHUTDOWN;
}

/*
 * Report that accepting has failed with `why`, and wait until a connection has ended or a
 * time-out has passed. The time-out doubles with each failure. Returns 0 or -ECANCELED.
 */
static int pause_accepting(struct acceptor *a, int why)
{
    coil_server *s = a->server;
    coil_scope scope;
    int rc;

    report_accept_failure(a, why);
    rc = coil_scope_enter(&scope, coil_in(a->rest_ns));
    if (rc < 0) /* no memory for a timer: wait until a connection ends */
        return s->connection_count > 0 ? coil_event_wait(&s->changed) : coil_yield();
    rc = coil_scope_exit(&scope, coil_event_wait(&s->changed));
    a->rest_ns = a->rest_ns * 2 < LONGEST_REST ? a->rest_ns * 2 : LONGEST_REST;
    return rc == -ETIMEDOUT ? 0 : rc;
}

static bool server_is_full(const coil_server *s)
{
    const coil_server_opts *most = &s->opts;

    return (most->max_connections > 0 && s->connection_count >= most->max_connections) ||
           (most->max_handshakes > 0 && s->handshake_count >= most->max_handshakes);
}

static int wait_for_room(coil_server *s)
{
    int rc = 0;

    while (rc == 0 && server_is_full(s))
        rc = coil_event_wait(&s->changed);
    return rc;
}

/* Accept a connection, and start its handler once the server is not full. */
static int accept_one(struct acceptor *a)
{
    coil_server *s = a->server;
    coil_address peer = {.length = 0};
    coil_stream *stream;
    int rc = coil__accept(a->listener, &stream, &peer);

    if (rc < 0)
        return rc;
    if (peer.length == 0)
        coil_stream_peer(stream, &peer);
    rc = wait_for_room(s); /* another acceptor may have filled the server */
    while (rc == 0 && (rc = serve(a, stream, &peer)) < 0 && !is_over(rc))
        rc = pause_accepting(a, rc);
    if (rc < 0) {
        coil_stream_destroy(stream);
        return rc;
    }
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
            rc = pause_accepting(a, rc);
    }
    s->acceptor_count--;
    wake_waiters(s);
    return 0;
}

static void check(const coil_server *server, const char *caller)
{
    if (COIL__UNLIKELY(server->destroyed))
        coil__misuse_gone(caller);
    coil__loop_require_own(server->loop, caller);
}

int coil_server_add(coil_server *server, coil_listener *listener)
{
    COIL__REQUIRE(server, "a server");
    COIL__REQUIRE(listener, "a listener");
    struct acceptor *a;
    int rc;

    check(server, "coil_server_add");
    if (server->stopping)
        return coil__failed(-ESHUTDOWN);
    a = coil__alloc_zeroed(sizeof *a);
    if (a == NULL)
        return coil__failed(-ENOMEM);
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

/* ---- the server's task ------------------------------------------------------------- */

static int wait_for_stop_request(coil_server *s)
{
    int rc = 0;

    while (rc == 0 && !s->stopping && (s->acceptor_count > 0 || s->connection_count > 0))
        rc = coil_event_wait(&s->changed);
    return rc;
}

/*
 * Wait until all handlers have ended or the grace time has passed. Does not wait if
 * memory for the timer cannot be allocated.
 */
static int wait_for_handlers(coil_server *s)
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

/*
 * The server's task, spawned eagerly by coil_server_create(), which adds the first
 * listener when the group is open.
 */
static int run_server(void *arg)
{
    coil_server *s = arg;
    int rc;

    coil_group_enter(&s->group);
    rc = coil_event_wait(&s->changed);
    if (rc == 0)
        rc = wait_for_stop_request(s);
    stop_accepting(s);
    if (rc == 0)
        rc = wait_for_handlers(s);
    coil_group_cancel(&s->group, "its server stops");
    coil_group_exit(&s->group, rc == -ECANCELED ? rc : 0);
    coil_event_set(&s->stopped);
    release_server(s);
    return 0;
}

static coil_server *alloc_server(coil_handler fn, void *arg, const coil_server_opts *opts)
{
    coil_server *s = coil__alloc_zeroed(sizeof *s);

    if (s == NULL)
        return NULL;
    s->references = 2; /* one for the creator, one for run_server() */
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
    coil__list_init(&s->requests);
    coil_event_init(&s->changed);
    coil_event_init(&s->stopped);
    return s;
}

int coil_server_create(coil_listener *listener, coil_handler fn, void *arg,
                       const coil_server_opts *opts, coil_server **out)
{
    COIL__REQUIRE(listener, "a listener");
    COIL__REQUIRE(fn, "a function");
    COIL__REQUIRE(out, "an output pointer");
    coil_spawn_opts spawn = {.name = "server", .eager = true};
    coil_server *s = alloc_server(fn, arg, opts);
    int rc;

    *out = NULL;
    if (s == NULL)
        return coil__failed(-ENOMEM);
    if (coil_task_current() == NULL)
        coil__misuse("coil_server_create: no task is running");
    rc = coil_spawn(run_server, s, &spawn, &s->task);
    if (rc < 0) {
        s->references--;
        coil_server_destroy(s);
        return rc;
    }
    rc = coil_server_add(s, listener);
    if (rc == 0 && s->opts.idle_ns > 0)
        rc = coil_group_spawn(&s->group, cancel_idle_connections, s,
                              &(coil_spawn_opts){.name = "idle connections"}, NULL);
    if (rc < 0) {
        coil_server_destroy(s);
        return rc;
    }
    wake_waiters(s);
    *out = s;
    return 0;
}

static int wait_until_stopped(coil_server *s)
{
    int rc;

    s->references++;
    rc = coil_event_wait(&s->stopped);
    release_server(s);
    return rc;
}

int coil_server_wait(coil_server *server)
{
    COIL__REQUIRE(server, "a server");
    check(server, "coil_server_wait");
    return is_handling(server) ? coil__failed(-EDEADLK) : wait_until_stopped(server);
}

int coil_server_stop(coil_server *server)
{
    COIL__REQUIRE(server, "a server");
    check(server, "coil_server_stop");
    if (!server->stopping) {
        stop_accepting(server);
        wake_waiters(server);
    }
    return is_handling(server) ? 0 : wait_until_stopped(server);
}

void coil_server_destroy(coil_server *server)
{
    if (server == NULL)
        return;
    if (server->destroyed)
        coil__misuse_gone("coil_server_destroy");
    if (coil__loop_is_parents(server->loop)) {
        /* In a forked child, only close the copies of the descriptors. */
        stop_accepting(server);
        return;
    }
    if (server->task != NULL && !coil_event_is_set(&server->stopped)) {
        coil__loop_check_thread(server->loop, "coil_server_destroy");
        stop_accepting(server);
        coil_task_cancel(server->task, "its server was destroyed");
    }
    server->destroyed = true;
    release_server(server);
}

bool coil_server_is_stopping(const coil_server *server)
{
    COIL__REQUIRE(server, "a server");
    if (server->destroyed && coil_server_current() != server)
        coil__misuse_gone("coil_server_is_stopping");
    return server->stopping;
}

size_t coil_server_connections(const coil_server *server)
{
    COIL__REQUIRE(server, "a server");
    if (server->destroyed)
        coil__misuse_gone("coil_server_connections");
    return server->connection_count;
}

/*
 * Stop the server and wait until it has ended, even if the running task is cancelled
 * again. The caller of coil_serve() may free `arg`, which the handlers use, as soon as
 * that function returns.
 */
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
    COIL__REQUIRE(listener, "a listener");
    COIL__REQUIRE(fn, "a function");
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
