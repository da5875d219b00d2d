/*
 * process.h (internal) - keeps a process in memory during a call that waits several
 * times.
 */
#ifndef COIL_OS_PROCESS_H
#define COIL_OS_PROCESS_H

#include <coil/process.h>

/*
 * Between enter and leave the process is not freed. If the owner destroys the process
 * meanwhile, the streams are destroyed, and coil_process_wait() returns -EBADF.
 */
void coil__process_enter(coil_process *process);
void coil__process_leave(coil_process *process);

#endif
