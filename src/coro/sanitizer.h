/*
 * sanitizer.h - telling ASan, TSan and Valgrind that a coroutine's stack is one.
 *
 * They follow the stack pointer and take a jump of it for a corruption. In a build
 * without them all of this is empty, but for Valgrind, which is recognised at run time
 * where its header was there at build time.
 */
#ifndef COIL_CORO_SANITIZER_H
#define COIL_CORO_SANITIZER_H

#include "coroutine.h"

#if COIL__ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if COIL__TSAN
#include <sanitizer/tsan_interface.h>
#endif
#ifdef COIL__HAVE_VALGRIND
#include <valgrind/valgrind.h>
#endif

static inline void coil__asan_unpoison(const void *start, size_t bytes)
{
#if COIL__ASAN
    __asan_unpoison_memory_region(start, bytes);
#else
    (void)start, (void)bytes;
#endif
}

static inline bool coil__on_valgrind(void)
{
#ifdef COIL__HAVE_VALGRIND
    return RUNNING_ON_VALGRIND;
#else
    return false;
#endif
}

/* A coroutine has got its stack. */
static inline void coil__san_created(coil__coro *coro)
{
#if COIL__TSAN
    coro->tsan_fiber = __tsan_create_fiber(0);
#endif
#ifdef COIL__HAVE_VALGRIND
    coro->valgrind_id = VALGRIND_STACK_REGISTER(coro->stack.low, coro->stack.high);
#endif
    (void)coro;
}

static inline void coil__san_destroyed(coil__coro *coro)
{
#if COIL__TSAN
    __tsan_destroy_fiber(coro->tsan_fiber);
#endif
#ifdef COIL__HAVE_VALGRIND
    VALGRIND_STACK_DEREGISTER(coro->valgrind_id);
#endif
    (void)coro;
}

/* Just before `from` is left for `to`. A `from` that is done never comes back. */
static inline void coil__san_leaving(coil__coro *from, coil__coro *to)
{
#if COIL__ASAN
    size_t bytes = (size_t)(to->stack.high - to->stack.low);

    __sanitizer_start_switch_fiber(from->done ? NULL : &from->asan_fake_stack,
                                   to->stack.low, bytes);
#endif
#if COIL__TSAN
    if (from->tsan_fiber == NULL)
        from->tsan_fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to->tsan_fiber, 0);
#endif
    (void)from, (void)to;
}

/* Just after `here` was entered from `from`, whose stack ASan alone knows if a root. */
static inline void coil__san_arrived(coil__coro *here, coil__coro *from)
{
#if COIL__ASAN
    const void *low;
    size_t bytes;

    __sanitizer_finish_switch_fiber(here->asan_fake_stack, &low, &bytes);
    if (from->stack.slot == NULL) {
        from->stack.low = (char *)(uintptr_t)low;
        from->stack.high = from->stack.low + bytes;
    }
#endif
    (void)here, (void)from;
}

/* Memory that the kernel shares with us: whose accesses are in order without
   ThreadSanitizer knowing why. */
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
