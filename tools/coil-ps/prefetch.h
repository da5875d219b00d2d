/*
 * prefetch.h - an image that reads ahead, to keep the stop of a process short.
 */
#ifndef COIL_PS_PREFETCH_H
#define COIL_PS_PREFETCH_H

#include "image.h"

/*
 * Create an image that reads from `inner`, and records which parts are read.
 * image_close() does not close `inner`. Returns NULL if memory ran out.
 */
struct image *prefetch_open(struct image *inner);

/* Allocate the memory for the copies. Returns false if memory ran out. */
bool prefetch_prepare(struct image *image);

/*
 * Read all recorded parts again. Later reads of these parts return the copies. Sets
 * `stands`.
 */
void prefetch_refresh(struct image *image);

#endif
