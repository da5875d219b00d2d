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
 * -EBUSY. Each operation is tried first; on io_uring reads are submitted instead. A call
 * that need not wait still yields now and then, so that a peer that is always ready does
 * not keep other tasks from running. Otherwise the calls follow read(2), write(2),
 * connect(2), accept(2). (asyncio: streams, sock_recv, sock_sendall, sock_accept)
 *
 * A cancelled coil_read() or coil_accept() has taken nothing: a call that took effect
 * before the cancellation returns its result, and the next call that would wait returns
 * -ECANCELED. Calls that need not wait succeed meanwhile. coil_write() and coil_read_exact() may have moved some bytes when they
 * fail or are cancelled; coil_stream_write_transferred() and
 * coil_stream_read_transferred() return their number.
 *
 * Calls that look ahead, for a line or a separator, read into a buffer of the stream; all
 * other reads take the bytes in that buffer first. There is no buffer for writing.
 */
#ifndef COIL_STREAM_H
#define COIL_STREAM_H

#include <coil/address.h>
#include <coil/loop.h>

#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_stream coil_stream;
typedef struct coil_listener coil_listener;

/*
 * Connect to a host and a port, both names or numbers: "::1", "http". Every address that
 * the name has is tried, and the first that connects is taken; see coil/connect.h. Of
 * several failures the first that says something of the host is returned; the sentence
 * of coil_last_error() has them all.
 *
 * Fails as connect(2), as coil_getaddrinfo(), with -ECANCELED, -ENOMEM. *out is the
 * caller's.
 */
COIL_SUSPENDS int coil_connect(const char *host, const char *port, coil_stream **out);

/* The same with the port as a number in host byte order. */
COIL_SUSPENDS int coil_connect_port(const char *host, uint16_t port, coil_stream **out);

/*
 * Connect to an address, of IPv4, IPv6 or a local socket: as coil_stream_peer(),
 * coil_listener_name(), coil_address_of_numbers() or coil_address_of_path() made it. No
 * name is looked up. Fails as connect(2), with -EINVAL for an address that is not whole,
 * -EAFNOSUPPORT for one of another family, -ECANCELED, -ENOMEM.
 */
COIL_SUSPENDS int coil_connect_address(const coil_address *to, coil_stream **out);

/*
 * Connect to a local socket: its path, or "@name" for one in the abstract namespace.
 * Waits while the listener's queue is full. Fails as connect(2), with -ENAMETOOLONG (108
 * bytes and more), -ECANCELED, -ENOMEM. (asyncio: open_unix_connection)
 */
COIL_SUSPENDS int coil_connect_unix(const char *path, coil_stream **out);

/*
 * Make a stream of a connected stream socket, pipe end or tty, which it then owns.
 * (asyncio: connect_read_pipe, connect_write_pipe, open_connection(sock=))
 *
 * The descriptor is made non-blocking. For a pipe end or tty that others share (the shell
 * has our standard input too) the number stands for an open file of its own from then on,
 * so they do not notice; where that cannot be had, it blocks again from when the stream
 * is closed. Standard input may also be a regular file, or /dev/null: such are always
 * ready, and reading a file blocks the loop as long as its disk takes (coil/file.h does
 * not). Fails with -EPROTOTYPE for a socket of datagrams or packets (coil/datagram.h),
 * -ENOMEM, -EBADF, -EBUSY, or -EINVAL where the backend cannot wait for it; the descriptor
 * remains the caller's then.
 */
COIL_API int coil_stream_adopt(int fd, coil_stream **out);

/*
 * Make a pipe: what is written to ends[1] is read from ends[0]. Or a pair of connected
 * local sockets. Both ends are the caller's. Fail as pipe2(2), socketpair(2), with
 * -ENOMEM.
 */
COIL_API int coil_pipe(coil_stream *ends[2]);
COIL_API int coil_stream_pair(coil_stream *ends[2]);

/*
 * Close the descriptor; a task that waits in a call on the stream gets -EBADF. The second
 * time nothing happens. Returns 0 or what close(2) failed with. Never suspends, and never
 * blocks: SO_LINGER with a time has no effect, and the kernel sends the rest by itself.
 * With a time of 0 it resets the connection (socket(7)).
 */
COIL_API int coil_stream_close(coil_stream *stream);

/*
 * Close it if need be, and free it; NULL is accepted. A task that waits in one of its
 * calls gets -EBADF and may not use it any more.
 */
COIL_API void coil_stream_destroy(coil_stream *stream);

/*
 * The descriptor, borrowed; -1 when closed. For options, addresses and coil_poll(), not
 * for reading: what arrived may have been taken from it already, by a look-ahead or by
 * the kernel for an io_uring. coil_stream_release_fd() gives it up whole.
 */
COIL_API int coil_stream_fd(const coil_stream *stream);

/*
 * The addresses of the peer and of this end. Fail as getpeername(2) and getsockname(2):
 * -ENOTCONN once the peer is gone, -ENOTSOCK for pipes; -EBADF. (asyncio:
 * get_extra_info)
 */
COIL_API int coil_stream_peer(const coil_stream *stream, coil_address *out);
COIL_API int coil_stream_name(const coil_stream *stream, coil_address *out);

/*
 * Who made the other end of a local socket: its process, user and group then. A
 * pid of 0 is a process outside of this program's PID namespace, that is of its container.
 * -EOPNOTSUPP for other sockets; as getsockopt(2). (unix(7), SO_PEERCRED)
 */
COIL_API int coil_stream_credentials(const coil_stream *stream, pid_t *pid, uid_t *uid,
                                     gid_t *gid);

/*
 * Send small writes at once, or gather them (TCP_NODELAY). It is on for all that coil
 * makes. Fails as setsockopt(2): -EOPNOTSUPP for local sockets, -ENOTSOCK; -EBADF.
 */
COIL_API int coil_stream_set_no_delay(coil_stream *stream, bool on);

/*
 * Have the kernel ask a peer that has been silent for `idle_ns`, rounded up to seconds,
 * whether it is still there, ten times in as long again; if it is not, reading fails with
 * -ETIMEDOUT. 0: never, as at first. -EINVAL for more than nine hours; else as above.
 * (SO_KEEPALIVE)
 */
COIL_API int coil_stream_set_keep_alive(coil_stream *stream, int64_t idle_ns);

/*
 * Take a stream to another loop: detach it in its own, hand the pointer over by whatever
 * means, attach it there. In between it may only be attached, closed and destroyed, on
 * any thread. What has been read ahead, and TLS, go along. -EBUSY while a call is in it
 * (or, for attach, if it is attached), -EBADF if it is closed, -ENOMEM; -EOPNOTSUPP in a
 * simulated network.
 */
COIL_API int coil_stream_detach(coil_stream *stream);
COIL_API int coil_stream_attach(coil_stream *stream);

/*
 * Give the bare descriptor up, blocking if it was adopted so, and free the stream.
 * Returns the descriptor, which is the caller's. -EBUSY while a call is in it, or where
 * bytes, or an error, have come that nobody has asked for yet; -EBADF; -EOPNOTSUPP for
 * TLS and in a simulated network. Then nothing has changed.
 */
COIL_API int coil_stream_release_fd(coil_stream *stream);

/*
 * Read what there is, at most n bytes, waiting until there is some. Returns how many; 0
 * at the end (or for n of 0). Fails as read(2), -EBADF, -EBUSY, -ECANCELED. What read(2)
 * refuses fails at once: the write end of a pipe, a listening socket, a pidfd.
 *
 * After a reset (-ECONNRESET) or a time-out (-ETIMEDOUT) each read returns that error,
 * even if a write has returned it before. So a lost connection never looks like an end.
 */
COIL_SUSPENDS ssize_t coil_read(coil_stream *stream, void *buf, size_t n);

/*
 * Wait until coil_read() would not wait: until there is a byte, the end of the stream, or
 * a failure, which the read then returns. Bytes that were read ahead count, and with TLS
 * those that are decrypted. Takes nothing. Returns 0. Fails with -EBADF, -EBUSY while
 * another task reads or waits so, -ECANCELED, -ENOMEM; at once, and as coil_read(), on a
 * descriptor that cannot be read. (tokio: TcpStream::readable)
 *
 * While the task waits, the stream holds no buffer and the kernel none of the task's
 * memory: the cheapest way to wait for a peer that is mostly silent.
 *
 *     while ((rc = coil_stream_wait_readable(stream)) == 0)
 *         if ((rc = answer(stream)) <= 0)         // reads into a buffer of its own frame
 *             break;
 */
COIL_SUSPENDS int coil_stream_wait_readable(coil_stream *stream);

/*
 * Read exactly n bytes. Returns n; -ENODATA if the end comes before; or fails as
 * coil_read(). How many bytes did arrive, coil_stream_read_transferred() says.
 * (asyncio: readexactly)
 */
COIL_SUSPENDS ssize_t coil_read_exact(coil_stream *stream, void *buf, size_t n);

/*
 * Write all n bytes, waiting as often as needed: when it returns they are with the
 * kernel. Returns n, or fails as write(2) (without SIGPIPE), -EBADF, -EBUSY, -ECANCELED.
 * On a lost connection a write fails with the connection's error, or with -EPIPE.
 * How many bytes went out before that, coil_stream_write_transferred() says.
 * (asyncio: write and drain)
 */
COIL_SUSPENDS ssize_t coil_write(coil_stream *stream, const void *buf, size_t n);

/*
 * Write the parts one after the other, as many as there are, as coil_write() does:
 * -EINVAL if all together are too many bytes to count. (asyncio: writelines and drain)
 */
COIL_SUSPENDS ssize_t coil_writev(coil_stream *stream, const struct iovec *parts,
                                  int count);

/*
 * Write n bytes of a regular file, or all there are (SIZE_MAX), from *offset on; NULL
 * stands for the file's own position. That is moved past what was sent, in any case.
 * (asyncio: sendfile)
 *
 * Returns how many bytes were sent: fewer than n where the file ends before, be it that
 * it shrank meanwhile. To a socket it is sendfile(2), as far as the file is in the page
 * cache; else it is read, without blocking the loop, and written. Fails as coil_write()
 * and pread(2); -EINVAL for what is no regular file.
 */
COIL_SUSPENDS ssize_t coil_sendfile(coil_stream *stream, int fd, int64_t *offset,
                                    size_t n);

/*
 * Copy all that is still to come from one stream to another, until the end, or n bytes of
 * it at most. Returns how many bytes that were; coil_copy_n() fewer than n if the end
 * came before. `to` is not told of the end: see coil_stream_shutdown_write(). Both may be
 * the same stream. For each direction of a proxy one task copies. (Go: io.Copy, io.CopyN)
 *
 * Fails as coil_read() on `from` and as coil_write() on `to`, with -ENOMEM, -ECANCELED.
 * How many bytes were written before that, coil_stream_write_transferred() of `to` says,
 * and coil_stream_read_transferred() of `from` the same. No other byte is lost: what was
 * read and could not be written is the next to be read from `from`, by any call.
 *
 * It reads into the buffer for looking ahead: 4 KiB, and up to the limit of `from` while
 * reads fill it.
 */
COIL_SUSPENDS ssize_t coil_copy(coil_stream *from, coil_stream *to);
COIL_SUSPENDS ssize_t coil_copy_n(coil_stream *from, coil_stream *to, size_t n);

/*
 * Tell the peer that nothing more will be written. Waits only where that is said in bytes
 * (coil/tls.h). The write end of a pipe is closed, as by coil_stream_close(): its reader
 * sees the end once all who share that end have closed it. Fails as shutdown(2), -EBADF,
 * -EBUSY, -ECANCELED; -ENOTSOCK for a terminal, the read end of a pipe, or a FIFO that is
 * open for reading, too. (asyncio: write_eof)
 */
COIL_SUSPENDS int coil_stream_shutdown_write(coil_stream *stream);

/*
 * The bytes moved by the latest coil_read_exact(), coil_read_line(), coil_read_until() or
 * coil_copy() from it, and by the latest coil_write(), coil_writev(), coil_sendfile() or
 * coil_copy() to it, complete or not: 0 for one that failed at once, but that -EBUSY
 * leaves the count of the call it met.
 */
COIL_API size_t coil_stream_read_transferred(const coil_stream *stream);
COIL_API size_t coil_stream_write_transferred(const coil_stream *stream);

/* ---- looking ahead ----------------------------------------------------------------- */

/*
 * Read a line. Returns its length; it stands in `line` without its '\n' and with a '\0'
 * behind it (a '\r' is left to you). (asyncio: readline)
 *
 * -EMSGSIZE if the line does not fit `size` bytes, or is longer than the limit; then it
 * is still there, to be had by coil_read(). -ENODATA at the end: what came after the last
 * '\n' is in `line`, and coil_stream_read_transferred() says how much that is. Else fails
 * as coil_read(), having taken nothing, or with -ENOMEM, -EINVAL for a size of 0.
 */
COIL_SUSPENDS ssize_t coil_read_line(coil_stream *stream, char *line, size_t size);

/*
 * Read up to a separator of n bytes, and the separator, into `buf`. Returns how many
 * bytes that are. Fails as coil_read_line(); -EINVAL for an empty separator. (asyncio:
 * readuntil)
 */
COIL_SUSPENDS ssize_t coil_read_until(coil_stream *stream, const void *separator,
                                      size_t n, void *buf, size_t size);

/*
 * Wait until at least so many bytes have come, and look at them where they are: *data is
 * borrowed until the next call that reads or closes the stream. Returns how many there
 * are, which is fewer than `at_least` at the end only. With 0 it does not wait. Fails as
 * coil_read(), with -EMSGSIZE if that is more than the limit, -ENOMEM.
 */
COIL_SUSPENDS ssize_t coil_peek(coil_stream *stream, const void **data, size_t at_least);

/* The first n of the bytes that were peeked at are done with. More than there are, or
 * while a task reads, stops the program. */
COIL_API void coil_stream_consume(coil_stream *stream, size_t n);

/*
 * Set how far these calls look ahead: so many bytes before a separator, and so much
 * memory at most. It is 64 KiB at first. -EINVAL for 0. (asyncio: limit=)
 */
COIL_API int coil_stream_set_limit(coil_stream *stream, size_t bytes);

/* True once a read has met the end and nothing is left to be read. (asyncio: at_eof) */
COIL_API bool coil_stream_at_end(const coil_stream *stream);

/* ---- listening --------------------------------------------------------------------- */

/*
 * Listen on a host (NULL for all addresses) and a port ("0" for a free one).
 *
 * The first address that works is taken, with SO_REUSEADDR. `backlog` as in listen(2); 0
 * means 1024. Suspends for names only. Fails as bind(2), listen(2), coil_getaddrinfo().
 */
COIL_SUSPENDS int coil_listen(const char *host, const char *port, int backlog,
                              coil_listener **out);

/* The same with the port as a number in host byte order; 0 for a free one. */
COIL_SUSPENDS int coil_listen_port(const char *host, uint16_t port, int backlog,
                                   coil_listener **out);

/*
 * Listen on an address, as coil_connect_address() takes them; a local one as
 * coil_listen_unix(). Fails as coil_listen(), with -EINVAL for an address that is not
 * whole, -EAFNOSUPPORT. Does not suspend.
 */
COIL_API int coil_listen_address(const coil_address *at, int backlog,
                                 coil_listener **out);

/*
 * Listen on a local socket: a path, or "@name" for one in the abstract namespace.
 * (asyncio: start_unix_server)
 *
 * A socket that has the path already, of a server that crashed or of one that runs, is
 * replaced; any other file is -EADDRINUSE. When the listener is closed the file goes,
 * unless it is another's by then. Fails as bind(2), listen(2), with -ENAMETOOLONG (108
 * bytes and more), -ENOMEM. Does not suspend.
 */
COIL_API int coil_listen_unix(const char *path, int backlog, coil_listener **out);

typedef struct coil_listen_options {
    const char *host, *port; /* as for coil_listen() */
    int backlog;             /* 0 means 1024 */
    bool reuse_port;  /* others may listen on the same port, if they all say so, and
                         the kernel shares connections out (SO_REUSEPORT) */
    bool v6_only;     /* IPv6 alone; "::" does not serve IPv4 */
    const char *path; /* a local socket instead, as for coil_listen_unix() */
    unsigned mode;    /* of its file, set before anybody can connect; 0 means what
                         umask(2) leaves */
    bool keep_file;   /* it stays when the listener is closed */
    const coil_address *address; /* instead of host and port, or path */
} coil_listen_options;

/* All of these, and more. -EINVAL for more than one of them. */
COIL_SUSPENDS int coil_listen_opts(const coil_listen_options *opts, coil_listener **out);

/*
 * Listen on all addresses that the host has, `max` at most, each with a listener of its
 * own, on the same port: "localhost" may be ::1 and 127.0.0.1. (asyncio: create_server)
 *
 * Returns how many, at least 1; out[0] to out[n-1] are the caller's. Families that this
 * machine has not got are passed over. If one cannot be had, none are. Fails as
 * coil_listen_opts(). A coil_server (coil/server.h) serves several.
 */
COIL_SUSPENDS int coil_listen_all(const coil_listen_options *opts, coil_listener *out[],
                                  int max);

/*
 * Make a listener of an inherited socket that listens (sd_listen_fds(3)), which it then
 * owns; the descriptor is made non-blocking. -EINVAL if it does not listen, -ENOTSOCK,
 * -EBADF, -EBUSY, -ENOMEM; it remains the caller's then. The file of a local one is left
 * alone. (asyncio: start_server(sock=))
 */
COIL_API int coil_listener_adopt(int fd, coil_listener **out);

/*
 * Wait for a connection. *out is the caller's. Fails as accept(2): connections that were
 * given up before they were accepted are passed over, -EMFILE and the like are returned,
 * as -ENOMEM is, and the connection is there for the next call; -EINVAL, and it is closed,
 * if select(2) is the backend and cannot watch it; -EBADF when closed, -ECANCELED.
 */
COIL_SUSPENDS int coil_accept(coil_listener *listener, coil_stream **out);

/* The port in host byte order; 0 for a local socket. */
COIL_API uint16_t coil_listener_port(const coil_listener *listener);

/* Where it listens. -EBADF when closed. (asyncio: getsockname) */
COIL_API int coil_listener_name(const coil_listener *listener, coil_address *out);

/* As coil_stream_close() and coil_stream_destroy(). */
COIL_API int coil_listener_close(coil_listener *listener);
COIL_API void coil_listener_destroy(coil_listener *listener);

/* ---- any descriptor ---------------------------------------------------------------- */

/*
 * Wait until `fd` is readable or writable, as `events` asks (one of the two or both);
 * returns which, errors and hang-ups counting as both. -EBUSY if a stream or a reader or
 * writer uses it; else as coil_add_reader(). Regular files, /dev/null and the like are
 * always ready. (Python: select.select)
 */
COIL_SUSPENDS int coil_wait_fd(int fd, unsigned events);

#ifdef __cplusplus
}
#endif

#endif
