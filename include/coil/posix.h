/*
 * coil/posix.h - libcoil-posix: blocking calls suspend the task they are made in.
 *
 *     cc app.c $(pkg-config --cflags --libs coil-posix)
 *     LD_PRELOAD=libcoil-posix.so ./app
 *
 * There is nothing to call. In a task, read(), connect(), poll(), nanosleep(),
 * getaddrinfo() and their relatives, called by whatever library, let the other tasks run
 * while they wait; outside of tasks they are the C library's. docs/manual/posix.md has
 * the list, and what cannot be done.
 */
#ifndef COIL_POSIX_H
#define COIL_POSIX_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * True if calls of the C library's functions come to libcoil-posix. They do not where it
 * was loaded by dlopen(3), or linked behind the C library. Any thread.
 */
COIL_API bool coil_posix_active(void);

#ifdef __cplusplus
}
#endif

#endif
