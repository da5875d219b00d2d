/*
 * freeze.h - stops the threads of loops for a moment, using ptrace(2).
 */
#ifndef COIL_PS_FREEZE_H
#define COIL_PS_FREEZE_H

#include <stdbool.h>
#include <stddef.h>

/* Stop the threads. If it fails, returns false with errno set, and no thread stopped. */
bool freeze(const int *threads, size_t count);

/* Let them continue. */
void thaw(const int *threads, size_t count);

#endif
