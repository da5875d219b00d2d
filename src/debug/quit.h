/*
 * quit.h (internal) - prints all tasks when the user presses Ctrl-\, and lets the program
 * continue.
 */
#ifndef COIL_DEBUG_QUIT_H
#define COIL_DEBUG_QUIT_H

#include "../loop/loop.h"

/*
 * Install a handler of SIGQUIT, which prints all tasks and lets the program continue. If
 * the loop does not get to its next turn within a second, the handler prints what it can
 * read without a lock. A second SIGQUIT within a second ends the program. Returns false
 * if SIGQUIT does not have its default disposition, or if the handler cannot be
 * installed. `body` is any function of the program, with which the program's load address
 * is found. `frame` is the caller's stack frame, which ends the printed stack.
 */
bool coil__quit_install(coil_loop *loop, const void *body, const void *frame);
void coil__quit_uninstall(coil_loop *loop);

#endif
