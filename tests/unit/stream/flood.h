/*
 * flood.h - tasks that write large amounts of data in a known pattern, and tasks that
 * read and check such data.
 */
#ifndef COIL_TESTS_STREAM_FLOOD_H
#define COIL_TESTS_STREAM_FLOOD_H

#include <coil.h>

struct flood {
    coil_stream *stream;
    size_t bytes; /* number of bytes to write */
    bool slow;    /* make the reader pause from time to time */
    size_t wrong, received;
};

/*
 * Functions of tasks: flood_out() writes all bytes and shuts down the writing side;
 * flood_in() reads to the end.
 */
int flood_out(void *flood);
int flood_in(void *flood);

/*
 * Make each end write `bytes` bytes, which the other end reads and checks. One of the
 * readers is slow.
 */
void check_floods_both_ways(coil_stream *ends[2], size_t bytes);

#endif
