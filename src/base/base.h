/*
 * base.h (internal) - memory, the clock, failing, stopping the program on misuse.
 */
#ifndef COIL_BASE_BASE_H
#define COIL_BASE_BASE_H

#include "compiler.h"
#include "list.h"

#include <coil/base.h>

/* All heap memory of the library. As malloc(3), calloc(3), realloc(3), free(3). */
void *coil__alloc(size_t size);
void *coil__alloc_zeroed(size_t size);
void *coil__realloc(void *block, size_t size);
void coil__free(void *block);

/*
 * Free an object of the public interface. In debug mode the memory is not reused for a
 * while, so that a call on the object finds the mark of coil__misuse_gone().
 */
void coil__free_object(void *block);

/* Debug mode: keep the objects that this thread frees from now on; or free those that are
   kept, and keep no more. */
void coil__keep_freed_objects(bool on);

/* CLOCK_MONOTONIC in nanoseconds. */
int64_t coil__clock_monotonic(void);

/* a + b, at most COIL_NEVER. */
int64_t coil__time_add(int64_t a, int64_t b);

void coil__note_failure(int rc) COIL__COLD;

/*
 * A public function is about to fail with `rc`, a negative errno without a sentence. So
 * the sentence of an older failure with the same rc is dropped. Every failure of a public
 * function passes here or makes an error (coil_fail()); success costs nothing.
 */
static inline int coil__failed(int rc)
{
    coil__note_failure(rc);
    return rc;
}

/* The same for a result that may be a failure. Returns it. */
static inline ssize_t coil__result(ssize_t result)
{
    if (COIL__UNLIKELY(result < 0))
        coil__failed((int)result);
    return result;
}

/* If set, coil__note_failure() calls it: the task layer keeps the errors. */
extern void (*_Atomic coil__failed_hook)(int rc);

/* The caller has made a mistake: print the sentence and abort(). */
COIL__NORETURN void coil__misuse(const char *format, ...) COIL__PRINTF(1, 2);

/* Stop the program: "coil_spawn() was called with a function that is NULL". */
COIL__NORETURN void coil__misuse_null(const char *function,
                                      const char *argument) COIL__COLD;

/*
 * The first statement of a public function that needs `pointer`, with a noun for it: "a
 * stream". The second form is for a pointer that may be NULL unless `condition` holds: a
 * buffer of no bytes.
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
 * Stop the program: `caller` was called with an object that was destroyed, or whose last
 * reference was released. Objects that detect this have a mark or a count that is 0 in
 * freed memory. The mark must come after the first 16 bytes, which malloc(3) overwrites,
 * or after the first 32 in large blocks.
 */
COIL__NORETURN void coil__misuse_gone(const char *caller);

/*
 * If set, coil__misuse() calls it first. It returns if the program must be stopped. Else it
 * ends the calls of the running task that made the mistake, and does not return. `from` is
 * the return address of coil__misuse().
 */
extern void (*_Atomic coil__misuse_contain)(const char *sentence, const void *from);

/*
 * If set, coil__misuse() calls it in place of printing the sentence: it prints the
 * sentence, and the stack from the call of coil__misuse() on. Any thread may set it; all
 * set the same.
 */
extern void (*_Atomic coil__misuse_report)(const char *sentence, const void *from);

#endif
