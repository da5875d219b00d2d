/*
 * resolving.h - the resolver state of a task's thread, for look-ups on another thread.
 */
#ifndef POSIX_RESOLVING_H
#define POSIX_RESOLVING_H

#include "waiting.h"

#include <resolv.h>

/*
 * Copy a state, which another thread may then use. The copy starts without open sockets
 * and is never closed by res_nclose(). False if memory ran out: free it then, too.
 */
bool posix__copy_resolver(struct __res_state *to, const struct __res_state *from);
void posix__free_resolver(struct __res_state *copy);

/*
 * Copy the `_res` of this thread as the C library would use it now: initialised, and read
 * again if resolv.conf has changed.
 */
bool posix__copy_thread_resolver(struct __res_state *to);

/* Let this thread, of a lane, use the copy for a while; *own receives its own `_res`. The
 * look-up allocates memory for the copy, too. */
void posix__enter_resolver(const struct __res_state *copy, struct __res_state *own);
void posix__leave_resolver(struct __res_state *copy, const struct __res_state *own);

#endif
