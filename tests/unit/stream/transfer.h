/* transfer.h - makes calls on a stream in separate tasks. */
#ifndef COIL_TESTS_STREAM_TRANSFER_H
#define COIL_TESTS_STREAM_TRANSFER_H

#include <coil.h>

struct transfer {
    coil_stream *stream;
    void *buf;
    size_t n;
    ssize_t result;
    bool ended;
};

/*
 * Functions of tasks, which make the call after which they are named, and store its
 * result in the transfer.
 */
int transfer_read(void *transfer);
int transfer_read_exact(void *transfer);
int transfer_write(void *transfer);

/* Start a task for a transfer, and let it run until it waits or ends. */
coil_task *transfer_start(coil_task_fn fn, struct transfer *transfer);

/* A call of coil_sendfile() for a whole file. */
struct sending {
    coil_stream *stream;
    int fd;
    int64_t offset;
    ssize_t result;
    bool ended;
};

int do_sendfile(void *sending);

/* A call of coil_copy(). */
struct copying {
    coil_stream *from, *to;
    ssize_t result;
};

int do_copy(void *copying);

#endif
