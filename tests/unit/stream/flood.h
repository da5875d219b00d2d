/*
 * flood.h - tasks that write a large amount of data in a known pattern, or read and check
 * it.
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

/*
 * Bodies of tasks: flood_out() writes all bytes and shuts down, and flood_in() reads to
 * the end.
 */
int flood_out(void *flood);
int flood_in(void *flood);

/*
 * Let both ends write this number of bytes and read the other end's bytes, one of them
 * slowly.
 */
void check_floods_both_ways(coil_stream *ends[2], size_t bytes);

#endif
