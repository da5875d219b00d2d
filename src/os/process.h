/*
 * process.h (internal) - keeps a coil_process in memory during a call that waits several
 * times.
 */
#ifndef COIL_OS_PROCESS_H
#define COIL_OS_PROCESS_H

#include <coil/process.h>

/*
 * Keep the process in memory between these two calls. If the owner destroys it meanwhile,
 * its streams are destroyed, and coil_process_wait() returns -EBADF.
 */
void coil__process_enter(coil_process *process);
void coil__process_leave(coil_process *process);

#endif
