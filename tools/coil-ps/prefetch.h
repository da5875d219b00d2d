/*
 * prefetch.h - an image that reads ahead, so that a process is stopped only briefly.
 */
#ifndef COIL_PS_PREFETCH_H
#define COIL_PS_PREFETCH_H

#include "image.h"

/*
 * Create an image that reads from `inner`, and records which pieces are read.
 * image_close() does not close `inner`. Returns NULL if memory ran out.
 */
struct image *prefetch_open(struct image *inner);

/* Allocate the memory for the copies. Returns false if memory ran out. */
bool prefetch_prepare(struct image *image);

/*
 * Read all recorded pieces again, from a stopped process. From now on, reading these
 * pieces returns the copies.
 */
void prefetch_refresh(struct image *image);

#endif
