/*
 * dump_hook.h (internal) - lets the task layer call coil_dump(), which belongs to a
 * higher layer, src/debug.
 */
#ifndef COIL_TASK_DUMP_HOOK_H
#define COIL_TASK_DUMP_HOOK_H

#include <stdatomic.h>
#include <stdio.h>

/* Points to coil_dump(), which prints all tasks. NULL if src/debug is not linked in. */
extern void (*_Atomic coil__dump)(FILE *out);

#endif
