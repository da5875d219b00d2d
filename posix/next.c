/*
 * next.c - the addresses of the C library's functions that libcoil-posix interposes.
 *
 * The constructor looks up all functions, before any task can exist. Constructors of
 * other libraries may run before this one. A function that they call is looked up at its
 * first call.
 */
#include "interpose.h"

#include <coil/executor.h>
#include <coil/loop.h>
#include <coil/poll.h>
#include <coil/posix.h>
#include <coil/scope.h>

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

void *posix__next[POSIX__FUNCTION_COUNT];
bool posix__one_coil;
THREAD_LOCAL bool posix__asked;

/* clang-format off */
#define NAME(name) [POSIX__##name] = #name,
static const char *const names[] = { POSIX__FUNCTIONS(NAME) };
#undef NAME
/* clang-format on */

/* Print a message and abort. Only write() is used, because printf() may call the missing
 * function. */
static void stop_for_missing(const char *name)
{
    static const char before[] = "libcoil-posix: the C library has no ";

    if (write(STDERR_FILENO, before, sizeof before - 1) < 0 ||
        write(STDERR_FILENO, name, strlen(name)) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
        abort();
    abort();
}

/*
 * dlsym(3) returns the oldest version of a symbol. For condition variables, that is an
 * implementation from before 2003, so this function first requests version 2.3.2.
 */
static void *look_up(const char *name)
{
    void *found = NULL;

    if (strncmp(name, "pthread_cond_", strlen("pthread_cond_")) == 0)
        found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    return found != NULL ? found : dlsym(RTLD_NEXT, name);
}

void *posix__find(enum posix__function function)
{
    void *found = look_up(names[function]);

    if (found == NULL)
        stop_for_missing(names[function]);
    posix__next[function] = found;
    return found;
}

/*
 * Return the load address of the library that defines the function, or NULL if the
 * library cannot be determined: in a program at a fixed address, `function` may be the
 * address of the program's own PLT entry.
 */
static const void *library_of(void *function)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    if (dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 ||
        symbol == NULL || symbol->st_shndx == SHN_UNDEF)
        return NULL;
    return info.dli_fbase;
}

/*
 * True if all functions come from the same libcoil. A program linked with libcoil.a may
 * define only some of the functions, while the others are bound to libcoil.so. Such a
 * program has two copies of libcoil with separate schedulers, so one copy would have to
 * suspend tasks of the other.
 */
static bool coil_is_one(void)
{
    static void *const functions[] = {(void *)coil_blocking,     (void *)coil_is_own_call,
                                      (void *)coil_loop_current, (void *)coil_may_suspend,
                                      (void *)coil_poll,         (void *)coil_scope_exit,
                                      (void *)coil_task_current, (void *)coil_yield};
    const void *first = NULL;

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const void *library = library_of(functions[i]);

        if (first == NULL)
            first = library;
        if (library != NULL && library != first)
            return false;
    }
    return true;
}

/* A function that the C library lacks is reported only when it is first called. */
__attribute__((constructor)) static void find_all(void)
{
    for (int i = 0; i < POSIX__FUNCTION_COUNT; i++)
        if (posix__next[i] == NULL)
            posix__next[i] = look_up(names[i]);
    posix__one_coil = coil_is_one();
    posix__find_allocator(); /* must be last, because it may call interposed functions */
}

/* ---- is libcoil-posix active? ------------------------------------------------------ */

bool coil_posix_reached(int (*close_function)(int fd), bool (*may_suspend)(void))
{
    int saved = errno;

    if (close_function == NULL || may_suspend != coil_may_suspend || !posix__one_coil)
        return false;
    posix__asked = true;
    close_function(-1);
    errno = saved;
    if (!posix__asked)
        return true;
    posix__asked = false;
    return false;
}

bool(coil_posix_active)(void)
{
    void *close_function = dlsym(RTLD_DEFAULT, "close");

    return coil_posix_reached((int (*)(int))close_function,
                              (bool (*)(void))dlsym(RTLD_DEFAULT, "coil_may_suspend"));
}
