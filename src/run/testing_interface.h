/*
 * testing_interface.h (internal) - the interface between libcoil and libcoil-testing.
 *
 * libcoil-testing uses hidden functions of libcoil: its simulated network is a backend of
 * the loop, and its sequencer suspends tasks with libcoil's waits. libcoil-testing
 * registers its hooks, and gets the table of functions below
 * (docs/decisions/0006-a-library-for-testing.md). libcoil-testing is compiled with
 * libcoil's headers, so both libraries must have the same version.
 */
#ifndef COIL_RUN_TESTING_INTERFACE_H
#define COIL_RUN_TESTING_INTERFACE_H

#include "../base/fault.h"
#include "../loop/loop.h"
#include "../sync/waiters.h"

/*
 * Describes the headers with which a library was compiled. Both libraries must have the
 * same description.
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

/* libcoil's hidden functions for libcoil-testing. The member `x` is coil__x(). */
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
 * Register `hooks` for all loops of this process. They stay registered. Any thread may
 * call this function, any number of times. Aborts if `build` differs from that of this
 * libcoil. This symbol is exported with the version COIL_PRIVATE.
 */
COIL_API const struct coil__inside *
coil__testing_register(const struct coil__build *build,
                       const struct coil__loop_hooks *hooks);

#endif
