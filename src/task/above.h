/*
 * above.h (internal) - what the task layer calls of src/debug, which lies above it.
 */
#ifndef COIL_TASK_ABOVE_H
#define COIL_TASK_ABOVE_H

#include <stdatomic.h>
#include <stdio.h>

/* Prints all tasks, as coil_dump(). NULL if src/debug is not linked in. */
extern void (*_Atomic coil__dump)(FILE *out);

#endif
