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
 * One task may read a stream while another task writes it; a second reader or writer gets
 * -EBUSY. Each call first tries its operation without waiting, and waits only if
 * necessary. With io_uring, reads are submitted to the kernel immediately. A task whose
 * calls never need to wait still yields now and then, so that a peer that is always ready
 * cannot starve other tasks. Otherwise the calls follow read(2), write(2), connect(2) and
 * accept(2). (asyncio: streams, sock_recv, sock_sendall, sock_accept)
 *
 * If coil_read() or coil_accept() is cancelled, no data or connection is lost. A call
 * that completed before the cancellation returns its result, and the next call that would
 * wait returns -ECANCELED. Calls that need not wait still succeed. coil_write() and
 * coil_read_exact() may have transferred some bytes when they fail or are cancelled;
 * coil_stream_write_transferred() and coil_stream_read_transferred() then return how
 * many.
 *
 * Calls that look for a line or a separator may read ahead, into the stream's buffer. All
 * other reads first return the bytes in that buffer. Writes are not buffered.
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
 * Connect to a host and a port, each given as a name or a number: "::1", "http".
 *
 * coil tries the addresses of the host until one of them connects; see coil/connect.h. If
 * all addresses fail, coil_connect() returns the first error that is specific to the
 * host, rather than "no route", and the message of coil_last_error() lists all errors.
 *
 * The caller owns *out. Fails like connect(2) and coil_getaddrinfo(), or with -ECANCELED
 * or -ENOMEM.
 */
COIL_SUSPENDS COIL_CHECKED int coil_connect(const char *host, const char *port,
                                            coil_stream **out);

/* Like coil_connect(), with the port as a number in host byte order. */
COIL_SUSPENDS COIL_CHECKED int coil_connect_port(const char *host, uint16_t port,
                                                 coil_stream **out);

/*
 * Connect to an IPv4 address, an IPv6 address or a local socket. No name is looked up.
 *
 * coil_stream_peer(), coil_listener_name(), coil_address_of_numbers() and
 * coil_address_of_path() produce such addresses. Fails like connect(2), or with -EINVAL
 * for an incomplete address, -EAFNOSUPPORT for another family, -ECANCELED, or -ENOMEM.
 */
COIL_SUSPENDS COIL_CHECKED int coil_connect_address(const coil_address *to,
                                                    coil_stream **out);

/*
 * Connect to a local socket: a path, or "@name" in the abstract namespace. (asyncio:
 * open_unix_connection)
 *
 * Waits while the listener's queue is full. Fails like connect(2), or with -ENAMETOOLONG
 * (108 bytes or more), -ECANCELED or -ENOMEM.
 */
COIL_SUSPENDS COIL_CHECKED int coil_connect_unix(const char *path, coil_stream **out);

/*
 * Make a stream from a connected stream socket, pipe end or tty. The stream owns the
 * descriptor. (asyncio: connect_read_pipe, connect_write_pipe, open_connection(sock=))
 *
 * The descriptor becomes non-blocking. A pipe end or tty may be shared with other
 * processes: for example, the program's standard input is shared with the shell. So coil
 * reopens the file under the same descriptor number, and only the new open file becomes
 * non-blocking. If the file cannot be reopened, the shared open file is non-blocking
 * until the stream is closed.
 *
 * Standard input may also be a regular file or /dev/null. Such files are always ready, so
 * reading a regular file may block the loop until the disk has answered; to avoid that,
 * use coil/file.h.
 *
 * Fails with -EPROTOTYPE for a datagram or packet socket (see coil/datagram.h), -ENOMEM,
 * -EBADF, -EBUSY, or -EINVAL if the backend cannot wait for the descriptor. After a
 * failure the caller still owns the descriptor.
 */
COIL_API COIL_CHECKED int coil_stream_adopt(int fd, coil_stream **out);

/*
 * Create a pipe, in which ends[0] reads the data written to ends[1], or a pair of
 * connected local sockets. The caller owns both ends. Fail like pipe2(2) and
 * socketpair(2), or with -ENOMEM.
 */
COIL_API COIL_CHECKED int coil_pipe(coil_stream *ends[2]);
COIL_API COIL_CHECKED int coil_stream_pair(coil_stream *ends[2]);

/*
 * Close the descriptor. A task that is waiting in a call on the stream gets -EBADF.
 * Closing a stream again has no effect.
 *
 * Returns 0, or the error of close(2). Never suspends and never blocks: the kernel sends
 * the remaining data in the background. A time in SO_LINGER is ignored, except that 0
 * resets the connection (socket(7)).
 */
COIL_API int coil_stream_close(coil_stream *stream);

/*
 * Close the stream if it is open, and free it; NULL is accepted. A task that is waiting
 * in a call on the stream gets -EBADF, and must not use the stream again.
 */
COIL_API void coil_stream_destroy(coil_stream *stream);

/*
 * Return the descriptor, borrowed; -1 when closed.
 *
 * Use this descriptor for options, addresses and coil_poll(), but not for reading. A call
 * that read ahead, or io_uring, may already have read some of the data.
 * coil_stream_release_fd() returns a descriptor that is safe to read.
 */
COIL_API int coil_stream_fd(const coil_stream *stream);

/*
 * Return the address of the peer (coil_stream_peer) or of this end (coil_stream_name).
 * Fail like getpeername(2) and getsockname(2): -ENOTCONN once the peer is gone, -ENOTSOCK
 * for pipes, or -EBADF. (asyncio: get_extra_info)
 */
COIL_API int coil_stream_peer(const coil_stream *stream, coil_address *out);
COIL_API int coil_stream_name(const coil_stream *stream, coil_address *out);

/*
 * Limit how long a call on the stream may wait without any transfer on the stream; the
 * call then fails with -ETIMEDOUT. 0, the default, means no limit. (SO_RCVTIMEO, Go:
 * SetDeadline)
 *
 * An operation in the other direction restarts the timeout, too. With TLS, the connection
 * cannot be used after a read or a write has timed out. The limit applies from the next
 * call on. To limit a whole request, use a scope.
 */
COIL_API void coil_stream_set_idle_timeout(coil_stream *stream, int64_t timeout_ns);

/*
 * Send bytes over a local socket, with copies of `fd_count` descriptors. (unix(7),
 * SCM_RIGHTS; Python: socket.send_fds)
 *
 * Suspends until at least one byte is sent. The descriptors are sent with the first byte.
 * Returns the number of bytes sent; send the rest with coil_write(). The caller still
 * owns its descriptors. n must not be 0. Fails like sendmsg(2): -EINVAL for more than 253
 * descriptors, -EOPNOTSUPP if the stream is not a local socket or uses TLS, -EBADF,
 * -EBUSY, or -ECANCELED.
 */
COIL_SUSPENDS COIL_CHECKED ssize_t coil_send_fds(coil_stream *stream, const void *buf,
                                                 size_t n, const int *fds,
                                                 size_t fd_count);

/*
 * Receive bytes from a local socket, and the descriptors that were sent with the first
 * byte. (unix(7); Python: socket.recv_fds)
 *
 * Before the call, *fd_count is the size of `fds`, at most 253; after the call, it is the
 * number of received descriptors. The descriptors belong to the caller and are
 * close-on-exec. Returns the number of received bytes; 0 at the end. A call never
 * combines the descriptors of two sends. All other calls that read from the stream drop
 * descriptors, so use only this function while descriptors may arrive. If more
 * descriptors arrive than fit into `fds`, the call closes all of them and fails with
 * -EMSGSIZE. Fails as coil_send_fds().
 */
COIL_SUSPENDS COIL_CHECKED ssize_t coil_receive_fds(coil_stream *stream, void *buf,
                                                    size_t n, int *fds, size_t *fd_count);

/*
 * Return the process, user and group that created the other end of a local socket.
 * (unix(7), SO_PEERCRED)
 *
 * The values date from the peer's call of connect(2), listen(2) or socketpair(2). A pid
 * of 0 means that the process is outside the program's PID namespace (its container).
 * Fails with -EOPNOTSUPP for other sockets, and like getsockopt(2).
 */
COIL_API int coil_stream_credentials(const coil_stream *stream, pid_t *pid, uid_t *uid,
                                     gid_t *gid);

/*
 * Send small writes immediately, or let the kernel combine them (TCP_NODELAY). The option
 * is on for all streams that coil creates. Fails like setsockopt(2): -EOPNOTSUPP for
 * local sockets, -ENOTSOCK, or -EBADF.
 */
COIL_API int coil_stream_set_no_delay(coil_stream *stream, bool on);

/*
 * Make the kernel probe a silent peer, to detect a lost connection. (SO_KEEPALIVE)
 *
 * After `idle_ns` of silence, rounded up to seconds, the kernel sends ten probes within
 * another `idle_ns`. If none is answered, reading fails with -ETIMEDOUT. 0, the default,
 * sends no probes. Fails with -EINVAL for more than nine hours, otherwise like
 * coil_stream_set_no_delay().
 */
COIL_API int coil_stream_set_keep_alive(coil_stream *stream, int64_t idle_ns);

/*
 * Move a stream to another loop: detach it in its own loop, pass the pointer to the other
 * thread, and attach it there.
 *
 * While a stream is detached, it may only be attached, closed or destroyed, on any
 * thread. Data that was read ahead and the TLS session move with the stream. Both fail
 * with -EBUSY while a call is in progress on the stream; coil_stream_attach() also fails
 * with -EBUSY if the stream is already attached. Also fail with -EBADF if the stream is
 * closed, -ENOMEM, or -EOPNOTSUPP in a simulated network.
 */
COIL_API int coil_stream_detach(coil_stream *stream);
COIL_API int coil_stream_attach(coil_stream *stream);

/*
 * Return the descriptor, which then belongs to the caller, and free the stream. A
 * descriptor that was blocking when it was adopted becomes blocking again.
 *
 * Fails with -EBUSY while a call is in progress, or if received bytes or an error have
 * not been read yet. Also fails with -EBADF, or, for TLS or in a simulated network, with
 * -EOPNOTSUPP. A failure changes nothing.
 */
COIL_API int coil_stream_release_fd(coil_stream *stream);

/*
 * Read at most n bytes, suspending until at least one is available.
 *
 * Returns the number of bytes; 0 at the end of the stream, or if n is 0. Fails like
 * read(2), or with -EBADF, -EBUSY or -ECANCELED. The call fails immediately on a
 * descriptor that cannot be read, such as the write end of a pipe, a listening socket or
 * a pidfd.
 *
 * After a reset (-ECONNRESET) or a timeout (-ETIMEDOUT) each read returns that error,
 * even if a write has already returned it. So a lost connection never looks like the end
 * of the stream.
 */
COIL_SUSPENDS COIL_CHECKED ssize_t coil_read(coil_stream *stream, void *buf, size_t n);

/*
 * Wait until coil_read() can return immediately, with data, the end of the stream, or a
 * failure. (tokio: TcpStream::readable)
 *
 * Consumes nothing. Bytes that were read ahead count as readable. With TLS, only
 * decrypted bytes count. Returns 0. Fails with -EBADF, -ECANCELED, -ENOMEM, or, while
 * another task reads or waits in this call, with -EBUSY. Fails immediately, like
 * coil_read(), on a descriptor that cannot be read.
 *
 * The task needs no buffer while it waits in this call, which therefore takes the least
 * memory for peers that are mostly silent.
 *
 *     while ((rc = coil_stream_wait_readable(stream)) == 0)
 *         if ((rc = answer(stream)) <= 0)         // reads into a buffer of its own frame
 *             break;
 */
COIL_SUSPENDS int coil_stream_wait_readable(coil_stream *stream);

/*
 * Read exactly n bytes. (asyncio: readexactly)
 *
 * Returns n. Fails with -ENODATA if the stream ends earlier, or like coil_read(). After a
 * failure, coil_stream_read_transferred() returns how many bytes arrived.
 */
COIL_SUSPENDS COIL_CHECKED ssize_t coil_read_exact(coil_stream *stream, void *buf,
                                                   size_t n);

/*
 * Write all n bytes, suspending as often as necessary. When the call succeeds, the kernel
 * has accepted all n bytes. (asyncio: write and drain)
 *
 * Returns n. Fails like write(2) (without SIGPIPE), or with -EBADF, -EBUSY or -ECANCELED.
 * On a lost connection a write fails with the connection's error, or with -EPIPE.
 * coil_stream_write_transferred() returns how many bytes were written before the failure.
 */
COIL_SUSPENDS ssize_t coil_write(coil_stream *stream, const void *buf, size_t n);

/*
 * Write the contents of `count` buffers in order, like coil_write(). Fails with -EINVAL
 * if the total size overflows. (asyncio: writelines and drain)
 */
COIL_SUSPENDS ssize_t coil_writev(coil_stream *stream, const struct iovec *parts,
                                  int count);

/*
 * Write n bytes of a regular file, starting at *offset. SIZE_MAX means up to the end of
 * the file. (asyncio: sendfile)
 *
 * If `offset` is NULL, the call starts at the file's position. The offset or position is
 * advanced by the number of bytes sent, even after a failure.
 *
 * Returns the number of bytes sent, which is less than n if the file ends earlier or
 * shrinks during the call. If the stream is a socket without TLS, data in the page cache
 * is sent with sendfile(2). All other data is read without blocking the loop, and then
 * written. Fails like coil_write() and pread(2), or with -EINVAL if `fd` is neither a
 * regular file nor a block device.
 */
COIL_SUSPENDS ssize_t coil_sendfile(coil_stream *stream, int fd, int64_t *offset,
                                    size_t n);

/*
 * Copy data from one stream to another, until `from` ends or (coil_copy_n) n bytes are
 * copied. (Go: io.Copy, io.CopyN)
 *
 * Returns the number of bytes; for coil_copy_n() that is less than n if the stream ended
 * earlier. When `from` ends, `to` remains open for writing: see
 * coil_stream_shutdown_write(). `from` and `to` may be the same stream. A proxy needs one
 * task for each direction.
 *
 * Fails like coil_read() on `from` and coil_write() on `to`, or with -ENOMEM or
 * -ECANCELED. After a failure, coil_stream_write_transferred() of `to` returns how many
 * bytes were written, and coil_stream_read_transferred() of `from` returns the same
 * number. No bytes are lost: bytes that were read but not written remain in the buffer of
 * `from`, and the next read returns them.
 *
 * The copy uses the look-ahead buffer of `from`. The buffer is 4 KiB long at first, and
 * grows up to the stream's limit as long as reads fill it.
 */
COIL_SUSPENDS ssize_t coil_copy(coil_stream *from, coil_stream *to);
COIL_SUSPENDS ssize_t coil_copy_n(coil_stream *from, coil_stream *to, size_t n);

/*
 * Shut down the sending side, so that the peer reads the end of the stream. (asyncio:
 * write_eof)
 *
 * Suspends only for TLS, which sends a message (coil/tls.h). The write end of a pipe is
 * closed, as by coil_stream_close(). The pipe's reader reads the end of the stream once
 * all processes that share the write end have closed it. Fails like shutdown(2), or with
 * -EBADF, -EBUSY or -ECANCELED. Fails with -ENOTSOCK for a terminal, the read end of a
 * pipe, or a FIFO that is also open for reading.
 */
COIL_SUSPENDS int coil_stream_shutdown_write(coil_stream *stream);

/*
 * Return how many bytes were transferred by the latest call in this direction, even if it
 * failed.
 *
 * Only these calls count for reading: coil_read_exact(), coil_read_line(),
 * coil_read_until(), and coil_copy() from the stream. Only these count for writing:
 * coil_write(), coil_writev(), coil_sendfile(), and coil_copy() to the stream. Returns 0
 * if the call failed immediately. If it failed with -EBUSY, returns the count of the call
 * in progress.
 */
COIL_API size_t coil_stream_read_transferred(const coil_stream *stream);
COIL_API size_t coil_stream_write_transferred(const coil_stream *stream);

/* ---- looking ahead ----------------------------------------------------------------- */

/*
 * Read a line. (asyncio: readline)
 *
 * Returns the line's length. `line` receives the line without the '\n', and with a '\0'
 * at the end. A '\r' is not removed.
 *
 * Fails with -EMSGSIZE if the line does not fit into `size` bytes, or is longer than the
 * limit. In that case nothing is consumed, and coil_read() can still read the line. Fails
 * with -ENODATA at the end of the stream: `line` then holds the bytes after the last
 * '\n', and coil_stream_read_transferred() returns how many. Otherwise fails like
 * coil_read(), without consuming anything, or with -ENOMEM, or with -EINVAL for a size of
 * 0.
 */
COIL_SUSPENDS COIL_CHECKED ssize_t coil_read_line(coil_stream *stream, char *line,
                                                  size_t size);

/*
 * Read into `buf` up to and including a separator of n bytes. Returns the number of
 * bytes. Fails like coil_read_line(), or with -EINVAL for an empty separator. (asyncio:
 * readuntil)
 */
COIL_SUSPENDS COIL_CHECKED ssize_t coil_read_until(coil_stream *stream,
                                                   const void *separator, size_t n,
                                                   void *buf, size_t size);

/*
 * Wait until the buffer contains at least `at_least` bytes, and return a pointer to the
 * buffered bytes without consuming them.
 *
 * *data is borrowed until the next call that reads or closes the stream. Returns the
 * number of bytes, which is less than `at_least` only at the end of the stream. If
 * `at_least` is 0, the call does not wait. Fails like coil_read(), or with -EMSGSIZE if
 * `at_least` exceeds the limit, or with -ENOMEM.
 */
COIL_SUSPENDS COIL_CHECKED ssize_t coil_peek(coil_stream *stream, const void **data,
                                             size_t at_least);

/*
 * Consume the first n of the bytes that coil_peek() returned. Aborts if there are fewer,
 * or while a task reads.
 */
COIL_API void coil_stream_consume(coil_stream *stream, size_t n);

/*
 * Set the look-ahead limit: the maximum number of bytes before a separator, and the
 * maximum size of the buffer. The default is 64 KiB. Fails with -EINVAL for 0 or for more
 * than SSIZE_MAX / 2. (asyncio: limit=)
 */
COIL_API int coil_stream_set_limit(coil_stream *stream, size_t bytes);

/*
 * True once a read has reached the end and all bytes have been consumed. (asyncio:
 * at_eof)
 */
COIL_API bool coil_stream_at_end(const coil_stream *stream);

/* ---- listening --------------------------------------------------------------------- */

/*
 * Listen on a host (NULL for all addresses) and a port ("0" for a free port).
 *
 * Binds to the first address of the host that works, with SO_REUSEADDR. `backlog` is as
 * in listen(2); 0 means 1024. Suspends only to look up names. Fails like bind(2),
 * listen(2) and coil_getaddrinfo().
 */
COIL_SUSPENDS COIL_CHECKED int coil_listen(const char *host, const char *port,
                                           int backlog, coil_listener **out);

/* Like coil_listen(), with the port as a number in host byte order; 0 for a free port. */
COIL_SUSPENDS COIL_CHECKED int coil_listen_port(const char *host, uint16_t port,
                                                int backlog, coil_listener **out);

/*
 * Listen on an IPv4 address, an IPv6 address, or a local socket as with
 * coil_listen_unix(). Does not suspend.
 *
 * Fails like coil_listen(), or with -EINVAL for an incomplete address, or -EAFNOSUPPORT.
 */
COIL_API COIL_CHECKED int coil_listen_address(const coil_address *at, int backlog,
                                              coil_listener **out);

/*
 * Listen on a local socket: a path, or "@name" in the abstract namespace. Does not
 * suspend. (asyncio: start_unix_server)
 *
 * A socket that already exists at the path is replaced, even if its server is still
 * running. If any other file exists there, the result is -EADDRINUSE. Closing the
 * listener removes the file, unless another program has replaced it. Fails like bind(2)
 * and listen(2), or with -ENAMETOOLONG (108 bytes or more) or -ENOMEM.
 */
COIL_API COIL_CHECKED int coil_listen_unix(const char *path, int backlog,
                                           coil_listener **out);

typedef struct coil_listen_options {
    const char *host, *port; /* as in coil_listen() */
    int backlog;             /* 0 means 1024 */
    /*
     * Several sockets may listen on the same port if all of them set this member
     * (SO_REUSEPORT). The kernel distributes the connections among them.
     */
    bool reuse_port;
    bool v6_only;     /* IPv6 only: "::" does not accept IPv4 */
    const char *path; /* path of a local socket: see coil_listen_unix() */
    /*
     * Mode of the socket's file, set before any client can connect; 0 means the default
     * according to umask(2).
     */
    unsigned mode;
    bool keep_file;              /* closing the listener does not remove the file */
    const coil_address *address; /* if set, host, port and path must be NULL */
} coil_listen_options;

/*
 * Listen with options. Fails like the calls above, or with -EINVAL if more than one of
 * address, path, and host or port is set.
 */
COIL_SUSPENDS COIL_CHECKED int coil_listen_opts(const coil_listen_options *opts,
                                                coil_listener **out);

/*
 * Listen on all addresses of a host, but at most `max`, with one listener for each
 * address, all on the same port. For example, "localhost" may be ::1 and 127.0.0.1.
 * (asyncio: create_server)
 *
 * Returns the number of listeners, at least 1; out[0] to out[n-1] are the caller's.
 * Address families that this machine does not support are skipped. If one listener cannot
 * be created, no listener is created. Fails like coil_listen_opts(). A coil_server
 * (coil/server.h) can serve several listeners.
 */
COIL_SUSPENDS COIL_CHECKED int coil_listen_all(const coil_listen_options *opts,
                                               coil_listener *out[], int max);

/*
 * Make a listener from an inherited listening socket (sd_listen_fds(3)). The listener
 * then owns the descriptor, which becomes non-blocking. (asyncio: start_server(sock=))
 *
 * Fails with -EINVAL if the socket does not listen, -ENOTSOCK, -EBADF, -EBUSY, or
 * -ENOMEM. After a failure the caller still owns the descriptor. The file of a local
 * socket is not removed.
 */
COIL_API COIL_CHECKED int coil_listener_adopt(int fd, coil_listener **out);

/*
 * Accept a connection, suspending until one arrives. The caller owns *out.
 *
 * Fails like accept(2), or with -EBADF when closed, or -ECANCELED. Connections that the
 * peer aborted before they were accepted are skipped. After -EMFILE, similar errors and
 * -ENOMEM, the connection is still queued for the next call. A connection that the
 * select(2) backend cannot watch is closed, and the result is -EINVAL.
 */
COIL_SUSPENDS COIL_CHECKED int coil_accept(coil_listener *listener, coil_stream **out);

/* Return the port in host byte order; 0 for a local socket. */
COIL_API uint16_t coil_listener_port(const coil_listener *listener);

/*
 * Return the address of the listener. Fails with -EBADF when closed. (asyncio:
 * getsockname)
 */
COIL_API int coil_listener_name(const coil_listener *listener, coil_address *out);

/* These functions work like coil_stream_close() and coil_stream_destroy(). */
COIL_API int coil_listener_close(coil_listener *listener);
COIL_API void coil_listener_destroy(coil_listener *listener);

/* ---- any descriptor ---------------------------------------------------------------- */

/*
 * Wait until `fd` is readable or writable. `events` is COIL_READABLE, COIL_WRITABLE or
 * both. (Python: select.select)
 *
 * Returns the events that occurred; an error or a hang-up counts as both events. Fails
 * with -EBUSY if a stream, a reader or a writer uses the descriptor; otherwise like
 * coil_add_reader(). Regular files, /dev/null and the like are always ready.
 */
COIL_SUSPENDS int coil_wait_fd(int fd, unsigned events);

#ifdef __cplusplus
}
#endif

#endif
