/*
 * quit.h (internal) - Ctrl-\ prints all tasks, and the program goes on.
 */
#ifndef COIL_DEBUG_QUIT_H
#define COIL_DEBUG_QUIT_H

#include "../loop/loop.h"

/*
 * Take SIGQUIT: it prints all tasks, and the program goes on. If the loop does not turn
 * within a second, the handler prints what it can. A second SIGQUIT within a second ends
 * the program. False if this is not the main thread, or if SIGQUIT has another
 * disposition than the default. `body` is a function of the program, by which its address
 * is found; the loop runs in frames below `frame`.
 */
bool coil__quit_install(coil_loop *loop, const void *body, const void *frame);
void coil__quit_uninstall(coil_loop *loop);

#endif
