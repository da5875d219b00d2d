/*
 * interpose.h - symbol interposition: libcoil-posix defines functions of the C library.
 *
 * The dynamic linker binds a call of read() to the first library that exports a read():
 * this is libcoil-posix if it is linked before the C library or preloaded. In a task,
 * libcoil-posix's read() suspends the task instead of blocking the thread. Everywhere
 * else, this read() calls the next read() in the search order, which is the C library's:
 *
 *     INTERPOSE ssize_t read(int fd, void *buf, size_t n)
 *     {
 *         if (!IN_TASK())
 *             return NEXT(read)(fd, buf, n);
 *         ...
 *
 * functions.h lists every interposed function; docs/manual/posix.md describes them.
 */
#ifndef POSIX_INTERPOSE_H
#define POSIX_INTERPOSE_H

#include "functions.h"

#include <coil/debug.h>

#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <resolv.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

/* Programs compiled with _FORTIFY_SOURCE call these; no header declares them. */
ssize_t __read_chk(int fd, void *buf, size_t n, size_t size);
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t size, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict buf, size_t n, size_t size, int flags,
                       __SOCKADDR_ARG from, socklen_t *restrict from_bytes);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                const sigset_t *mask, size_t size);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
size_t __fread_chk(void *restrict to, size_t room, size_t size, size_t n,
                   FILE *restrict file);
size_t __fread_unlocked_chk(void *restrict to, size_t room, size_t size, size_t n,
                            FILE *restrict file);
char *__fgets_chk(char *restrict to, size_t room, int size, FILE *restrict file);
char *__fgets_unlocked_chk(char *restrict to, size_t room, int size, FILE *restrict file);
int __printf_chk(int flag, const char *restrict format, ...);
int __vprintf_chk(int flag, const char *restrict format, va_list args);
int __fprintf_chk(FILE *restrict file, int flag, const char *restrict format, ...);
int __vfprintf_chk(FILE *restrict file, int flag, const char *restrict format,
                   va_list args);
int __dprintf_chk(int fd, int flag, const char *restrict format, ...);
int __vdprintf_chk(int fd, int flag, const char *restrict format, va_list args);
int __vsnprintf_chk(char *restrict to, size_t n, int flag, size_t room,
                    const char *restrict format, va_list args);

/* Depending on the C standard for which the program is compiled, the headers rename
 * scanf() and its relatives to these functions. The last four are called by inlined
 * getline(), getc_unlocked() and putc_unlocked(). */
int __isoc99_fscanf(FILE *restrict file, const char *restrict format, ...);
int __isoc99_scanf(const char *restrict format, ...);
int __isoc99_vfscanf(FILE *restrict file, const char *restrict format, va_list args);
int __isoc99_vscanf(const char *restrict format, va_list args);
int __isoc23_fscanf(FILE *restrict file, const char *restrict format, ...);
int __isoc23_scanf(const char *restrict format, ...);
int __isoc23_vfscanf(FILE *restrict file, const char *restrict format, va_list args);
int __isoc23_vscanf(const char *restrict format, va_list args);
ssize_t __getdelim(char **restrict line, size_t *restrict room, int delimiter,
                   FILE *restrict file);
int __uflow(FILE *file);
int __underflow(FILE *file);
int __overflow(FILE *file, int c);

/* <signal.h> renames sigpause() to one of these functions. */
int __xpg_sigpause(int signo);
int __sigpause(int signo_or_bits, int is_signo);

/*
 * Compiled C++ and Rust code calls this function to register the destructor of a
 * thread-local object.
 */
int __cxa_thread_atexit_impl(void (*destroy)(void *object), void *object, void *library);

/* The headers have declared this function since glibc 2.34. */
pid_t _Fork(void);

#define POSIX__INDEX(name) POSIX__##name,
enum posix__function { POSIX__FUNCTIONS(POSIX__INDEX) POSIX__FUNCTION_COUNT };
#undef POSIX__INDEX

#define INTERPOSE __attribute__((visibility("default")))
#define LIKELY(x) __builtin_expect(!!(x), 1)
/* Use few bytes, so that dlopen(3) works: see COIL__THREAD_LOCAL. */
#define THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

/*
 * The C library's functions by index. An entry is NULL until the function is looked up.
 * If POSIX__ALONE is defined, nothing is interposed: ThreadSanitizer itself interposes
 * the C library, so its tests call some functions of these files by name.
 */
extern void *posix__next[POSIX__FUNCTION_COUNT];

/*
 * Look up a function that was called before this library's constructor ran. Aborts if the
 * C library does not have the function.
 */
void *posix__find(enum posix__function function);

#ifdef POSIX__ALONE
#define NEXT(name) name
#define IN_TASK() coil_may_suspend()
#define posix__may_block(caller) ((void)(caller), false)
#define posix__note_park(caller) ((void)(caller))
#else
#define NEXT(name)                                                                       \
    ((__typeof__(&name))(LIKELY(posix__next[POSIX__##name] != NULL)                      \
                             ? posix__next[POSIX__##name]                                \
                             : posix__find(POSIX__##name)))

#endif

/*
 * Set by coil_posix_reached() before it calls close(-1), and cleared by this library's
 * close().
 */
extern THREAD_LOCAL bool posix__asked;

#ifndef POSIX__ALONE
/* The libraries whose calls block the thread: see exclusion.c. */
#define POSIX__EXCLUDED_MAX 8
struct posix__range {
    uintptr_t begin, bytes;
};
struct dl_phdr_info;
extern struct posix__range posix__excluded[POSIX__EXCLUDED_MAX];
extern atomic_uint posix__excluded_count;

/* Exclude the library that defines malloc(), unless it is the C library. */
void posix__find_allocator(void);

/* Return the addresses of an object that dl_iterate_phdr(3) visits. */
struct posix__range posix__range_of(const struct dl_phdr_info *object);

static inline bool posix__range_contains(const struct posix__range *range,
                                         const void *address)
{
    return (uintptr_t)address - range->begin < range->bytes;
}

static inline bool posix__is_excluded(const void *address)
{
    unsigned n = atomic_load_explicit(&posix__excluded_count, memory_order_acquire);

    for (unsigned i = 0; i < n; i++)
        if (posix__range_contains(&posix__excluded[i], address))
            return true;
    return false;
}

/*
 * Called when a task waits in Rust's thread::park(), with the return address `caller`. If
 * the task shares its thread-local variables with other tasks, report once that these
 * tasks must not park at the same time.
 */
void posix__note_park(const void *caller);

/*
 * True for calls by libcoil itself and by excluded libraries, which may block the thread.
 * If such a call releases a lock, it wakes no task, because tasks never wait for these
 * locks.
 */
static inline bool posix__may_block(const void *caller)
{
    return posix__is_excluded(caller) || coil_is_own_call(caller);
}

/*
 * True if this call must suspend its task instead of blocking. Outside of tasks, the
 * check costs a load and a branch, in a function of libcoil. Use this macro only in the
 * exported function itself, because it reads the return address.
 */
#define IN_TASK()                                                                        \
    (coil_may_suspend() && posix__one_coil &&                                            \
     !posix__may_block(__builtin_return_address(0)))
#endif

/*
 * False if some of the libcoil functions that this library calls are in libcoil.so, and
 * others are in the program, which was linked with libcoil.a.
 */
extern bool posix__one_coil;

#endif
