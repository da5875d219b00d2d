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
 * Copy this thread's `_res` as the C library would use it now: initialised, and after
 * reading resolv.conf again if that file has changed.
 */
bool posix__copy_thread_resolver(struct __res_state *to);

/*
 * Make this thread of a lane use the copy until posix__leave_resolver() is called, and
 * save the thread's own `_res` in *own. posix__leave_resolver() updates the copy, for
 * which the look-up may have allocated memory.
 */
void posix__enter_resolver(const struct __res_state *copy, struct __res_state *own);
void posix__leave_resolver(struct __res_state *copy, const struct __res_state *own);

#endif
