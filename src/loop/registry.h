/*
 * registry.h (internal) - which loops of the process are open.
 */
#ifndef COIL_LOOP_REGISTRY_H
#define COIL_LOOP_REGISTRY_H

#include <stdint.h>

/* The number of a new loop. */
uint32_t coil__loops_number(void);

/* The loop with this number has opened, or closed. */
void coil__loops_add(uint32_t number);
void coil__loops_remove(uint32_t number);

#endif
