/*
 * next.c - the functions behind ours, and where libcoil lies.
 *
 * All are looked up by the constructor, before there can be a task. Whatever runs before
 * that, constructors of libraries that were loaded earlier, has those looked up that it
 * calls.
 *
 * libcoil's own calls come by here too, since it is linked like everybody else. They are
 * known by where they return to, so libcoil pays nothing for it: its code lies in one
 * mapping, of which the bounds are compared. It follows that libcoil must be the shared
 * library, and that it must not leave a call of these functions for last (a jump instead
 * of a call): tests/posix/run looks for that in its code.
 */
#include "interpose.h"

#include <coil/posix.h>

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *posix__next[POSIX__FUNCTION_COUNT];

/* clang-format off */
#define NAME(name) [POSIX__##name] = #name,
static const char *const names[] = { POSIX__FUNCTIONS(NAME) };
#undef NAME
/* clang-format on */

static uintptr_t coil_begin = 1, coil_end; /* nothing, until it is known */

/* Without printf(), which may want what is missing. */
static void stop(const char *name)
{
    static const char before[] = "libcoil-posix: the C library has no ";

    if (write(STDERR_FILENO, before, sizeof before - 1) < 0 ||
        write(STDERR_FILENO, name, strlen(name)) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
        abort();
    abort();
}

/* dlsym(3) finds the oldest version of some: the condition variables of before 2003. */
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
        stop(names[function]);
    posix__next[function] = found;
    return found;
}

/* The executable segment that `arg` points into. */
static int find_code(struct dl_phdr_info *info, size_t size, void *arg)
{
    uintptr_t address = (uintptr_t)arg;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + segment->p_vaddr;

        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || address < begin ||
            address - begin >= segment->p_memsz)
            continue;
        coil_begin = begin;
        coil_end = begin + segment->p_memsz;
        return 1;
    }
    return 0;
}

/* A name that is missing is complained of when it is called, not before. */
__attribute__((constructor)) static void find_all(void)
{
    for (int i = 0; i < POSIX__FUNCTION_COUNT; i++)
        if (posix__next[i] == NULL)
            posix__next[i] = look_up(names[i]);
    dl_iterate_phdr(find_code, dlsym(RTLD_DEFAULT, "coil_may_suspend"));
}

bool coil_posix_active(void)
{
    return dlsym(RTLD_DEFAULT, "read") == (void *)read;
}

bool posix__from_outside(const void *address)
{
    return (uintptr_t)address < coil_begin || (uintptr_t)address >= coil_end;
}
