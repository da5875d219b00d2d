/*
 * out.c - see out.h
 *
 *     bytes:  | written |  whole lines  | an incomplete line |
 *             0      written          whole                  n
 *
 * A signal handler that ends the program may run between any two instructions, on any
 * thread. The handler must write the bytes between `written` and `whole` exactly once.
 * Two rules ensure this:
 *   - `whole` moves forward only after a line is complete.
 *   - Code that writes or moves the bytes holds `is_busy`, with all signals blocked. So a
 *     handler on the same thread never interrupts this code, and a handler on another
 *     thread waits for it.
 *
 * To limit how long signals are blocked, output to anything except a regular file is
 * written in pieces of at most PIPE_BUF bytes, each after poll() has reported free space.
 * Signals are not blocked during poll().
 *
 * A write may block in spite of poll(): a terminal is ready if only one byte fits, and a
 * pipe may have other writers. So terminals and pipes are opened again with O_NONBLOCK,
 * which does not affect other processes, such as the shell, that share the original
 * descriptor. Sockets and other users' terminals cannot be opened again, and without
 * /proc, no file can. In these cases, a write may delay signals until the reader reads.
 */
#include "out.h"

#include "../base/text.h"
#include "../url/url.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)64 * 1024)
#define HANDLER_PATIENCE_MS 1000
#define FULL_MS 10

/*
 * Open the file of a descriptor again, for non-blocking writes. Returns the new
 * descriptor or -1.
 */
static int reopen(int fd)
{
    char path[sizeof "/proc/self/fd/-2147483648"];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

int out_open_fd(struct out *out, int fd, const char *name)
{
    struct stat info = {0};
    int own;

    *out = (struct out){.fd = fd, .name = name, .is_busy = ATOMIC_FLAG_INIT};
    out->bytes = malloc(BUFFER_BYTES);
    if (out->bytes == NULL)
        return out->rc = -ENOMEM;
    out->capacity = BUFFER_BYTES;
    out->is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    own = S_ISFIFO(info.st_mode) || isatty(fd) ? reopen(fd) : -1;
    if (own >= 0) {
        out->fd = own;
        out->is_owned = true;
    }
    return 0;
}

int out_open(struct out *out, const char *path)
{
    int fd, rc;

    if (strcmp(path, "-") == 0)
        return out_open_fd(out, STDOUT_FILENO, "stdout");
    *out = (struct out){.fd = -1, .name = path};
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return out->rc = -errno;
    rc = out_open_fd(out, fd, path);
    if (rc < 0 || out->fd != fd)
        close(fd);
    out->is_owned = rc == 0;
    return rc;
}

int out_fail(struct out *out, int rc)
{
    if (out->rc == 0)
        out->rc = rc;
    return out->rc;
}

/* ---- writing to the file ----------------------------------------------------------- */

static void begin_write(struct out *out, sigset_t *before)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
    while (atomic_flag_test_and_set(&out->is_busy))
        ; /* a handler on another thread has the lock, and will end the program */
}

static void end_write(struct out *out, const sigset_t *before)
{
    atomic_flag_clear(&out->is_busy);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/*
 * Return how many of the n bytes to write with one call: all bytes to a regular file,
 * otherwise at most PIPE_BUF, and only whole lines if at least one fits. n must not be 0.
 */
static size_t choose_piece(const struct out *out, const char *bytes, size_t n)
{
    const char *end;

    if (out->is_file || n <= PIPE_BUF)
        return n;
    end = memrchr(bytes, '\n', PIPE_BUF);
    return end != NULL ? (size_t)(end - bytes) + 1 : PIPE_BUF;
}

/*
 * Wait until there is free space, a signal arrives, or the time is over. Returns the
 * result of poll(). If the descriptor cannot be polled, returns immediately, and write()
 * reports the error.
 */
static int wait_for_room(const struct out *out, int timeout_ms)
{
    struct pollfd wanted = {.fd = out->fd, .events = POLLOUT};

    if (out->is_file)
        return 1;
    return poll(&wanted, 1, timeout_ms);
}

/*
 * Call write(2) once for bytes before `end`. Returns false if there is no free space, in
 * which case the bytes stay in the buffer.
 */
static bool write_piece(struct out *out, size_t end)
{
    const char *bytes = out->bytes + out->written;
    ssize_t n = write(out->fd, bytes, choose_piece(out, bytes, end - out->written));

    if (n > 0)
        out->written += (size_t)n;
    else if (n == 0)
        out->rc = -EIO;
    else if (errno != EINTR && errno != EAGAIN)
        out->rc = -errno;
    return n >= 0 || errno != EAGAIN;
}

static int write_up_to(struct out *out, size_t end)
{
    while (out->rc == 0 && out->written < end) {
        sigset_t before;
        bool has_room;

        if (wait_for_room(out, -1) < 0)
            continue; /* EINTR */
        begin_write(out, &before);
        has_room = write_piece(out, end);
        end_write(out, &before);
        /* despite poll(): a terminal may have space for 1 byte, but a newline needs 2 */
        if (!has_room)
            poll(NULL, 0, FULL_MS);
    }
    return out->rc;
}

/* Move the unwritten bytes to the beginning of the buffer. */
static void make_room(struct out *out)
{
    size_t whole = atomic_load(&out->whole);
    sigset_t before;

    if (out->written == 0)
        return;
    begin_write(out, &before);
    memmove(out->bytes, out->bytes + out->written, out->n - out->written);
    atomic_store(&out->whole, whole > out->written ? whole - out->written : 0);
    out->n -= out->written;
    out->written = 0;
    end_write(out, &before);
}

int out_flush(struct out *out)
{
    if (write_up_to(out, atomic_load(&out->whole)) == 0)
        make_room(out);
    return out->rc;
}

void out_flush_in_handler(struct out *out)
{
    int error = errno;

    if (out->bytes == NULL)
        return;
    while (atomic_flag_test_and_set(&out->is_busy))
        ; /* another thread holds the lock for a short time: see begin_write() */
    while (out->rc == 0 && out->written < atomic_load(&out->whole) &&
           wait_for_room(out, HANDLER_PATIENCE_MS) > 0 &&
           write_piece(out, atomic_load(&out->whole)))
        ;
    errno = error;
}

/* ---- append ------------------------------------------------------------------------ */

/*
 * Enlarge the buffer so that n more bytes fit. The buffer must have space for a whole
 * line, because only whole lines are written.
 */
static void grow_buffer(struct out *out, size_t n)
{
    size_t capacity = out->capacity;
    sigset_t before;
    char *longer;

    while (capacity - out->n < n)
        capacity *= 2;
    begin_write(out, &before);
    longer = realloc(out->bytes, capacity);
    if (longer != NULL) {
        out->bytes = longer;
        out->capacity = capacity;
    } else {
        out->rc = -ENOMEM;
    }
    end_write(out, &before);
}

char *out_reserve(struct out *out, size_t n)
{
    if (out->rc == 0 && out->capacity - out->n < n)
        out_flush(out);
    if (out->rc == 0 && out->capacity - out->n < n)
        grow_buffer(out, n);
    return out->rc == 0 ? out->bytes + out->n : NULL;
}

void out_commit(struct out *out, const char *end)
{
    out->n = (size_t)(end - out->bytes);
    atomic_store_explicit(&out->whole, out->n, memory_order_release);
}

int out_write(struct out *out, const char *bytes, size_t n)
{
    char *room = n > 0 ? out_reserve(out, n) : NULL;
    const char *end;

    if (room == NULL)
        return out->rc;
    memcpy(room, bytes, n);
    out->n += n;
    end = memrchr(room, '\n', n);
    if (end != NULL)
        atomic_store_explicit(&out->whole, (size_t)(end + 1 - out->bytes),
                              memory_order_release);
    return 0;
}

int out_put(struct out *out, const char *text)
{
    return out_write(out, text, strlen(text));
}

int out_print(struct out *out, const char *format, ...)
{
    char text[512], *longer = NULL;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n >= (int)sizeof text) {
        va_start(args, format);
        n = vasprintf(&longer, format, args);
        va_end(args);
    }
    if (n < 0)
        return out_fail(out, -ENOMEM);
    out_write(out, longer != NULL ? longer : text, (size_t)n);
    free(longer);
    return out->rc;
}

static void put_visible(void *out, const char *piece, size_t n)
{
    out_write(out, piece, n);
}

/*
 * Text from a server may contain escape sequences for the terminal, so control characters
 * are replaced.
 */
int out_put_plain(struct out *out, const char *text, size_t n)
{
    text_put_visible(text, n, "?", put_visible, out);
    return out->rc;
}

static void put_piece(void *out, const char *piece, size_t n)
{
    out_put_plain(out, piece, n);
}

int out_put_url(struct out *out, const char *url)
{
    url_put_masked(url, put_piece, out);
    return out->rc;
}

/*
 * Clear the members before freeing the bytes, so that a signal handler finds either valid
 * bytes or nothing to write.
 */
static void free_bytes(struct out *out)
{
    char *bytes = out->bytes;
    sigset_t before;

    begin_write(out, &before);
    out->bytes = NULL;
    out->n = out->written = out->capacity = 0;
    atomic_store(&out->whole, 0);
    out->fd = -1;
    end_write(out, &before);
    free(bytes);
}

int out_close(struct out *out)
{
    int fd;

    if (out->bytes == NULL)
        return out->rc;
    write_up_to(out, out->n);
    /* Some file systems, for example NFS, report a full disk only at close(). */
    fd = out->is_owned ? out->fd : dup(out->fd);
    if (fd >= 0 && close(fd) < 0 && errno != EINTR)
        out_fail(out, -errno);
    free_bytes(out);
    return out->rc;
}
