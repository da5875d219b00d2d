/*
 * dump_hook.h (internal) - the function of src/debug, a higher layer, that the task layer
 * calls.
 */
#ifndef COIL_TASK_DUMP_HOOK_H
#define COIL_TASK_DUMP_HOOK_H

#include <stdatomic.h>
#include <stdio.h>

/* coil_dump(), which prints all tasks. NULL if src/debug is not linked in. */
extern void (*_Atomic coil__dump)(FILE *out);

#endif
