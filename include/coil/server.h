/*
 * coil/server.h - a task for each connection.
 *
 *     static int echo(coil_stream *stream, void *arg)
 *     {
 *         char bytes[4096];
 *         ssize_t n;
 *
 *         (void)arg;
 *         while ((n = coil_read(stream, bytes, sizeof bytes)) > 0)
 *             if ((n = coil_write(stream, bytes, (size_t)n)) < 0)
 *                 break;
 *         return (int)n;
 *     }
 *
 * The main task listens and serves:
 *
 *     coil_listener *listener;
 *     int rc = coil_listen(NULL, "7", 0, &listener);
 *
 *     if (rc < 0)
 *         return rc;
 *     rc = coil_serve(listener, echo, NULL, NULL);      // until it is cancelled: Ctrl-C
 *     coil_listener_destroy(listener);
 *
 * A server accepts connections and spawns a handler for each, in its group. If accepting
 * fails, mostly because descriptors or memory ran out, the server pauses (50 ms, doubling
 * up to 1 s, or until one of its connections ends) and tries again; meanwhile connections
 * wait in the listener's queue. That is reported to the exception handler once, and again
 * only after accepting has worked for two seconds, even if single connections were
 * accepted in between. (asyncio: start_server, Server)
 */
#ifndef COIL_SERVER_H
#define COIL_SERVER_H

#include <coil/stream.h>
#include <coil/task.h>
#include <coil/tls.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_server coil_server;

/*
 * What is done with a connection, in a task of its own. The stream is the server's, which
 * destroys it afterwards; it may be closed before. A failure, other than -ECANCELED, is
 * reported to the exception handler, and concerns nobody else.
 */
typedef int (*coil_handler)(coil_stream *stream, void *arg);

typedef struct coil_server_opts {
    size_t max_connections; /* handlers at a time; the listener's queue holds the rest. 0:
                               any number */
    int64_t grace_ns;   /* how long handlers may go on when the server is stopped; then
                           they are cancelled. 0: at once; COIL_NEVER: no limit */
    size_t stack_bytes; /* of a handler's task; 0 means COIL_STACK_BYTES */
    const char *name;   /* of the handlers' tasks; copied, at most 31 bytes */
    /*
     * Speak TLS by this, which is retained; NULL: do not. The handler is called after the
     * handshake. Where that fails it is not called, and nobody is told: anybody out there
     * can make it fail.
     */
    coil_tls *tls;
    int64_t handshake_ns;  /* how long that may take; 0 means 10 s (asyncio:
                              ssl_handshake_timeout; HAProxy: timeout client) */
    size_t max_handshakes; /* at a time: they cost most; the listener's queue holds the
                              rest. 0: any number */
    /*
     * Cancel the handler of a connection on which it waits while nothing has moved for so
     * long, in either direction; it may be a quarter more. What the handler does beside
     * the stream does not count. Its calls return -ECANCELED; nothing is reported. 0:
     * never. (Go: http.Server.IdleTimeout)
     */
    int64_t idle_ns;
    enum coil_light light; /* are the handlers' tasks? As in coil_spawn_opts */
} coil_server_opts;

/*
 * Start serving a listener: fn(stream, arg) is called for each connection, from the next
 * turn on. `opts` may be NULL. The listener remains the caller's, to be destroyed; the
 * server closes it when it stops. One that is closed by others is not served any more.
 *
 * *out is the caller's, to be destroyed. Called from a task. Fails with -ENOMEM.
 */
COIL_API int coil_server_create(coil_listener *listener, coil_handler fn, void *arg,
                                const coil_server_opts *opts, coil_server **out);

/* Serve another listener, too. -ESHUTDOWN if it is stopping; -ENOMEM. */
COIL_API int coil_server_add(coil_server *server, coil_listener *listener);

/*
 * Stop: close the listeners at once, let the handlers end within grace_ns, cancel the
 * others, and wait for all. Returns 0; a second call waits like the first, or not at all.
 * (asyncio: close and wait_closed)
 *
 * In one of its own handlers it begins to stop and does not wait: the handler is one of
 * those that are waited for. A cancelled call is -ECANCELED, and the server stops all the
 * same.
 */
COIL_SUSPENDS int coil_server_stop(coil_server *server);

/*
 * Wait until it has stopped, which it does by itself when all its listeners are closed
 * and all handlers have ended. Any number of tasks may wait. Returns 0; -ECANCELED;
 * -EDEADLK in one of its own handlers. (asyncio: serve_forever)
 */
COIL_SUSPENDS int coil_server_wait(coil_server *server);

/*
 * Let go of it; NULL is accepted. If it has not stopped, the listeners are closed and the
 * handlers cancelled, without being waited for: `arg` is used until they end, so that
 * coil_server_stop() comes first where that matters.
 */
COIL_API void coil_server_destroy(coil_server *server);

/* How many handlers there are now. */
COIL_API size_t coil_server_connections(const coil_server *server);

/*
 * Create it, wait, destroy it. Cancelled, it stops the server and waits for that, before
 * it returns -ECANCELED; so `arg` may lie on the caller's stack. Else it returns what
 * coil_server_wait() did, or fails as coil_server_create().
 */
COIL_SUSPENDS int coil_serve(coil_listener *listener, coil_handler fn, void *arg,
                             const coil_server_opts *opts);

#ifdef __cplusplus
}
#endif

#endif
