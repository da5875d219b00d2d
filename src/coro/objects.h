/*
 * objects.h (internal) - the shared objects that the loader has opened.
 */
#ifndef COIL_CORO_OBJECTS_H
#define COIL_CORO_OBJECTS_H

#include "../base/base.h"

struct coil__objects {
    unsigned long long opened; /* number of objects opened so far */
    /*
     * Address of a pointer that is NULL until another object is opened. `next` itself is
     * NULL if that pointer might not stay in memory.
     */
    void *const *next;
};

void coil__objects_look(struct coil__objects *out);

/* Return the current value of `opened`. (15 ns) */
unsigned long long coil__objects_opened(void);

#endif
