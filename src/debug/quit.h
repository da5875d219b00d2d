/*
 * quit.h (internal) - prints all tasks when the user presses Ctrl-\, and lets the program
 * continue.
 */
#ifndef COIL_DEBUG_QUIT_H
#define COIL_DEBUG_QUIT_H

#include "../loop/loop.h"

/*
 * Handle SIGQUIT by printing all tasks, after which the program continues. If the loop
 * does not run within a second, the handler prints the data that it can read without a
 * lock. A second SIGQUIT within a second ends the program. Returns false if this is not
 * the main thread, or if SIGQUIT does not have the default disposition. `body` is any
 * function of the program, from which the program's address is found. The loop runs in
 * frames below `frame`.
 */
bool coil__quit_install(coil_loop *loop, const void *body, const void *frame);
void coil__quit_uninstall(coil_loop *loop);

#endif
