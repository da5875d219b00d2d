/*
 * processors.h (internal) - finds out how many processors this process may use.
 */
#ifndef COIL_KERNEL_PROCESSORS_H
#define COIL_KERNEL_PROCESSORS_H

/* See coil_processor_count() in coil/threads.h. */
unsigned coil__processor_count(void);

#endif
