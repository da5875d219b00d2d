/*
 * coil/guard.h - close scopes and groups, release locks and handles at the end of a
 * block.
 *
 *     static int greet(coil_stream *stream, void *arg)
 *     {
 *         char name[100];
 *         ssize_t n;
 *
 *         (void)arg;
 *         COIL_WITH_DEADLINE(COIL_SEC(2), n) {
 *             n = coil_read_line(stream, name, sizeof name);
 *             if (n < 0)
 *                 break;                       // leaves the block
 *             n = coil_write(stream, "hello\n", 6);
 *         }
 *         return n < 0 ? (int)n : 0;           // -ETIMEDOUT after two seconds
 *     }
 *
 * If a scope or a group is still open when its function returns, the program aborts. A
 * lock that is not released blocks every task that tries to acquire it. The macros of
 * this header close scopes and groups and release locks whenever control leaves the
 * block: at its last line, or by `break`, `return` or `goto`. The macros use the
 * attribute `cleanup` of GCC and Clang, and call the ordinary functions of coil.
 *
 * BLOCKS. COIL_WITH_...() is followed by a statement. Inside that statement, `break` and
 * `continue` leave only the block, not a loop around it.
 *
 * GUARDS. COIL_..._GUARD(&object) is a declaration, to be written after the call that
 * entered the scope or group, or acquired the lock. The guard leaves or releases the
 * object at the end of the enclosing block. Guards run in reverse order.
 *
 * HANDLES. COIL_AUTO(type) declares a pointer whose object is released at the end of the
 * block.
 *
 * No guard runs if a task is abandoned because its loop closes, or if longjmp(3) leaves
 * the block. docs/manual/guard.md compares the three forms and their costs. (trio: async
 * with; Python: with; Linux: cleanup.h)
 */
#ifndef COIL_GUARD_H
#define COIL_GUARD_H

#include <coil/channel.h>
#include <coil/context.h>
#include <coil/coro.h>
#include <coil/datagram.h>
#include <coil/directory.h>
#include <coil/error.h>
#include <coil/file.h>
#include <coil/future.h>
#include <coil/gen.h>
#include <coil/group.h>
#include <coil/lock.h>
#include <coil/loop.h>
#include <coil/process.h>
#include <coil/promise.h>
#include <coil/run.h>
#include <coil/rwlock.h>
#include <coil/scope.h>
#include <coil/semaphore.h>
#include <coil/server.h>
#include <coil/stream.h>
#include <coil/task.h>
#include <coil/tls.h>
#include <coil/watch.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COIL__CLEANUP(fn) __attribute__((cleanup(fn), unused))
#define COIL__JOIN_NOW(a, b) a##b
#define COIL__JOIN(a, b) COIL__JOIN_NOW(a, b)
#define COIL__UNIQUE(name) COIL__JOIN(name, __COUNTER__)

#define COIL__AUTO_TYPE(type, release)                                                   \
    static inline void coil__auto_##type(type **handle)                                  \
    {                                                                                    \
        if (*handle != NULL)                                                             \
            release(*handle);                                                            \
    }                                                                                    \
    struct coil__semicolon

#define COIL__GUARD_TYPE(type, end)                                                      \
    static inline void coil__guard_##type(type *const *guard)                            \
    {                                                                                    \
        end(*guard);                                                                     \
    }                                                                                    \
    struct coil__semicolon

#define COIL__GUARD(type, object, name)                                                  \
    type *const name COIL__CLEANUP(coil__guard_##type) = (object)

/* ---- blocks ------------------------------------------------------------------------ */

/*
 * Run the statement that follows with a deadline, `span_ns` from now. (asyncio: timeout)
 *
 * `rc` is a variable of the type int or ssize_t. The macro sets `rc` to 0 at the start of
 * the block; the block stores its result in `rc`. After the block, `rc` is the result of
 * coil_scope_exit_count(): -ETIMEDOUT if the deadline cancelled the block. If
 * coil_scope_enter() fails, the block does not run, and `rc` is -ENOMEM. A `return` in
 * the block closes the scope, too, but does not translate the returned value: -ECANCELED
 * remains -ECANCELED.
 */
#define COIL_WITH_DEADLINE(span_ns, rc)                                                  \
    COIL__WITH_DEADLINE(span_ns, rc, COIL__UNIQUE(coil__scope), COIL__UNIQUE(coil__in),  \
                        COIL__UNIQUE(coil__once))

#define COIL__WITH_DEADLINE(span_ns, rc, name, in, once)                                 \
    for (coil_scope name COIL__CLEANUP(coil_scope_leave),                                \
         *in = ((rc) = coil_scope_enter(&name, coil_in(span_ns))) < 0 ? NULL : &name;    \
         in != NULL;                                                                     \
         (rc) = (__typeof__(rc))coil_scope_exit_count(&name, (rc)), in = NULL)           \
        for (bool once = true; once; once = false)

/*
 * Run the statement that follows in a shielded scope with a deadline, for cleanup.
 *
 *     if (rc == -ECANCELED)
 *         COIL_WITH_SHIELD(COIL_SEC(1))
 *             coil_write(stream, "bye\n", 4);       // although the task was cancelled
 *
 * If coil_scope_enter_shielded() fails because memory ran out, the statement does not
 * run.
 */
#define COIL_WITH_SHIELD(span_ns)                                                        \
    COIL__WITH_SHIELD(span_ns, COIL__UNIQUE(coil__scope), COIL__UNIQUE(coil__in))

#define COIL__WITH_SHIELD(span_ns, name, in)                                             \
    for (coil_scope name COIL__CLEANUP(coil_scope_leave),                                \
         *in = coil_scope_enter_shielded(&name, coil_in(span_ns)) < 0 ? NULL : &name;    \
         in != NULL; in = NULL)

/*
 * Run the statement that follows with a group: the macro declares a coil_group with the
 * name `group`. (asyncio: TaskGroup)
 *
 *     COIL_WITH_GROUP(g, rc) {
 *         rc = coil_group_spawn(&g, fetch, &left, NULL, NULL);
 *         if (rc == 0)
 *             rc = coil_group_spawn(&g, fetch, &right, NULL, NULL);
 *     }
 *
 * `rc` is a variable of type int, which the macro sets to 0 at the start of the block.
 * After the block, `rc` is the result of coil_group_exit(), which waits for the children.
 * A `return` in the block calls coil_group_leave() instead.
 */
#define COIL_WITH_GROUP(group, rc)                                                       \
    COIL__WITH_GROUP(group, rc, COIL__UNIQUE(coil__in), COIL__UNIQUE(coil__once))

#define COIL__WITH_GROUP(group, rc, in, once)                                            \
    for (coil_group group COIL__CLEANUP(coil_group_leave),                               \
         *in = (coil_group_enter(&group), (rc) = 0, &group);                             \
         in != NULL; (rc) = coil_group_exit(&group, (rc)), in = NULL)                    \
        for (bool once = true; once; once = false)

/*
 * Acquire a lock, run the statement that follows, and release the lock. (asyncio: async
 * with lock)
 *
 * `rc` is 0 at the start of the block. If coil_lock_acquire() fails, the block does not
 * run, and `rc` is -ECANCELED.
 */
#define COIL_WITH_LOCK(lock, rc)                                                         \
    COIL__WITH_LOCK(lock, rc, COIL__UNIQUE(coil__held), COIL__UNIQUE(coil__in))

#define COIL__WITH_LOCK(lock, rc, held, in)                                              \
    for (coil_lock * held COIL__CLEANUP(coil__auto_coil_lock) = (lock),                  \
                          *in = ((rc) = coil_lock_acquire(held)) < 0 ? (held = NULL)     \
                                                                     : held;             \
         in != NULL; in = NULL)

/* ---- guards ------------------------------------------------------------------------ */

/*
 * Exit the scope at the end of the enclosing block, with coil_scope_leave().
 *
 *     coil_scope s;
 *     ssize_t n = coil_scope_enter(&s, coil_in(COIL_SEC(2)));
 *
 *     if (n < 0)
 *         return n;
 *     COIL_SCOPE_GUARD(&s);
 *     if (coil_stream_wait_readable(stream) < 0)
 *         return -ENODATA;                            // closes the scope, too
 *     n = coil_read(stream, buf, sizeof buf);
 *     return coil_scope_exit_count(&s, n);            // then the guard does nothing
 */
#define COIL_SCOPE_GUARD(scope) COIL__GUARD(coil_scope, scope, COIL__UNIQUE(coil__guard))

/*
 * End the group at the end of the enclosing block, with coil_group_leave(), which cancels
 * the children. To wait for the children's results, call coil_group_exit(); after that,
 * the guard does nothing.
 */
#define COIL_GROUP_GUARD(group) COIL__GUARD(coil_group, group, COIL__UNIQUE(coil__guard))

/*
 * At the end of the enclosing block, release a lock that the task has acquired.
 *
 *     int rc = coil_lock_acquire(&lock);
 *
 *     if (rc < 0)
 *         return rc;
 *     COIL_LOCK_GUARD(&lock);
 *     return save(&state);
 *
 * Do not release a guarded lock explicitly, because the guard would release it again.
 */
#define COIL_LOCK_GUARD(lock) COIL__GUARD(coil_lock, lock, COIL__UNIQUE(coil__guard))

/* Like COIL_LOCK_GUARD(), but for a coil_rwlock or a coil_semaphore. */
#define COIL_RWLOCK_GUARD(lock) COIL__GUARD(coil_rwlock, lock, COIL__UNIQUE(coil__guard))
#define COIL_SEMAPHORE_GUARD(semaphore)                                                  \
    COIL__GUARD(coil_semaphore, semaphore, COIL__UNIQUE(coil__guard))

/* ---- handles ----------------------------------------------------------------------- */

/*
 * Declare a pointer to an object of coil's type `type`, which is destroyed or released at
 * the end of the block unless the pointer is NULL. (GLib: g_autoptr; systemd: _cleanup_)
 *
 *     COIL_AUTO(coil_stream) stream = NULL;
 *     int rc = coil_connect("localhost", "7", &stream);
 *
 *     if (rc < 0)
 *         return rc;
 *
 * Always initialise the pointer. The type must have a function coil_..._destroy() or
 * coil_..._release(): coil_stream, coil_listener, coil_server, coil_datagram, coil_tls,
 * coil_file, coil_directory, coil_process, coil_watch, coil_task, coil_future,
 * coil_promise, coil_channel, coil_context, coil_handle, coil_loop, coil_runner,
 * coil_error, coil_coro, coil_gen. With coil/http.h, the types coil_http_session and
 * coil_http_response are also supported.
 */
#define COIL_AUTO(type) COIL__CLEANUP(coil__auto_##type) type *

/*
 * Return the pointer and set the variable to NULL, so that the object is not released at
 * the end of the block. (GLib: g_steal_pointer; systemd: TAKE_PTR)
 *
 *     *out = COIL_TAKE(stream);
 */
#define COIL_TAKE(pointer) COIL__TAKE(pointer, COIL__UNIQUE(coil__taken))

#define COIL__TAKE(pointer, taken)                                                       \
    (__extension__({                                                                     \
        __typeof__(pointer) taken = (pointer);                                           \
        (pointer) = NULL;                                                                \
        taken;                                                                           \
    }))

/*
 * Make COIL_AUTO() work for a type of your own. `release` is called with a pointer that
 * is not NULL.
 *
 *     COIL_AUTO_TYPE(session, end_session);       // void end_session(session *s)
 */
#define COIL_AUTO_TYPE(type, release) COIL__AUTO_TYPE(type, release)

COIL__GUARD_TYPE(coil_scope, coil_scope_leave);
COIL__GUARD_TYPE(coil_group, coil_group_leave);
COIL__GUARD_TYPE(coil_lock, coil_lock_release);
COIL__GUARD_TYPE(coil_rwlock, coil_rwlock_release);
COIL__GUARD_TYPE(coil_semaphore, coil_semaphore_release);
COIL__AUTO_TYPE(coil_lock, coil_lock_release);
COIL__AUTO_TYPE(coil_stream, coil_stream_destroy);
COIL__AUTO_TYPE(coil_listener, coil_listener_destroy);
COIL__AUTO_TYPE(coil_server, coil_server_destroy);
COIL__AUTO_TYPE(coil_datagram, coil_datagram_destroy);
COIL__AUTO_TYPE(coil_tls, coil_tls_release);
COIL__AUTO_TYPE(coil_file, coil_file_destroy);
COIL__AUTO_TYPE(coil_directory, coil_directory_destroy);
COIL__AUTO_TYPE(coil_process, coil_process_destroy);
COIL__AUTO_TYPE(coil_watch, coil_watch_destroy);
COIL__AUTO_TYPE(coil_task, coil_task_release);
COIL__AUTO_TYPE(coil_future, coil_future_release);
COIL__AUTO_TYPE(coil_promise, coil_promise_release);
COIL__AUTO_TYPE(coil_channel, coil_channel_release);
COIL__AUTO_TYPE(coil_context, coil_context_release);
COIL__AUTO_TYPE(coil_handle, coil_handle_release);
COIL__AUTO_TYPE(coil_loop, coil_loop_release);
COIL__AUTO_TYPE(coil_runner, coil_runner_destroy);
COIL__AUTO_TYPE(coil_error, coil_error_release);
COIL__AUTO_TYPE(coil_coro, coil_coro_destroy);
COIL__AUTO_TYPE(coil_gen, coil_gen_destroy);

#ifdef __cplusplus
}
#endif

#endif
