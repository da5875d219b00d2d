/*
 * above.h - the little that this layer asks of one above it, src/debug, which knows
 * all kinds of waits: to tell people who waits for what.
 */
#ifndef COIL_TASK_ABOVE_H
#define COIL_TASK_ABOVE_H

#include "../loop/loop.h"

#include <stdio.h>

/* coil_dump(). */
void coil__dump(FILE *out);

/*
 * SIGQUIT is the loop's: it prints all tasks, and the program goes on. Where the loop
 * does not turn within a second, the handler says what it can by itself. Twice within a
 * second ends the program by the signal. On the main thread only; false where the
 * disposition was not the default. `body` is a function of the program's, by which to
 * find it; the loop runs in frames below `frame`.
 */
bool coil__quit_install(coil_loop *loop, const void *body, const void *frame);
void coil__quit_uninstall(coil_loop *loop);

#endif
