/*
 * coil_stream.c - transfers bulk data over one connection between two processes, each
 * with a loop and one task.
 *
 *     coil_stream BYTES PIECE [sendfile]
 */
#include <coil.h>

#include "stream.h"

struct bulk {
    size_t total, piece;
    int file, fd;
};

static int send_all(void *arg)
{
    struct bulk *b = arg;
    char *bytes = calloc(1, b->piece);
    coil_stream *stream;
    ssize_t n = coil_stream_adopt(b->fd, &stream);

    for (size_t left = b->total; n >= 0 && left > 0; left -= (size_t)n) {
        size_t piece = b->piece < left ? b->piece : left;
        int64_t offset = 0;
        n = b->file >= 0 ? coil_sendfile(stream, b->file, &offset, piece)
                         : coil_write(stream, bytes, piece);
    }
    coil_stream_destroy(stream);
    free(bytes);
    return n < 0 ? (int)n : 0;
}

static int receive_all(void *arg)
{
    struct bulk *b = arg;
    char *bytes = malloc(READ_BYTES);
    coil_stream *stream;
    ssize_t n = coil_stream_adopt(b->fd, &stream);

    if (n < 0)
        return (int)n;
    while ((n = coil_read(stream, bytes, READ_BYTES)) > 0)
        b->total -= (size_t)n;
    coil_stream_destroy(stream);
    free(bytes);
    return b->total == 0 ? (int)n : -ENODATA;
}

int main(int argc, char *argv[])
{
    size_t total = strtoull(argv[1], NULL, 10);
    struct bulk b = {.total = total, .piece = strtoull(argv[2], NULL, 10)};
    int fds[2], rc;

    b.file = argc > 3 ? make_file(b.piece) : -1;
    make_connection(fds);
    begin();
    if (fork() == 0) {
        become_sender();
        close(fds[0]);
        b.fd = fds[1];
        _exit(coil_run(send_all, &b, NULL) < 0);
    }
    close(fds[1]);
    b.fd = fds[0];
    rc = coil_run(receive_all, &b, NULL);
    wait(NULL);
    if (rc < 0) {
        fprintf(stderr, "coil_stream: %s\n", strerror(-rc));
        return 1;
    }
    report(total);
    return 0;
}
