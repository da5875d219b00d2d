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
 * Free an object that the program has created. In debug mode the object's memory is not
 * reused for a while, so that later calls with the object are detected: see
 * coil__misuse_gone().
 */
void coil__free_object(void *block);

/*
 * Called when debug mode is switched on or off. If `on` is true, coil__free_object()
 * keeps the memory of objects that this thread frees from now on. Otherwise free the
 * memory that was kept, and keep no more.
 */
void coil__keep_freed_objects(bool on);

/* Return the value of CLOCK_MONOTONIC in nanoseconds. */
int64_t coil__clock_monotonic(void);

/* Return a + b, or COIL_NEVER or INT64_MIN if the sum overflows. */
int64_t coil__time_add(int64_t a, int64_t b);

void coil__note_failure(int rc) COIL__COLD;

/*
 * Return `rc`, a negative errno. Every public function that fails must either call this
 * function or create an error (coil_fail()). Without this call, coil_last_error() could
 * return the message of an earlier failure with the same rc.
 */
static inline int coil__failed(int rc)
{
    coil__note_failure(rc);
    return rc;
}

/* Like coil__failed(), but has no effect on a result that is not negative. */
static inline ssize_t coil__result(ssize_t result)
{
    if (COIL__UNLIKELY(result < 0))
        coil__failed((int)result);
    return result;
}

/* A hook that coil__note_failure() calls, or NULL. The task layer sets this hook. */
extern void (*_Atomic coil__failed_hook)(int rc);

/* Print a message about the program's mistake, and abort. */
COIL__NORETURN void coil__misuse(const char *format, ...) COIL__PRINTF(1, 2);

/* Abort with "coil_spawn() was called with a function that is NULL". */
COIL__NORETURN void coil__misuse_null(const char *function,
                                      const char *argument) COIL__COLD;

/*
 * Abort if `pointer` is NULL. Used at the beginning of public functions. `noun` stands
 * for the argument in the message, for example "a stream". COIL__REQUIRE_IF() aborts only
 * if `condition` is also true: for example, a buffer may be NULL if its size is 0.
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
 * reference was released. The caller recognises such an object by a member (a mark or a
 * reference count) that was set to 0 before the memory was freed. This member must not be
 * in the first 16 bytes of the block (32 bytes if the block is large), which free(3)
 * overwrites.
 */
COIL__NORETURN void coil__misuse_gone(const char *caller);

/*
 * coil__misuse() first calls this hook if it is set. The hook returns if the program must
 * abort. If the misuse can be contained, the hook ends the function that made the
 * mistake, and does not return. `from` is the return address of coil__misuse().
 */
extern void (*_Atomic coil__misuse_contain)(const char *sentence, const void *from);

/*
 * If this hook is set, coil__misuse() calls it instead of printing the message. The hook
 * prints the message and the stack, beginning with the function that called
 * coil__misuse(). Several threads may set the hook, provided that all set it to the same
 * function.
 */
extern void (*_Atomic coil__misuse_report)(const char *sentence, const void *from);

#endif
