/*
 * coil/base.h - the conventions of all coil headers: errors, time, memory.
 *
 * ERRORS. A function that can fail returns int or ssize_t: 0 or a count on
 * success, a negative errno on failure. `errno` itself never carries a result.
 * Some errnos have one meaning throughout coil:
 *
 *     -ECANCELED    the task, or what it waited for, was cancelled
 *     -ETIMEDOUT    a scope's deadline passed
 *     -EINPROGRESS  there is no result yet
 *     -EALREADY     the future has its result already
 *     -ESHUTDOWN    the queue, loop or executor takes nothing more
 *     -EBADF        the stream was closed, perhaps while this call waited
 *     -EBUSY        another task is using the object
 *     -ENOMEM       memory or stacks ran out; nothing was done
 *     -COIL_EFAILED the application failed: coil/error.h
 *
 * A function that returns an object through `out` sets *out to NULL when it fails.
 *
 * A bug of the caller that can be detected at once (a task that awaits itself, a wrong
 * thread, a NULL, suspending where no task runs) aborts the program with a message. The
 * message names the function that was called. If another thread calls exit(3) meanwhile,
 * exit(3) waits: the program still ends by SIGABRT.
 *
 * TIME is int64_t nanoseconds of a monotonic clock. A parameter named delay_ns
 * or timeout_ns is a span; one named deadline is a point of coil_now().
 */
#ifndef COIL_BASE_H
#define COIL_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COIL_VERSION_MAJOR 0
#define COIL_VERSION_MINOR 1
#define COIL_VERSION_PATCH 0

/* An exported function. */
#define COIL_API __attribute__((visibility("default")))

/*
 * An exported function that may suspend the calling task, and must therefore be
 * called from a task. Between two such calls nothing else of this thread runs.
 */
#define COIL_SUSPENDS COIL_API

/* Spans of time, in nanoseconds. */
#define COIL_NSEC(n) ((int64_t)(n))
#define COIL_USEC(n) ((int64_t)(n)*1000)
#define COIL_MSEC(n) ((int64_t)(n)*1000000)
#define COIL_SEC(n) ((int64_t)(n)*1000000000)

/* The deadline that never comes. */
#define COIL_NEVER INT64_MAX

/*
 * The time of the current loop's clock in nanoseconds, or of CLOCK_MONOTONIC
 * where the thread has no loop. Follows asyncio's loop.time().
 */
COIL_API int64_t coil_now(void);

/*
 * The deadline `span_ns` from now: coil_in(COIL_SEC(2)). Saturates at COIL_NEVER;
 * a span below zero gives a deadline that has passed.
 */
COIL_API int64_t coil_in(int64_t span_ns);

/*
 * The version of the library as a static string, "0.1.0".
 */
COIL_API const char *coil_version(void);

/*
 * Where all of coil's heap memory comes from. realloc(context, NULL, n) allocates,
 * n is never 0 there; realloc(context, p, 0) frees and returns NULL; otherwise as
 * realloc(3). Stacks do not come from here but from mmap(2), and what debug mode keeps
 * from malloc(3), so that debug mode does not change which allocation fails.
 */
typedef struct coil_allocator {
    void *(*realloc)(void *context, void *block, size_t size);
    void *context;
} coil_allocator;

/*
 * Replace the allocator, or with NULL return to malloc(3). Call it before anything
 * else of coil, from one thread; `allocator` is copied. Tests use it to let the nth
 * allocation fail.
 */
COIL_API void coil_set_allocator(const coil_allocator *allocator);

/* Free memory that a function of coil's says is for coil_free(). NULL is accepted. */
COIL_API void coil_free(void *block);

#ifdef __cplusplus
}
#endif

#endif
