/*
 * coil/stream.h - connections: bytes in, bytes out.
 *
 *     coil_stream *s;
 *     rc = coil_connect("localhost", "80", &s);
 *     if (rc < 0)
 *         return rc;
 *     rc = coil_write(s, request, strlen(request));
 *     while (rc >= 0 && (rc = coil_read(s, buf, sizeof buf)) > 0)
 *         fwrite(buf, 1, rc, stdout);
 *     coil_stream_destroy(s);
 *
 * One task may read a stream while another writes it; a second reader or writer gets
 * -EBUSY. Each operation is tried first and waits only if it must. Calls that never have
 * to wait let others run every now and then all the same, so that a peer that is always
 * ready starves nobody. The rest of the time they follow read(2), write(2), connect(2),
 * accept(2). (asyncio: streams, sock_recv, sock_sendall, sock_accept)
 *
 * A cancelled coil_read() or coil_accept() has taken nothing: one that took effect before
 * the cancellation came returns its result, and the next call that waits sees the
 * cancellation. coil_write() and coil_read_exact() may have moved some bytes when they
 * fail or are cancelled; coil_stream_write_transferred() and its like say how many.
 */
#ifndef COIL_STREAM_H
#define COIL_STREAM_H

#include <coil/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_stream coil_stream;
typedef struct coil_listener coil_listener;

/*
 * Connect to a host and a port, both names or numbers: "::1", "http". Every address that
 * the name has is tried in turn; the last failure is returned.
 *
 * Fails as connect(2), as coil_getaddrinfo(), with -ECANCELED, -ENOMEM. *out is the
 * caller's.
 */
COIL_SUSPENDS int coil_connect(const char *host, const char *port, coil_stream **out);

/*
 * Make a stream of a connected socket, pipe end or tty, which it then owns; the
 * descriptor is made non-blocking. Fails with -ENOMEM, -EBADF, -EPERM or -EINVAL where
 * the backend cannot wait for it; the descriptor remains the caller's then.
 */
COIL_API int coil_stream_adopt(int fd, coil_stream **out);

/*
 * Close the descriptor; a task that waits in a call on the stream gets -EBADF. The second
 * time nothing happens. Returns 0 or what close(2) failed with. Never suspends.
 */
COIL_API int coil_stream_close(coil_stream *stream);

/*
 * Close it if need be, and free it; NULL is accepted. A task that waits in one of its
 * calls gets -EBADF and may not use it any more.
 */
COIL_API void coil_stream_destroy(coil_stream *stream);

/* The descriptor, borrowed; -1 when closed. */
COIL_API int coil_stream_fd(const coil_stream *stream);

/*
 * Read what there is, at most n bytes, waiting until there is some. Returns how many; 0
 * at the end (or for n of 0). Fails as read(2), -EBADF, -EBUSY, -ECANCELED.
 */
COIL_SUSPENDS ssize_t coil_read(coil_stream *stream, void *buf, size_t n);

/*
 * Read exactly n bytes. Returns n; -ENODATA if the end comes before; or fails as
 * coil_read(). How many bytes did arrive, coil_stream_read_transferred() says.
 * (asyncio: readexactly)
 */
COIL_SUSPENDS ssize_t coil_read_exact(coil_stream *stream, void *buf, size_t n);

/*
 * Write all n bytes, waiting as often as needed: when it returns they are with the
 * kernel. Returns n, or fails as write(2) (without SIGPIPE), -EBADF, -EBUSY, -ECANCELED.
 * How many bytes went out before that, coil_stream_write_transferred() says.
 * (asyncio: write and drain)
 */
COIL_SUSPENDS ssize_t coil_write(coil_stream *stream, const void *buf, size_t n);

/*
 * Tell the peer that nothing more will be written. Waits only where it is said in bytes
 * (coil/tls.h). Fails as shutdown(2), -EBADF, -EBUSY, -ECANCELED. (asyncio: write_eof)
 */
COIL_SUSPENDS int coil_stream_shutdown_write(coil_stream *stream);

/* The bytes moved by the latest coil_read_exact() or coil_write(), complete or not. */
COIL_API size_t coil_stream_read_transferred(const coil_stream *stream);
COIL_API size_t coil_stream_write_transferred(const coil_stream *stream);

/* ---- listening -------------------------------------------------------------------- */

/*
 * Listen on a host (NULL for all addresses) and a port ("0" for a free one).
 *
 * The first address that works is taken, with SO_REUSEADDR. `backlog` as in listen(2); 0
 * means 1024. Suspends for names only. Fails as bind(2), listen(2), coil_getaddrinfo().
 */
COIL_SUSPENDS int coil_listen(const char *host, const char *port, int backlog,
                              coil_listener **out);

/*
 * Wait for a connection. *out is the caller's. Fails as accept(2): connections that were
 * given up before they were accepted are passed over, -EMFILE and the like are
 * returned; -EBADF when closed, -ECANCELED, -ENOMEM.
 */
COIL_SUSPENDS int coil_accept(coil_listener *listener, coil_stream **out);

/* The port in host byte order. */
COIL_API uint16_t coil_listener_port(const coil_listener *listener);

/* As coil_stream_close() and coil_stream_destroy(). */
COIL_API int coil_listener_close(coil_listener *listener);
COIL_API void coil_listener_destroy(coil_listener *listener);

/* ---- any descriptor --------------------------------------------------------------- */

/*
 * Wait until `fd` is readable or writable, as `events` asks (one of the two or both);
 * returns which, errors and hang-ups counting as both. -EBUSY if a stream or a reader or
 * writer uses it; else as coil_add_reader(). Regular files are always ready (select and
 * poll) or -EPERM (epoll). (Python: select.select)
 */
COIL_SUSPENDS int coil_wait_fd(int fd, unsigned events);

#ifdef __cplusplus
}
#endif

#endif
