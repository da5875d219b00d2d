/*
 * flood.h - much data in a known pattern, and who reads and checks it.
 */
#ifndef COIL_TESTS_STREAM_FLOOD_H
#define COIL_TESTS_STREAM_FLOOD_H

#include <coil.h>

struct flood {
    coil_stream *stream;
    size_t bytes; /* to write */
    bool slow;    /* the reader pauses now and then */
    size_t wrong, received;
};

/* Bodies of tasks: write them all and shut down, read to the end. */
int flood_out(void *flood);
int flood_in(void *flood);

/* Both ends write so much and read it, one of them slowly. */
void check_floods_both_ways(coil_stream *ends[2], size_t bytes);

#endif
