/*
 * processors.h (internal) - the number of processors that this process may use.
 */
#ifndef COIL_KERNEL_PROCESSORS_H
#define COIL_KERNEL_PROCESSORS_H

/* See coil_processor_count() in coil/threads.h. */
unsigned coil__processor_count(void);

#endif
