/* registry.h (internal) - the open loops of the process. */
#ifndef COIL_LOOP_REGISTRY_H
#define COIL_LOOP_REGISTRY_H

#include <coil/loop.h>

/* Return the number for a new loop. */
uint32_t coil__loops_number(void);

/* Record that the loop has opened or closed. */
void coil__loops_add(coil_loop *loop);
void coil__loops_remove(coil_loop *loop);

#endif
