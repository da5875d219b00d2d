/*
 * compiler.h - the one file that names compilers and their extensions.
 */
#ifndef COIL_BASE_COMPILER_H
#define COIL_BASE_COMPILER_H

#define COIL__LIKELY(x) __builtin_expect(!!(x), 1)
#define COIL__UNLIKELY(x) __builtin_expect(!!(x), 0)
#define COIL__NOINLINE __attribute__((noinline))
#define COIL__NORETURN __attribute__((noreturn))
#define COIL__NO_SANITIZE                                                                \
    __attribute__((no_sanitize("address"), no_sanitize("thread"),                        \
                   no_sanitize("undefined")))
#define COIL__PREFETCH(address) __builtin_prefetch(address)
#define COIL__PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/*
 * Behind a call that ends a function: it is a call then, and no jump. libcoil-posix knows
 * our calls of what it stands before by where they return to.
 */
#define COIL__NO_JUMP() __asm__ volatile("")

/*
 * Where the function that says this returns to. It is COIL__NOINLINE: put into its
 * caller, which optimising at link time does with public functions too, it would return
 * to the caller's caller.
 */
#define COIL__CALLER() __builtin_return_address(0)

/* From here on the compiler does not know what the pointer points to, nor how large it
 * is: it warns no more of what is not done there. */
#define COIL__FORGET(pointer) __asm__("" : "+r"(pointer))

/* Variables of the thread's; the loop never migrates, so their address may be cached. */
#define COIL__THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

/* The struct of which `ptr` points to a member. */
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
