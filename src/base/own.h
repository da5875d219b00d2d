/*
 * own.h (internal) - marks libcoil's calls to functions that libcoil-posix replaces.
 *
 * libcoil-posix replaces blocking functions with functions that suspend the calling task.
 * libcoil also calls these functions in tasks, but must get the original ones. So libcoil
 * calls each of these functions through a short function in own_x86_64.S or
 * own_aarch64.S, and libcoil-posix recognises such a call by its return address. This
 * also works in callbacks that end in a tail call, in programs that are linked with
 * libcoil.a, and with link-time optimisation.
 *
 * The build includes this header in every file of libcoil (src/meson.build). The files
 * call the functions by their usual names, which the declarations below redirect.
 * tests/suites/posix/run checks that the lists are complete.
 *
 * Each file also records the range of its code (COIL__OWN_TEXT). Reports use these ranges
 * to omit coil's frames, because a stripped program that is linked with libcoil.a does
 * not contain the names of coil's functions. libcoil-testing records these ranges, but
 * does not redirect calls (COIL__OWN_TEXT_ALONE).
 */
#ifndef COIL_BASE_OWN_H
#define COIL_BASE_OWN_H

/* clang-format off */
/*
 * The first list contains functions with up to six arguments, including variadic
 * functions; the second list contains functions with seven.
 */
#define COIL__OWN_CALLS(X)                                                               \
    X(accept4) X(close) X(connect) X(dup3) X(epoll_wait) X(fclose) X(fcntl) X(fdatasync) \
    X(fflush) X(fgets) X(flockfile) X(fopen) X(fprintf) X(fputc) X(fputs) X(fsync)       \
    X(funlockfile) X(fwrite) X(getaddrinfo) X(getline) X(nanosleep) X(open) X(openat)    \
    X(poll) X(ppoll) X(preadv2) X(pselect) X(pthread_cond_broadcast)                     \
    X(pthread_cond_clockwait) X(pthread_cond_signal) X(pthread_cond_timedwait)           \
    X(pthread_cond_wait) X(pthread_join) X(pthread_key_create) X(pthread_key_delete)     \
    X(pthread_mutex_lock)                                                                \
    X(pthread_mutex_unlock) X(pthread_once) X(putc) X(pwritev2) X(read) X(readv) X(recv) \
    X(recvfrom) X(recvmmsg) X(recvmsg) X(sched_yield) X(send) X(sendfile) X(sendmmsg)    \
    X(sendmsg) X(sigtimedwait) X(splice) X(vfprintf) X(waitid) X(write) X(writev)
#define COIL__OWN_CALLS_OF_SEVEN(X) X(getnameinfo)

/*
 * Record where this file's code in `section` lies: its start, relative to the record,
 * and its size. Subsection 8191 is the last that assemblers support, so its label is
 * after all code of the file. The flag "o" ties the record to the code: --gc-sections
 * drops both or neither.
 */
#define COIL__OWN_TEXT_IN(section)                                                       \
    .pushsection section, "ax", %progbits; 1: .subsection 8191; 2: .popsection;          \
    .pushsection coil_own_text, "ao", %progbits, section; .balign 4;                     \
    .long 1b - ., 2b - 1b; .popsection;
#define COIL__OWN_TEXT                                                                   \
    COIL__OWN_TEXT_IN(.text) COIL__OWN_TEXT_IN(.text.hot) COIL__OWN_TEXT_IN(.text.unlikely)
/* clang-format on */

#ifdef __ASSEMBLER__
COIL__OWN_TEXT
#else

#define COIL__OWN_AS_TEXT(...) #__VA_ARGS__
#define COIL__OWN_EXPANDED(...) COIL__OWN_AS_TEXT(__VA_ARGS__)
__asm__(COIL__OWN_EXPANDED(COIL__OWN_TEXT));
#undef COIL__OWN_EXPANDED
#undef COIL__OWN_AS_TEXT

#ifndef COIL__OWN_TEXT_ALONE

/*
 * The records of all files. The linker defines these symbols, which mark their start and
 * end.
 */
struct coil__own_text {
    int begin; /* relative to the record */
    unsigned size;
};
extern const struct coil__own_text __start_coil_own_text[]
    __attribute__((visibility("hidden")));
extern const struct coil__own_text __stop_coil_own_text[]
    __attribute__((visibility("hidden")));

/*
 * With _FORTIFY_SOURCE, these headers define inline wrappers that call the functions, and
 * clang cannot redirect a function after a call to it. So include the headers here
 * without the wrappers, before the functions are redirected.
 */
#include <features.h>
#pragma push_macro("__USE_EXTERN_INLINES")
#undef __USE_EXTERN_INLINES
#pragma push_macro("__USE_FORTIFY_LEVEL")
#undef __USE_FORTIFY_LEVEL
#define __USE_FORTIFY_LEVEL 0
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#pragma pop_macro("__USE_FORTIFY_LEVEL")
#pragma pop_macro("__USE_EXTERN_INLINES")

#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <time.h>

#define COIL__OWN(name) extern __typeof__(name) name __asm__("coil__own_" #name);
COIL__OWN_CALLS(COIL__OWN)
COIL__OWN_CALLS_OF_SEVEN(COIL__OWN)
#undef COIL__OWN

/* All calls through own_*.S return to an address between these two. */
extern const char coil__own_begin[] __attribute__((visibility("hidden")));
extern const char coil__own_end[] __attribute__((visibility("hidden")));

#endif
#endif
#endif
