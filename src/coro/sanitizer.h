/*
 * sanitizer.h (internal) - notifies ASan, TSan and Valgrind of coroutines' stacks.
 *
 * Sanitizers and Valgrind follow the stack pointer, and would report a switch as memory
 * corruption. The sanitizer is detected when the program is linked, not when coil is
 * built: coil refers to the sanitizer's functions weakly, and these references are NULL
 * without a sanitizer. Most functions in this file check these references. The switch
 * itself checks nothing: with a sanitizer each switch takes the slow path (exceptions.c).
 * Valgrind is detected at run time, if its header was present at build time.
 */
#ifndef COIL_CORO_SANITIZER_H
#define COIL_CORO_SANITIZER_H

#include "coroutine.h"

#ifdef COIL__HAVE_VALGRIND
#include <valgrind/memcheck.h>
#include <valgrind/valgrind.h>
#endif

/* sanitizer/asan_interface.h, common_interface_defs.h */
COIL__WEAK void __asan_unpoison_memory_region(const volatile void *start, size_t bytes);
COIL__WEAK void __sanitizer_start_switch_fiber(void **save, const void *low,
                                               size_t bytes);
COIL__WEAK void __sanitizer_finish_switch_fiber(void *saved, const void **old_low,
                                                size_t *old_bytes);

/* sanitizer/tsan_interface.h */
COIL__WEAK void *__tsan_get_current_fiber(void);
COIL__WEAK void *__tsan_create_fiber(unsigned flags);
COIL__WEAK void __tsan_destroy_fiber(void *fiber);
COIL__WEAK void __tsan_switch_to_fiber(void *fiber, unsigned flags);

static inline void coil__asan_unpoison(const void *start, size_t bytes)
{
    if (COIL__UNLIKELY(__asan_unpoison_memory_region != NULL))
        __asan_unpoison_memory_region(start, bytes);
}

static inline bool coil__on_valgrind(void)
{
#ifdef COIL__HAVE_VALGRIND
    return RUNNING_ON_VALGRIND;
#else
    return false;
#endif
}

/* True if each switch must be reported to a sanitizer. */
static inline bool coil__san_present(void)
{
    return __sanitizer_start_switch_fiber != NULL || __tsan_switch_to_fiber != NULL;
}

/*
 * Register a slot with Valgrind when it is first taken, and deregister it when it is
 * unmapped. The slot stays registered while it is free.
 */
static inline void coil__valgrind_begin(struct coil__stack *stack, const char *high)
{
#ifdef COIL__HAVE_VALGRIND
    stack->valgrind_id = VALGRIND_STACK_REGISTER(stack->low, high);
#endif
    (void)stack, (void)high;
}

static inline void coil__valgrind_end(struct coil__stack *stack)
{
#ifdef COIL__HAVE_VALGRIND
    VALGRIND_STACK_DEREGISTER(stack->valgrind_id);
#endif
    (void)stack;
}

/*
 * Call this before code on another stack writes to the top of this stack. If an earlier
 * coroutine has used the stack and returned, Valgrind considers this memory to be below
 * the stack pointer, and would report the writes as errors.
 */
static inline void coil__valgrind_reserve(void *low, size_t bytes)
{
#ifdef COIL__HAVE_VALGRIND
    VALGRIND_MAKE_MEM_UNDEFINED(low, bytes);
#endif
    (void)low, (void)bytes;
}

static inline void coil__san_destroyed(coil__coro *coro)
{
    if (COIL__UNLIKELY(coro->fiber != NULL) && __tsan_destroy_fiber != NULL)
        __tsan_destroy_fiber(coro->fiber);
    coro->fiber = NULL;
}

/*
 * Call this just before the switch from `from` to `to`. If `from` is done, ASan frees its
 * fake stack.
 */
static inline void coil__san_leaving(coil__coro *from, coil__coro *to)
{
    if (__sanitizer_start_switch_fiber != NULL)
        __sanitizer_start_switch_fiber(from->done ? NULL : &from->fiber, to->stack.low,
                                       (size_t)(to->stack.high - to->stack.low));
    if (__tsan_switch_to_fiber == NULL)
        return;
    if (from->fiber == NULL) /* only a root begins without a fiber */
        from->fiber = __tsan_get_current_fiber();
    if (to->fiber == NULL) /* entered for the first time */
        to->fiber = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(to->fiber, 0);
}

/*
 * Call this just after the switch from `from` to `here`. If `from` is a root, ASan
 * returns the limits of its stack.
 */
static inline void coil__san_arrived(coil__coro *here, coil__coro *from)
{
    const void *low;
    size_t bytes;

    if (__sanitizer_finish_switch_fiber == NULL)
        return;
    __sanitizer_finish_switch_fiber(here->fiber, &low, &bytes);
    if (!coil__stack_in_slot(&from->stack)) {
        from->stack.low = (char *)(uintptr_t)low;
        from->stack.high = from->stack.low + bytes;
    }
}

/*
 * Exclude memory that is shared with the kernel from TSan's checks, because TSan does not
 * see the kernel's accesses.
 */
#if COIL__TSAN
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *memory,
                             size_t size, const char *why);
#endif

static inline void coil__san_ignore(const volatile void *memory, size_t size)
{
#if COIL__TSAN
    AnnotateBenignRaceSized(__FILE__, __LINE__, memory, size, "shared with the kernel");
#else
    (void)memory;
    (void)size;
#endif
}

#endif
