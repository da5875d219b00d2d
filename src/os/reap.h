/*
 * reap.h (internal) - reaps children that outlive their loop, so that no zombie remains.
 */
#ifndef COIL_OS_REAP_H
#define COIL_OS_REAP_H

#include <stdbool.h>

/*
 * Reap the child when it ends, on a separate thread if it is still running. Takes
 * ownership of the handle. `is_ending` means that the child was killed: wait briefly
 * until it ends before starting a thread.
 */
void coil__reap_later(int handle, bool is_ending);

#endif
