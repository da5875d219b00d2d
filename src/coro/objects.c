/*
 * objects.c - the shared objects that the loader has opened.
 *
 * The loader has a list of the objects (link.h), in the order in which they were opened.
 * The `l_next` of the last object is NULL until another object is opened, so it shows
 * whether the list has changed. This pointer must not be read after the object was
 * unloaded. So the pointer is used only if the object is certain to stay loaded as long
 * as libcoil: either the object is marked as never unloaded, or the program or libcoil's
 * own object depends on it. Otherwise dl_iterate_phdr(3) is used, which counts the opened
 * objects, and locks the list during its callback.
 */
#include "objects.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#define DEPTH_MAX 8

struct search {
    const struct link_map *first;
    uintptr_t our_address; /* address at which libcoil's own object was loaded */
    struct coil__objects *out;
};

/*
 * The functions below read the loader's list under the loader's lock. TSan does not know
 * that lock and would report races, so these functions are not instrumented, and do not
 * call strcmp() and strrchr(), which are.
 */
COIL__NO_SANITIZE static bool same(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b)
        a++, b++;
    return *a == *b;
}

COIL__NO_SANITIZE static const char *last_part(const char *path)
{
    const char *part = path;

    for (; *path != '\0'; path++)
        if (*path == '/')
            part = path + 1;
    return part;
}

COIL__NO_SANITIZE static const ElfW(Dyn) *
    find_entry(const struct link_map *object, intptr_t tag)
{
    if (object->l_ld == NULL)
        return NULL;
    for (const ElfW(Dyn) *entry = object->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry;
    return NULL;
}

/*
 * Return the address of the string table. The loader has already relocated this address,
 * except in the vDSO, which is read-only.
 */
COIL__NO_SANITIZE static const char *find_strings(const struct link_map *object)
{
    const ElfW(Dyn) *entry = find_entry(object, DT_STRTAB);
    uintptr_t address = entry != NULL ? entry->d_un.d_ptr : 0;

    return (const char *)(address < object->l_addr ? address + object->l_addr : address);
}

COIL__NO_SANITIZE static bool is_called(const struct link_map *object, const char *name)
{
    const ElfW(Dyn) *soname = find_entry(object, DT_SONAME);

    if (soname != NULL && same(find_strings(object) + soname->d_un.d_val, name))
        return true;
    return same(object->l_name, name) || same(last_part(object->l_name), name);
}

COIL__NO_SANITIZE static bool needs(const struct link_map *object,
                                    const struct link_map *other)
{
    const ElfW(Dyn) *entry = object->l_ld;

    for (; entry != NULL && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED &&
            is_called(other, find_strings(object) + entry->d_un.d_val))
            return true;
    return false;
}

COIL__NO_SANITIZE static bool stays(const struct search *search,
                                    const struct link_map *object, unsigned depth)
{
    const ElfW(Dyn) *flags = find_entry(object, DT_FLAGS_1);

    if (object == search->first || object->l_addr == search->our_address)
        return true;
    if (flags != NULL && (flags->d_un.d_val & DF_1_NODELETE) != 0)
        return true;
    if (depth == DEPTH_MAX)
        return false;
    for (const struct link_map *user = search->first; user != NULL; user = user->l_next)
        if (user != object && needs(user, object) && stays(search, user, depth + 1))
            return true;
    return false;
}

COIL__NO_SANITIZE static int look(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    const struct search *search = arg;
    const struct link_map *last = search->first;

    (void)bytes;
    search->out->opened = info->dlpi_adds;
    while (last != NULL && last->l_next != NULL)
        last = last->l_next;
    if (last != NULL && stays(search, last, 0))
        search->out->next = (void *const *)&last->l_next;
    return 1;
}

/* Return the first object in the list, which is the program. */
static const struct link_map *find_first(void)
{
    struct link_map *first = NULL;
    void *program = dlopen(NULL, RTLD_LAZY);

    if (program == NULL || dlinfo(program, RTLD_DI_LINKMAP, &first) != 0)
        return NULL;
    dlclose(program);
    return first;
}

void coil__objects_look(struct coil__objects *out)
{
    struct search search = {.first = find_first(), .out = out};
    Dl_info us;

    if (dladdr((const void *)(uintptr_t)coil__objects_look, &us) != 0)
        search.our_address = (uintptr_t)us.dli_fbase;
    *out = (struct coil__objects){0};
    dl_iterate_phdr(look, &search);
}

static int read_opened(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    (void)bytes;
    *(unsigned long long *)arg = info->dlpi_adds;
    return 1;
}

unsigned long long coil__objects_opened(void)
{
    unsigned long long opened = 0;

    dl_iterate_phdr(read_opened, &opened);
    return opened;
}
