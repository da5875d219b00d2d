/*
 * unix.c - local sockets. (unix(7))
 *
 * A socket's file outlives the socket: a server that crashes leaves a file to which
 * clients cannot connect and servers cannot bind. So listening removes an existing socket
 * file, even if it is in use, as in asyncio. Closing removes the file only if this
 * listener created it and no other listener has replaced it.
 */
#include "listener.h"
#include "../io/socket.h"
#include "../stream/stream.h"
#include "../task/task.h"

#include "../base/fault.h"

#include <coil/address.h>
#include <coil/error.h>
#include <coil/task.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- connecting -------------------------------------------------------------------- */

/*
 * Connect. If the listener's queue is full, connect(2) fails with EAGAIN. No event
 * reports when the queue has room again, so try again at growing intervals.
 */
static int connect_patiently(coil_stream *stream, const coil_address *address)
{
    int64_t pause = COIL_MSEC(1);
    int rc;

    while ((rc = coil__stream_connect(stream, &address->any, address->length)) ==
           -EAGAIN) {
        rc = coil_sleep(pause);
        if (rc < 0)
            return rc;
        if (pause < COIL_MSEC(50))
            pause *= 2;
    }
    return rc;
}

int coil__connect_local(const coil_address *address, coil_stream **out)
{
    int fd = coil__socket_open(coil__loop_require("coil_connect_unix"), AF_UNIX,
                               SOCK_STREAM, 0);
    coil_stream *stream;
    int rc;

    if (fd < 0)
        return fd;
    rc = coil__stream_make(fd, true, "coil_connect_unix", &stream);
    if (rc < 0)
        return rc;
    rc = connect_patiently(stream, address);
    if (rc < 0)
        coil_stream_destroy(stream);
    else
        *out = stream;
    return rc;
}

int coil_connect_unix(const char *path, coil_stream **out)
{
    COIL__REQUIRE(path, "a path");
    COIL__REQUIRE(out, "an output pointer");
    coil_address address;
    int rc = coil_address_of_path(path, &address);

    *out = NULL;
    coil__task_require("coil_connect_unix");
    if (rc == 0)
        rc = coil__connect_local(&address, out);
    if (rc < 0 && rc != -ECANCELED)
        coil_fail(rc, "cannot connect to '%s': %s", path, strerror(-rc));
    return rc;
}

/* ---- the file ---------------------------------------------------------------------- */

struct coil__socket_file {
    dev_t device;
    ino_t inode;
    char path[];
};

static void remove_socket(const char *path)
{
    struct stat info;

    if (lstat(path, &info) == 0 && S_ISSOCK(info.st_mode))
        unlink(path);
}

void coil__socket_file_remove(const struct coil__socket_file *file)
{
    struct stat info;

    if (lstat(file->path, &info) == 0 && info.st_dev == file->device &&
        info.st_ino == file->inode)
        unlink(file->path);
}

static int remember(const char *path, struct coil__socket_file **out)
{
    size_t bytes = strlen(path) + 1;
    struct coil__socket_file *file = coil__alloc(sizeof *file + bytes);
    struct stat info;

    if (file == NULL)
        return coil__failed(-ENOMEM);
    if (COIL__CALL(EACCES, lstat(path, &info)) < 0) {
        int error = errno; /* the next call may change errno */

        coil__free(file);
        return coil__failed(-error);
    }
    file->device = info.st_dev;
    file->inode = info.st_ino;
    memcpy(file->path, path, bytes);
    *out = file;
    return 0;
}

/* ---- listening --------------------------------------------------------------------- */

/*
 * Set the file's mode, listen, and remember the file. The mode is set before listen(2),
 * because until then no client can connect.
 */
static int listen_at(int fd, const coil_listen_options *opts, int backlog,
                     struct coil__socket_file **file)
{
    int rc = opts->mode != 0 ? COIL__CALL(EACCES, chmod(opts->path, opts->mode)) : 0;

    if (rc < 0)
        return coil__failed(-errno);
    rc = coil__socket_listen(coil_loop_current(), fd, backlog);
    if (rc == 0 && !opts->keep_file)
        rc = remember(opts->path, file);
    return rc;
}

static int bind_and_listen(int fd, const coil_address *address,
                           const coil_listen_options *opts, int backlog,
                           struct coil__socket_file **file)
{
    coil_loop *loop = coil_loop_current();
    int rc;

    if (opts->path[0] != '@')
        remove_socket(opts->path);
    rc = coil__socket_bind(loop, fd, &address->any, address->length);
    if (rc < 0)
        return rc;
    if (opts->path[0] == '@')
        return coil__socket_listen(loop, fd, backlog);
    rc = listen_at(fd, opts, backlog, file);
    if (rc < 0)
        unlink(opts->path);
    return rc;
}

static int open_listener(const coil_address *address, const coil_listen_options *opts,
                         int backlog, coil_listener **out)
{
    coil_loop *loop = coil__loop_require("coil_listen_unix");
    struct coil__socket_file *file = NULL;
    int fd = coil__socket_open(loop, AF_UNIX, SOCK_STREAM, 0);
    int rc;

    if (fd < 0)
        return fd;
    rc = bind_and_listen(fd, address, opts, backlog, &file);
    if (rc < 0) {
        coil__socket_close(loop, fd);
        return rc;
    }
    rc = coil__listener_make(fd, "coil_listen_unix", out);
    if (rc == 0) {
        (*out)->file = file;
    } else if (file != NULL) {
        coil__socket_file_remove(file);
        coil__free(file);
    }
    return rc;
}

int coil__listen_local(const coil_address *address, const coil_listen_options *opts,
                       int backlog, coil_listener **out)
{
    coil_listen_options by_path = *opts;
    char path[COIL_ADDRESS_TEXT];
    int rc;

    by_path.path = coil_address_format(address, path, sizeof path);
    rc = open_listener(address, &by_path, backlog, out);
    if (rc < 0)
        coil_fail(rc, "cannot listen on '%s': %s", path, strerror(-rc));
    return rc;
}

int coil__listen_unix(const coil_listen_options *opts, int backlog, coil_listener **out)
{
    coil_address address;
    int rc = opts->host != NULL || opts->port != NULL ? -EINVAL : 0;

    if (rc == 0)
        rc = coil_address_of_path(opts->path, &address);
    if (rc == 0)
        rc = open_listener(&address, opts, backlog, out);
    if (rc < 0)
        coil_fail(rc, "cannot listen on '%s': %s", opts->path, strerror(-rc));
    return rc;
}

int coil_listen_unix(const char *path, int backlog, coil_listener **out)
{
    COIL__REQUIRE(path, "a path");
    COIL__REQUIRE(out, "an output pointer");
    return coil_listen_opts(&(coil_listen_options){.path = path, .backlog = backlog},
                            out);
}
