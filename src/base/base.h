/*
 * base.h (internal) - memory, the clock, failures, and aborting on misuse.
 */
#ifndef COIL_BASE_BASE_H
#define COIL_BASE_BASE_H

#include "compiler.h"
#include "list.h"

#include <coil/base.h>

/*
 * These functions allocate and free all heap memory of the library, like malloc(3),
 * calloc(3), realloc(3) and free(3).
 */
void *coil__alloc(size_t size);
void *coil__alloc_zeroed(size_t size);
void *coil__realloc(void *block, size_t size);
void coil__free(void *block);

/*
 * Free an object of the public interface. In debug mode the memory is not reused at once,
 * so a later call on the object is detected: see coil__misuse_gone().
 */
void coil__free_object(void *block);

/*
 * For debug mode. If `on` is true, from now on keep the memory of objects that this
 * thread frees. Otherwise free this memory, and stop keeping it.
 */
void coil__keep_freed_objects(bool on);

/* Return the time of CLOCK_MONOTONIC in nanoseconds. */
int64_t coil__clock_monotonic(void);

/* Return a + b, but at most COIL_NEVER. */
int64_t coil__time_add(int64_t a, int64_t b);

void coil__note_failure(int rc) COIL__COLD;

/*
 * Called before a public function fails with `rc`, a negative errno, without a message of
 * its own: drop the message of an older failure with the same rc. Every public function
 * that fails calls this function or creates an error (coil_fail()).
 */
static inline int coil__failed(int rc)
{
    coil__note_failure(rc);
    return rc;
}

/*
 * Like coil__failed(), for a result that may also be a success. Returns the result.
 */
static inline ssize_t coil__result(ssize_t result)
{
    if (COIL__UNLIKELY(result < 0))
        coil__failed((int)result);
    return result;
}

/*
 * If this hook is set, coil__note_failure() calls it. The task layer sets the hook to
 * record errors.
 */
extern void (*_Atomic coil__failed_hook)(int rc);

/* Print a message about the caller's mistake, and abort. */
COIL__NORETURN void coil__misuse(const char *format, ...) COIL__PRINTF(1, 2);

/* Abort with "coil_spawn() was called with a function that is NULL". */
COIL__NORETURN void coil__misuse_null(const char *function,
                                      const char *argument) COIL__COLD;

/*
 * The first statement of a public function: aborts if `pointer` is NULL. The noun
 * describes the object in the message, for example "a stream". The second form aborts
 * only if `condition` is true, because an empty buffer may be NULL.
 */
#define COIL__REQUIRE(pointer, noun)                                                     \
    do {                                                                                 \
        if (COIL__UNLIKELY((pointer) == NULL))                                           \
            coil__misuse_null(__func__, (noun));                                         \
    } while (0)
#define COIL__REQUIRE_IF(condition, pointer, noun)                                       \
    do {                                                                                 \
        if (COIL__UNLIKELY((pointer) == NULL) && (condition))                            \
            coil__misuse_null(__func__, (noun));                                         \
    } while (0)

/*
 * Abort because `caller` was called with an object that was destroyed, or whose last
 * reference was released. Objects detect this by a mark or a reference count that is 0 in
 * freed memory. The mark or count must come after the first 16 bytes, which free(3)
 * overwrites, or after the first 32 bytes of large blocks.
 */
COIL__NORETURN void coil__misuse_gone(const char *caller);

/*
 * If set, coil__misuse() calls this hook first. If the misuse can be contained, the hook
 * ends the function that made the mistake and does not return. If the program must abort,
 * the hook returns. `from` is the return address of coil__misuse().
 */
extern void (*_Atomic coil__misuse_contain)(const char *sentence, const void *from);

/*
 * If set, coil__misuse() calls this hook instead of printing the message. The hook prints
 * the message, and the stack from the call to coil__misuse() on. Any thread may set the
 * hook, but always to the same function.
 */
extern void (*_Atomic coil__misuse_report)(const char *sentence, const void *from);

#endif
