/*
 * prefetch.h - an image that reads ahead, so that a process is stopped for a short time.
 */
#ifndef COIL_PS_PREFETCH_H
#define COIL_PS_PREFETCH_H

#include "image.h"

/*
 * Create an image that reads another one, and records what is read. image_close() does
 * not close the other image. Returns NULL if memory ran out.
 */
struct image *prefetch_open(struct image *inner);

/* Allocate the memory for the copies. Returns false if memory ran out. */
bool prefetch_prepare(struct image *image);

/*
 * Read the recorded parts again, all at once. From then on they are taken from these
 * copies, and `stands` is set.
 */
void prefetch_refresh(struct image *image);

#endif
