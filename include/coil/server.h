/*
 * coil/server.h - serve each connection in a task of its own.
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
 * A server accepts connections and spawns a handler for each connection, in its own
 * group. If accepting fails, usually because descriptors or memory ran out, the server
 * pauses, for 50 ms at first and twice as long after each further failure, up to 1 s. It
 * tries again after the pause, or as soon as one of its connections ends. Until then, new
 * connections wait in the listener's queue. Failures are reported to the exception
 * handler, at most every ten seconds. (asyncio: start_server, Server)
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
 * Handle one connection, in a separate task. The server owns the stream and destroys it
 * afterwards; the handler may close it earlier. A failure other than -ECANCELED is
 * reported to the exception handler, and does not affect other connections.
 */
typedef int (*coil_handler)(coil_stream *stream, void *arg);

typedef struct coil_server_opts {
    /*
     * The maximum number of handlers at a time; further connections wait in the
     * listener's queue. 0 means no limit.
     */
    size_t max_connections;
    /*
     * How long handlers may continue, once the server begins to stop, before they are
     * cancelled. 0 means that handlers are cancelled immediately; COIL_NEVER means no
     * limit.
     */
    int64_t grace_ns;
    size_t stack_bytes; /* stack of a handler's task; 0 means COIL_STACK_BYTES */
    const char *name;   /* name of the handlers' tasks; copied, at most 31 bytes */
    /*
     * Serve TLS with this context, which the server retains; NULL means no TLS. The
     * handler is called after the handshake. Failed handshakes are not reported, because
     * any client could fill the log with such reports.
     */
    coil_tls *tls;
    /*
     * The longest time for a handshake; 0 means 10 s. (asyncio: ssl_handshake_timeout,
     * HAProxy: timeout client)
     */
    int64_t handshake_ns;
    /*
     * The maximum number of handshakes at a time; further connections wait in the
     * listener's queue. 0 means no limit. Handshakes need much processor time.
     */
    size_t max_handshakes;
    /*
     * Cancel a handler if it is waiting in a call on its stream, and no byte has been
     * transferred in either direction for this long. The cancellation may be late by up
     * to a quarter of that time. Other waits of the handler are not limited. After the
     * cancellation the handler's calls return -ECANCELED, and nothing is reported. 0
     * means never. (Go: http.Server.IdleTimeout)
     */
    int64_t idle_ns;
    enum coil_light light; /* applies to handlers' tasks: see coil_spawn_opts */
    /*
     * If a handler misuses coil, end its connection instead of the program. Examples are
     * a NULL argument, a destroyed object, and a scope or a group that is still open when
     * the handler returns. The mistake is reported to the exception handler as if the
     * handler had failed with -COIL_EFAILED.
     *
     * coil closes the handler's scopes and groups, and leaves the handler with
     * longjmp(3). So memory, descriptors and locks that belong to the handler's functions
     * are leaked, and no guard or C++ destructor runs. With this option, each scope or
     * group that a handler enters needs an allocation. The program still aborts if the
     * mistake is made by another task, by a callback or a generator, or while the
     * handler's task waits.
     */
    bool contain_misuse;
} coil_server_opts;

/*
 * Create a server that serves a listener: from the next turn of the loop on, it calls
 * fn(stream, arg) for each connection, in a new task.
 *
 * `opts` may be NULL. The server closes the listener when it stops; the caller still
 * destroys it. If other code closes the listener, the server no longer serves it. The
 * caller destroys *out. Call this function from a task. Fails with -ENOMEM.
 */
COIL_API COIL_CHECKED int coil_server_create(coil_listener *listener, coil_handler fn,
                                             void *arg, const coil_server_opts *opts,
                                             coil_server **out);

/*
 * Add a listener to the server. Fails with -ESHUTDOWN if the server is stopping, or with
 * -ENOMEM.
 */
COIL_API COIL_CHECKED int coil_server_add(coil_server *server, coil_listener *listener);

/*
 * Stop the server: close the listeners immediately, let the handlers end within grace_ns,
 * cancel the remaining handlers, and wait for all of them. (asyncio: close and
 * wait_closed)
 *
 * Returns 0. A second call also waits until the server has stopped. If one of the
 * server's own handlers makes the call, the call begins the stop but does not wait,
 * because the stop waits for that handler. If the caller is cancelled, the call returns
 * -ECANCELED, and the server still stops.
 */
COIL_SUSPENDS int coil_server_stop(coil_server *server);

/*
 * Wait until the server has stopped. Any number of tasks may wait. (asyncio:
 * serve_forever)
 *
 * A server stops by itself when all its listeners are closed and all handlers have ended.
 * Returns 0. Fails with -ECANCELED, or, in one of the server's own handlers, with
 * -EDEADLK.
 */
COIL_SUSPENDS int coil_server_wait(coil_server *server);

/*
 * Release the server; NULL is accepted.
 *
 * If the server has not stopped, the listeners are closed and the handlers are cancelled,
 * but not awaited. The handlers use `arg` until they end. So call coil_server_stop()
 * first if `arg` is freed afterwards.
 */
COIL_API void coil_server_destroy(coil_server *server);

/*
 * True once the server has begun to stop. Handlers should then end after the current
 * request.
 */
COIL_API bool coil_server_is_stopping(const coil_server *server);

/*
 * If the running task is a server's handler, return the server, borrowed. Returns NULL in
 * other tasks, including tasks that a handler spawns, and outside tasks.
 */
COIL_API coil_server *coil_server_current(void);

/*
 * In a handler, wait for the next request on its idle connection. (Go: http.StateIdle)
 *
 *     while ((rc = coil_server_wait_request(stream)) == 0)
 *         if ((rc = answer_request(stream)) < 0)    // -ENODATA: the client has closed
 *             break;
 *
 * Returns 0 as soon as a read would return immediately, because a byte, the end or a
 * failure has arrived. Fails with -ESHUTDOWN if the server begins to stop first. So a
 * graceful stop ends idle connections immediately, and waits at most grace_ns for busy
 * connections. If bytes have already arrived, the call returns 0 even if the server is
 * stopping. Also fails like coil_stream_wait_readable(), or with -ENOMEM, or, outside a
 * handler, with -EINVAL.
 */
COIL_SUSPENDS COIL_CHECKED int coil_server_wait_request(coil_stream *stream);

/* Return the number of running handlers. */
COIL_API size_t coil_server_connections(const coil_server *server);

/*
 * Create a server, wait until it has stopped, and destroy it.
 *
 * If the caller is cancelled, the call stops the server, waits until it has stopped, and
 * returns -ECANCELED, so `arg` may be on the caller's stack. Otherwise the call returns
 * the result of coil_server_wait(), or fails like coil_server_create().
 */
COIL_SUSPENDS int coil_serve(coil_listener *listener, coil_handler fn, void *arg,
                             const coil_server_opts *opts);

#ifdef __cplusplus
}
#endif

#endif
