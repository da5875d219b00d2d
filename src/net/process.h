/*
 * process.h (internal) - a process, for calls that go through several waits.
 */
#ifndef COIL_NET_PROCESS_H
#define COIL_NET_PROCESS_H

#include <coil/process.h>

/*
 * Between the two its memory stays, although its owner destroys it: then its streams are
 * gone, and coil_process_wait() is -EBADF.
 */
void coil__process_enter(coil_process *process);
void coil__process_leave(coil_process *process);

#endif
