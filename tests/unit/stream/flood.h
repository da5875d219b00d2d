/*
 * flood.h - large amounts of data in a known pattern, and tasks that read and check them.
 */
#ifndef COIL_TESTS_STREAM_FLOOD_H
#define COIL_TESTS_STREAM_FLOOD_H

#include <coil.h>

struct flood {
    coil_stream *stream;
    size_t bytes; /* bytes to write */
    bool slow;    /* the reader pauses from time to time */
    size_t wrong, received;
};

/* Bodies of tasks: write all bytes and shut down; read to the end. */
int flood_out(void *flood);
int flood_in(void *flood);

/* Both ends write this number of bytes and read them, one of them slowly. */
void check_floods_both_ways(coil_stream *ends[2], size_t bytes);

#endif
