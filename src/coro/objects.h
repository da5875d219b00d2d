/*
 * objects.h (internal) - the shared objects that the loader has opened.
 */
#ifndef COIL_CORO_OBJECTS_H
#define COIL_CORO_OBJECTS_H

#include "../base/base.h"

struct coil__objects {
    unsigned long long opened; /* how many were ever opened */
    /* Points to NULL until another object is opened. NULL if no such place is sure to
       stay. */
    void *const *next;
};

void coil__objects_look(struct coil__objects *out);

/* objects.opened, now. (15 ns) */
unsigned long long coil__objects_opened(void);

#endif
