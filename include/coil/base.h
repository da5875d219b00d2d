/*
 * coil/base.h - the conventions of all coil headers: errors, time, memory.
 *
 * ERRORS. A function that can fail returns int or ssize_t: 0 or a count on success, a
 * negative errno on failure. `errno` itself never carries a result. Some errnos have one
 * meaning throughout coil:
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
 * If coil detects a bug in the caller, it aborts the program with a message. Examples of
 * such bugs are a task that awaits itself, a call on the wrong thread, a NULL argument,
 * and a call that would suspend outside a task. The message names the function that was
 * called. If another thread calls exit(3) at the same time, exit(3) waits, so that the
 * program is still killed by SIGABRT.
 *
 * TIME is int64_t nanoseconds of a monotonic clock. A parameter named delay_ns or
 * timeout_ns is a duration; a parameter named deadline is a point in time, on the clock
 * of coil_now().
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

/* Marks an exported function. */
#define COIL_API __attribute__((visibility("default")))

/*
 * Marks an exported function that may suspend the calling task, and must therefore be
 * called from a task. While a task makes no such call, no other task or callback of this
 * thread runs.
 */
#define COIL_SUSPENDS COIL_API

/*
 * Marks a function whose failure the caller must handle, because a failed call does not
 * provide the lock, object or bytes that the caller needs. The compiler warns if the
 * result of such a call is ignored. To turn the warning off, define the macro as empty
 * before including any header.
 */
#ifndef COIL_CHECKED
#define COIL_CHECKED __attribute__((warn_unused_result))
#endif

/* Durations, in nanoseconds. */
#define COIL_NSEC(n) ((int64_t)(n))
#define COIL_USEC(n) ((int64_t)(n)*1000)
#define COIL_MSEC(n) ((int64_t)(n)*1000000)
#define COIL_SEC(n) ((int64_t)(n)*1000000000)

/* A deadline that never passes. */
#define COIL_NEVER INT64_MAX

/*
 * Return the time of the current loop's clock in nanoseconds, or of CLOCK_MONOTONIC
 * without a loop. (asyncio: loop.time)
 */
COIL_API int64_t coil_now(void);

/*
 * Return the deadline `span_ns` from now: coil_in(COIL_SEC(2)). The result saturates at
 * COIL_NEVER. A negative duration gives a deadline in the past.
 */
COIL_API int64_t coil_in(int64_t span_ns);

/* Return the version of the library as a static string, "0.1.0". */
COIL_API const char *coil_version(void);

/*
 * The function from which coil gets its heap memory, and its argument.
 *
 * realloc(context, NULL, n) allocates n bytes, where n is never 0. realloc(context, p, 0)
 * frees p and returns NULL. Otherwise the function behaves like realloc(3). Stacks come
 * from mmap(2) instead. The records of debug mode come from malloc(3), so that debug mode
 * does not change which allocation fails.
 */
typedef struct coil_allocator {
    void *(*realloc)(void *context, void *block, size_t size);
    void *context;
} coil_allocator;

/*
 * Replace the allocator; NULL restores malloc(3). Call this function before any other
 * function of coil, on one thread; `allocator` is copied. Tests use it to make the nth
 * allocation fail.
 */
COIL_API void coil_set_allocator(const coil_allocator *allocator);

/*
 * Free memory that a function of coil's libraries allocated for the caller, such as the
 * result of coil_read_file() or coil_http_read_all(), or the data of a coil_output. NULL
 * is accepted.
 *
 * All such memory comes from coil's allocator, so do not pass it to free(3). Objects have
 * their own functions, coil_..._destroy() or coil_..._release(). The list that
 * coil_getaddrinfo() returns is freed with freeaddrinfo(3), like a list from
 * getaddrinfo(3).
 */
COIL_API void coil_free(void *block);

/*
 * Allocate or resize memory, like realloc(3), to be freed with coil_free(). Returns NULL
 * and leaves `block` unchanged if memory runs out. Libraries built on coil use this
 * function.
 */
COIL_API COIL_CHECKED void *coil_realloc(void *block, size_t size);

#ifdef __cplusplus
}
#endif

#endif
