/*
 * child_stdio.c - the standard descriptors of a child: pipes, a pseudo-terminal, or
 * inherited descriptors.
 *
 * The parent's ends of pipes and of the pseudo-terminal are streams.
 */
#include "child_stdio.h"
#include "terminal.h"

#include "../base/fault.h"
#include "../kernel/descriptors.h"
#include "../kernel/terminal.h"
#include "../loop/leak.h"
#include "../stream/stream.h"
#include "../task/failure.h"

#include <fcntl.h>
#include <unistd.h>

/*
 * Return `fd` if it is above 2; otherwise close it, and return a duplicate above 2. If
 * the program has closed 0, 1 or 2, open(2) returns these numbers, and a child that
 * should inherit a closed stdin would get `fd` instead.
 */
static int above_stdio(int fd)
{
    int higher, error;

    if (fd < 0)
        return coil__failed(-errno);
    if (fd > 2)
        return fd;
    higher = COIL__CALL(EMFILE, fcntl(fd, F_DUPFD_CLOEXEC, 3));
    error = errno;
    close(fd);
    return higher < 0 ? coil__failed(-error) : higher;
}

/* Create a pipe with two descriptors above 2. fds[ours] is non-blocking. */
static int make_pipe(int fds[2], int ours)
{
    int rc;

    if (COIL__CALL(EMFILE, pipe2(fds, O_CLOEXEC)) < 0)
        return coil__failed(-errno);
    for (int k = 0; k < 2; k++) {
        fds[k] = above_stdio(fds[k]);
        if (fds[k] < 0) {
            rc = fds[k];
            close(fds[!k]);
            return rc;
        }
    }
    if (COIL__CALL(EPERM, fcntl(fds[ours], F_SETFL, O_NONBLOCK)) == 0)
        return 0;
    rc = coil__failed(-errno);
    close(fds[0]);
    close(fds[1]);
    return rc;
}

/*
 * Open a pipe for the child's descriptor `i`. Returns the child's end, or a negative
 * errno.
 */
static int open_pipe(struct coil__stdio *stdio, int i)
{
    int fds[2], ours = i == 0 ? 1 : 0;
    int rc = make_pipe(fds, ours);

    if (rc < 0)
        return rc;
    rc = coil__stream_make(fds[ours], false, "coil_process_spawn", &stdio->ends[i]);
    if (rc == 0) {
        /* the coil_process owns the stream */
        coil__leak_forget(&stdio->ends[i]->endpoint);
        return fds[!ours];
    }
    close(fds[!ours]);
    return rc;
}

/*
 * Open the same pipe or terminal again. coil__fd_reopen() uses O_NONBLOCK, so that
 * opening a FIFO does not wait for its other end. This function then clears the flag.
 */
static int open_again(int fd, int flags)
{
    int again;

    flags &= O_ACCMODE | O_APPEND;
    again = coil__call_fails(EMFILE, "open") ? -1 : coil__fd_reopen(fd, flags);
    if (again >= 0)
        fcntl(again, F_SETFL, flags);
    return again;
}

/*
 * If `fd` is non-blocking, open its file again, so that the child's reads do not fail
 * with EAGAIN. O_NONBLOCK is not cleared on `fd`, because it belongs to the open file
 * description, which other processes may share. Returns the new descriptor, or `fd` if
 * reopening is unnecessary or impossible (a socket).
 */
static int open_blocking(int fd)
{
    int flags = COIL__CALL(EBADF, fcntl(fd, F_GETFL)), again;

    if (flags < 0)
        return coil__failed(-errno);
    if (!(flags & O_NONBLOCK) || !coil__fd_may_reopen(fd))
        return fd;
    again = open_again(fd, flags);
    if (again < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM
                   ? coil__failed(-errno)
                   : fd;
    return above_stdio(again);
}

/*
 * Return a blocking descriptor for the child to inherit, because coil_stream_adopt() may
 * have made `fd` non-blocking. If `fd` is closed or close-on-exec, return it unchanged, so
 * that it is closed in the child.
 *
 * If the program had closed 0, 1 or 2, such a number may now belong to the loop or to a
 * connection. coil's own descriptors are close-on-exec, so the child does not get them.
 */
static int open_inherited(int fd)
{
    int flags = fcntl(fd, F_GETFD);

    return flags < 0 || flags & FD_CLOEXEC ? fd : open_blocking(fd);
}

/*
 * Return a blocking descriptor for the child's descriptor i, which the program has chosen
 * explicitly. If it is i itself, it must not be closed by execve(2).
 */
static int open_chosen(int fd, int i)
{
    int flags = fcntl(fd, F_GETFD);

    fd = open_blocking(fd);
    if (fd != i || !(flags & FD_CLOEXEC))
        return fd;
    fd = COIL__CALL(EMFILE, fcntl(fd, F_DUPFD_CLOEXEC, 3));
    return fd < 0 ? coil__failed(-errno) : fd;
}

static int open_one(struct coil__stdio *stdio, int i, int what)
{
    int fd;

    if (what == COIL_INHERIT)
        fd = stdio->terminal >= 0 ? stdio->terminal : open_inherited(i);
    else if (what == COIL_PIPE)
        fd = open_pipe(stdio, i);
    else if (what == COIL_NULL)
        fd = above_stdio(COIL__CALL(EMFILE, open("/dev/null", O_RDWR | O_CLOEXEC)));
    else if (what == COIL_STDOUT && i == 2)
        fd = stdio->fd[1];
    else
        fd = what > 0 ? open_chosen(what, i) : coil__failed(-EINVAL);
    if (fd < 0)
        return fd;
    stdio->fd[i] = fd;
    stdio->ours[i] =
        fd != what && fd != i && what != COIL_STDOUT && fd != stdio->terminal;
    return 0;
}

/* Open a pseudo-terminal. open_one() will use the child's end. */
static int open_terminal(struct coil__stdio *stdio, const coil_process_opts *opts)
{
    unsigned short rows = opts->pty_rows > 0 ? opts->pty_rows : 24;
    unsigned short columns = opts->pty_columns > 0 ? opts->pty_columns : 80;
    int fds[2], rc = coil__terminal_open(fds);

    if (rc < 0)
        return coil__explain(rc, "cannot open a pseudo-terminal");
    fds[0] = above_stdio(fds[0]);
    if (fds[0] < 0) {
        close(fds[1]);
        return fds[0];
    }
    rc = fds[1] = above_stdio(fds[1]);
    if (rc >= 0)
        rc = coil__terminal_resize(fds[0], rows, columns);
    if (rc == 0)
        rc = coil__stream_make(fds[0], false, "coil_process_spawn",
                               &stdio->ends[COIL__TERMINAL]);
    else
        close(fds[0]);
    if (rc < 0) {
        if (fds[1] >= 0)
            close(fds[1]);
        return rc;
    }
    coil__leak_forget(&stdio->ends[COIL__TERMINAL]->endpoint);
    stdio->ends[COIL__TERMINAL]->transport = &coil__transport_terminal;
    stdio->terminal = fds[1];
    return 0;
}

int coil__stdio_open(struct coil__stdio *stdio, const coil_process_opts *opts)
{
    const int wanted[3] = {opts->in, opts->out, opts->err};
    int rc = 0;

    *stdio = (struct coil__stdio){.terminal = -1};
    if (opts->pty)
        rc = open_terminal(stdio, opts);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = open_one(stdio, i, wanted[i]);
    return rc;
}

void coil__stdio_close(const struct coil__stdio *stdio)
{
    for (int i = 0; i < 3; i++)
        if (stdio->ours[i])
            close(stdio->fd[i]);
    if (stdio->terminal >= 0)
        close(stdio->terminal);
}
