/*
 * inside.h (internal) - gives libcoil-testing access to libcoil's hidden functions.
 *
 * The symbols of these functions are hidden, so libcoil-testing, which is a separate
 * library, cannot be linked to them. Both libcoil-testing and the inline functions in
 * libcoil's headers call the hidden functions through the table `coil__inside`.
 */
#ifndef COIL_TESTING_INSIDE_H
#define COIL_TESTING_INSIDE_H

#include "../run/testing_interface.h"

/* NULL until coil__testing_begin() is called. */
extern const struct coil__inside *_Atomic coil__inside;

/*
 * Register with libcoil, unless libcoil-testing is already registered. Public functions
 * call this function before they use the table or rely on a hook.
 */
void coil__testing_begin(void);

/* ---- injected failures: faults.c --------------------------------------------------- */

/* Like libcoil's coil__call_fails(), but for simulated system calls. */
bool coil__sim_call_fails(int error, const char *what);

/* ---- random order: shuffle.c ------------------------------------------------------- */

void coil__shuffle_begin(coil_loop *loop);
void coil__shuffle_batch(coil_loop *loop);

/* ---- the simulated network: simulated.c -------------------------------------------- */

bool coil__sim_is_wanted(void);

extern const struct coil__backend_class coil__backend_simulated;

#endif
