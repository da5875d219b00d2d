/*
 * coil/semaphore.h - a counting semaphore: at most n tasks at a time.
 *
 *     static coil_semaphore slots = COIL_SEMAPHORE_INIT(10);
 *     rc = coil_semaphore_acquire(&slots);
 *     if (rc < 0)
 *         return rc;
 *     rc = download(url);                // ten at a time
 *     coil_semaphore_release(&slots);
 *
 * A bounded semaphore detects releases without a matching acquire. (asyncio: Semaphore,
 * BoundedSemaphore)
 */
#ifndef COIL_SEMAPHORE_H
#define COIL_SEMAPHORE_H

#include <coil/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_semaphore {
    coil_waiters waiters;
    size_t value;
} coil_semaphore;

/* clang-format off */
#define COIL_SEMAPHORE_INIT(n) {COIL_WAITERS_INIT, (n)}
/* clang-format on */

/* Initialise a semaphore with this value at run time, like COIL_SEMAPHORE_INIT. */
COIL_API void coil_semaphore_init(coil_semaphore *semaphore, size_t value);

/* Destroy the semaphore; no task may still be waiting for it. NULL is accepted. */
COIL_API void coil_semaphore_finish(coil_semaphore *semaphore);

/*
 * Decrement the value, waiting in line while it is 0. Returns 0, or -ECANCELED without
 * changing the value. (asyncio: acquire)
 */
COIL_SUSPENDS COIL_CHECKED int coil_semaphore_acquire(coil_semaphore *semaphore);

/* Increment the value, and wake the first waiter. Never allocates. (asyncio: release) */
COIL_API void coil_semaphore_release(coil_semaphore *semaphore);

/* True if an acquire would wait. */
COIL_API bool coil_semaphore_locked(const coil_semaphore *semaphore);

/* ---- bounded ----------------------------------------------------------------------- */

typedef struct coil_bounded_semaphore {
    coil_semaphore semaphore;
    size_t bound;
} coil_bounded_semaphore;

/* clang-format off */
#define COIL_BOUNDED_SEMAPHORE_INIT(n) {COIL_SEMAPHORE_INIT(n), (n)}
/* clang-format on */

/* These functions work like those of coil_semaphore. */
COIL_API void coil_bounded_semaphore_init(coil_bounded_semaphore *bounded, size_t value);
COIL_API void coil_bounded_semaphore_finish(coil_bounded_semaphore *bounded);
COIL_SUSPENDS COIL_CHECKED int
coil_bounded_semaphore_acquire(coil_bounded_semaphore *bounded);

/*
 * Increment the value. Fails with -EOVERFLOW if the value would exceed the initial value.
 * In that case the value does not change.
 */
COIL_API int coil_bounded_semaphore_release(coil_bounded_semaphore *bounded);

/* Like coil_semaphore_locked(). */
COIL_API bool coil_bounded_semaphore_locked(const coil_bounded_semaphore *bounded);

#ifdef __cplusplus
}
#endif

#endif
