/*
 * compiler.h - macros for compiler extensions.
 */
#ifndef COIL_BASE_COMPILER_H
#define COIL_BASE_COMPILER_H

#define COIL__LIKELY(x) __builtin_expect(!!(x), 1)
#define COIL__UNLIKELY(x) __builtin_expect(!!(x), 0)
#define COIL__NOINLINE __attribute__((noinline))
#define COIL__ALWAYS_INLINE __attribute__((always_inline)) inline
#define COIL__ONE_LINE                                                                   \
    __attribute__((aligned(64))) /* keeps a short function in one cache line */
/*
 * For functions that are called in every task switch. The linker places them next to each
 * other, so that changes to other code do not change their relative positions.
 */
#define COIL__HOT __attribute__((hot))
#define COIL__WEAK __attribute__((weak))
/*
 * For functions without a stack canary (-fstack-protector). Only functions that
 * coil_spawn() calls are marked, and only if they have no local arrays, which could
 * overflow. Canaries in these functions would make a spawn 2 % slower.
 */
#define COIL__NO_CANARY __attribute__((no_stack_protector))
#define COIL__NORETURN __attribute__((noreturn))
#define COIL__COLD __attribute__((cold))
#define COIL__AT_EXIT __attribute__((destructor)) /* the function is called by exit(3) */
#define COIL__NO_SANITIZE                                                                \
    __attribute__((no_sanitize("address"), no_sanitize("thread"),                        \
                   no_sanitize("undefined")))
#define COIL__PREFETCH(address) __builtin_prefetch(address)
#define COIL__PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/*
 * The return address of the function that uses this macro. The function must be
 * COIL__NOINLINE: otherwise link-time optimisation might inline even a public function,
 * and the macro would yield the caller's return address.
 */
#define COIL__CALLER() __builtin_return_address(0)

/*
 * For functions that C++ exceptions must not leave: if an exception reaches the function,
 * the unwinder calls `personality`, one of coil's personality routines (Itanium C++ ABI,
 * 1.6). 0x1b means that the routine's address is encoded as a relative address of 4
 * bytes.
 */
#define COIL__STOP_EXCEPTIONS(personality)                                               \
    __asm__ volatile(".cfi_personality 0x1b, " #personality)

/* Make the compiler forget what it knows about the pointer, to avoid false warnings. */
#define COIL__FORGET(pointer) __asm__("" : "+r"(pointer))

/*
 * For thread-local variables. A task never moves to another thread, so the compiler may
 * cache the address of such a variable.
 *
 * A library with such variables can be opened with dlopen(3) only if all of them fit into
 * the spare memory that the C library reserves, about 1.6 KB in glibc. Other libraries
 * need part of this memory. So put tables and buffers elsewhere, for example in the loop.
 */
#define COIL__THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

/* Return the value of the stack pointer. (GCC 14 has a builtin function for this.) */
__attribute__((always_inline)) static inline const char *coil__stack_pointer(void)
{
    const char *sp;

#if defined(__x86_64__)
    __asm__("movq %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
    __asm__("mov %0, sp" : "=r"(sp));
#endif
    return sp;
}

/*
 * Read the processor's time-stamp counter, which takes less time than reading the clock.
 */
__attribute__((always_inline)) static inline unsigned long coil__ticks(void)
{
#if defined(__x86_64__)
    unsigned long low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return high << 32 | low;
#elif defined(__aarch64__)
    unsigned long ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

/*
 * True if the time-stamp counter has a constant rate, which is the same on all
 * processors.
 */
static inline int coil__has_steady_ticks(void)
{
#if defined(__x86_64__) /* AMD64 Architecture Programmer's Manual, volume 3, E.4.6 */
    unsigned a = 0x80000000, b, c = 0, d;

    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    if (a < 0x80000007)
        return 0;
    a = 0x80000007;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return d >> 8 & 1;
#elif defined(__aarch64__)
    return 1;
#endif
}

/* Convert a pointer to a member of a struct to a pointer to the struct. */
#define COIL__CONTAINER(ptr, type, member)                                               \
    ((type *)((char *)(ptr)-offsetof(type, member)))

#if defined(__SANITIZE_ADDRESS__)
#define COIL__ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COIL__ASAN 1
#endif
#endif
#ifndef COIL__ASAN
#define COIL__ASAN 0
#endif

#if defined(__SANITIZE_THREAD__)
#define COIL__TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COIL__TSAN 1
#endif
#endif
#ifndef COIL__TSAN
#define COIL__TSAN 0
#endif

#endif
