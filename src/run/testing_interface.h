/*
 * testing_interface.h (internal) - the interface between libcoil and libcoil-testing.
 *
 * libcoil-testing needs functions of libcoil that are hidden: for example, its simulated
 * network is a backend of the loop, and its sequencer suspends tasks. When
 * libcoil-testing registers its hooks, it gets a table of these functions
 * (docs/decisions/0006-a-library-for-testing.md). Because libcoil-testing is compiled
 * with libcoil's internal headers, both libraries must have the same version.
 */
#ifndef COIL_RUN_TESTING_INTERFACE_H
#define COIL_RUN_TESTING_INTERFACE_H

#include "../base/fault.h"
#include "../loop/loop.h"
#include "../sync/waiters.h"

/*
 * Version of the headers with which a library was compiled, and sizes of some structs in
 * them. All numbers must be the same in both libraries.
 */
struct coil__build {
    unsigned version[3];
    size_t sizes[5];
};

#define COIL__THIS_BUILD                                                                 \
    {                                                                                    \
        {COIL_VERSION_MAJOR, COIL_VERSION_MINOR, COIL_VERSION_PATCH},                    \
        {                                                                                \
            sizeof(struct coil_loop), sizeof(struct coil_task),                          \
                sizeof(struct coil__op_row), sizeof(struct coil__backend_class),         \
                sizeof(struct coil__inside)                                              \
        }                                                                                \
    }

/*
 * The hidden functions and objects of libcoil that libcoil-testing uses. The member `x`
 * is coil__x.
 */
struct coil__inside {
    void *(*alloc)(size_t size);
    void *(*alloc_zeroed)(size_t size);
    void *(*realloc)(void *block, size_t size);
    void (*free)(void *block);
    int64_t (*time_add)(int64_t a, int64_t b);
    int (*failed)(int rc);
    void (*misuse)(const char *format, ...) COIL__PRINTF(1, 2);
    const struct coil__fault_hooks *_Atomic *fault_hooks;

    coil_loop *(*loop_require)(const char *caller);
    int64_t (*loop_now)(coil_loop *loop);
    void (*loop_add_ready)(coil_loop *loop, struct coil__runnable *runnable);
    void (*timer_init)(struct coil__timer *timer, void (*run)(struct coil__runnable *));
    int (*timer_start)(coil_loop *loop, struct coil__timer *timer, int64_t when);
    void (*timer_stop)(coil_loop *loop, struct coil__timer *timer);
    const struct coil__op_row *op_rows;
    const struct coil__backend_class *backend_poll;
    int (*descriptor_make_room)(struct coil__descriptors *all, int fd);

    void (*wait_init)(struct coil__wait *wait, const struct coil__wait_class *class);
    int (*wait_park)(struct coil__wait *wait);
    bool (*wait_complete)(struct coil__wait *wait, int rc);
    int (*waiters_wait_as)(coil_waiters *waiters, struct coil__waiter *waiter,
                           const struct coil__wait_class *class, const void *object);
    bool (*waiter_wake)(struct coil__waiter *waiter);
    void (*waiters_wake_all)(coil_waiters *waiters);
};

/*
 * Register `hooks` for all loops of this process, until it ends, and return libcoil's
 * hidden functions. May be called more than once, and on any thread. Aborts if libcoil
 * was not compiled with the headers that `build` describes. The symbol is exported with
 * the version COIL_PRIVATE.
 */
COIL_API const struct coil__inside *
coil__testing_register(const struct coil__build *build,
                       const struct coil__loop_hooks *hooks);

#endif
