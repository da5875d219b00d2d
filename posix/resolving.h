/*
 * resolving.h - copy the resolver state of a task's thread for look-ups on other threads.
 */
#ifndef POSIX_RESOLVING_H
#define POSIX_RESOLVING_H

#include "waiting.h"

#include <resolv.h>

/*
 * Copy a state, so that another thread can use the copy. The copy initially has no open
 * sockets, and is never passed to res_nclose(). Returns false if memory ran out. The copy
 * must be freed even then.
 */
bool posix__copy_resolver(struct __res_state *to, const struct __res_state *from);
void posix__free_resolver(struct __res_state *copy);

/*
 * Copy the `_res` of this thread in the state in which the C library would use it now: it
 * is initialised, and resolv.conf is read again if it has changed.
 */
bool posix__copy_thread_resolver(struct __res_state *to);

/* Make this lane's thread use the copy until the second function is called. *own is set
 * to the thread's own `_res`. The look-up also allocates memory for the copy. */
void posix__enter_resolver(const struct __res_state *copy, struct __res_state *own);
void posix__leave_resolver(struct __res_state *copy, const struct __res_state *own);

#endif
