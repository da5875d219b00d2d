/* registry.h (internal) - the open loops of the process. */
#ifndef COIL_LOOP_REGISTRY_H
#define COIL_LOOP_REGISTRY_H

#include <stdint.h>

/* Return the number for a new loop. */
uint32_t coil__loops_number(void);

/* Record that the loop with this number has opened or closed. */
void coil__loops_add(uint32_t number);
void coil__loops_remove(uint32_t number);

#endif
