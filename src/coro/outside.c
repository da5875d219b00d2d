/*
 * outside.c - the table that tools such as coil-ps read, and the list of the process's
 * loops.
 */
#include "outside.h"

#include "coroutine.h"
#include "light.h"
#include "store.h"

#include <link.h>
#include <stdatomic.h>
#include <string.h>

/*
 * The entries are atomic instead of protected by a lock, because a child of fork(2) could
 * inherit a held lock.
 */
static void *_Atomic loops[COIL__OUTSIDE_LOOPS];

/* The table is in .data, because core files contain that section. */
struct coil__debug coil__debug __attribute__((used)) = {
    .cookie = COIL__OUTSIDE_COOKIE,
    .version = COIL__OUTSIDE_VERSION,
    .bytes = sizeof coil__debug,
    .own_text = __start_coil_own_text,
    .own_text_end = __stop_coil_own_text,
    .rows = __start_coil_outside,
    .rows_end = __stop_coil_outside,
    .loops = loops,
    .loop_count = COIL__OUTSIDE_LOOPS,
};

_Static_assert(offsetof(struct coil__debug, own_text) == 16 &&
                   offsetof(struct coil__debug, rows) == 32 &&
                   offsetof(struct coil__debug, loops) == 48 &&
                   offsetof(struct coil__debug, inherited) == 60 &&
                   offsetof(struct coil__debug, trace_until) == 64,
               "tools know these offsets: docs/design/ps.md");

COIL__OUTSIDE(COIL__OUTSIDE_AT(COIL__AT_STACK_LOW, struct coil__stack, low),
              COIL__OUTSIDE_AT(COIL__AT_STACK_HIGH, struct coil__stack, high),
              COIL__OUTSIDE_AT(COIL__AT_STACK_SIZE_CLASS, struct coil__stack, size_class),
              COIL__OUTSIDE_AT(COIL__AT_STACK_STATE, struct coil__stack, state),
              COIL__OUTSIDE_AT(COIL__AT_STACK_STORED_STEPS, struct coil__stack,
                               stored_steps),
              COIL__OUTSIDE_AT(COIL__AT_STACK_CELL, struct coil__stack, cell),
              COIL__OUTSIDE_VALUE(COIL__STACK_IS_LIGHT, COIL__STACK_LIGHT),
              COIL__OUTSIDE_VALUE(COIL__STACK_IS_STORED, COIL__LIGHT_STORED),
              COIL__OUTSIDE_VALUE(COIL__STACK_STEP_BYTES, COIL__STORE_STEP),
              COIL__OUTSIDE_AT(COIL__AT_CORO_SP, coil__coro, sp),
              COIL__OUTSIDE_AT(COIL__AT_CORO_CALLER, coil__coro, caller),
              COIL__OUTSIDE_AT(COIL__AT_CORO_NUMBER, coil__coro, number),
              COIL__OUTSIDE_AT(COIL__AT_CORO_CLASS, coil__coro, class),
              COIL__OUTSIDE_AT(COIL__AT_CORO_CLASS_KIND, struct coil__coro_class, kind),
              COIL__OUTSIDE_VALUE(COIL__CORO_IS_GENERATOR, COIL__CORO_GENERATOR),
              COIL__OUTSIDE_AT(COIL__AT_LIST_NEXT, struct coil__list, next));

_Static_assert(offsetof(coil__coro, stack) == 0, "a coroutine begins with its stack");

void coil__outside_add_loop(void *loop)
{
    for (size_t i = 0; i < COIL__OUTSIDE_LOOPS; i++) {
        void *expected = NULL;

        if (atomic_compare_exchange_strong(&loops[i], &expected, loop))
            return;
    }
}

void coil__outside_remove_loop(void *loop)
{
    for (size_t i = 0; i < COIL__OUTSIDE_LOOPS; i++) {
        void *expected = loop;

        if (atomic_compare_exchange_strong(&loops[i], &expected, NULL))
            return;
    }
}

void coil__outside_forget_loops(void)
{
    uint32_t n = 0;

    for (size_t i = 0; i < COIL__OUTSIDE_LOOPS; i++)
        n += atomic_exchange(&loops[i], NULL) != NULL;
    atomic_fetch_add(&coil__debug.inherited, n);
}

/* ---- other copies of coil ---------------------------------------------------------- */

/* The note of note.inc. */
struct note {
    ElfW(Nhdr) head;
    char name[8];
    int32_t table; /* distance from this member to coil__debug */
    int32_t resume;
};

/* Return the address of coil__debug in a segment of notes, or NULL. */
static const void *find_table(const char *notes, size_t bytes)
{
    size_t at = 0;

    while (at + sizeof(struct note) <= bytes) {
        const struct note *note = (const struct note *)(notes + at);

        if (note->head.n_namesz == 5 && memcmp(note->name, "coil", 5) == 0)
            return (const char *)&note->table + note->table;
        at += sizeof note->head + (note->head.n_namesz + 3u) / 4 * 4 +
              (note->head.n_descsz + 3u) / 4 * 4;
    }
    return NULL;
}

static const void *find_table_of(const struct dl_phdr_info *module)
{
    const void *table = NULL;

    for (int i = 0; i < module->dlpi_phnum && table == NULL; i++) {
        const ElfW(Phdr) *segment = &module->dlpi_phdr[i];

        if (segment->p_type == PT_NOTE)
            table = find_table((const char *)(module->dlpi_addr + segment->p_vaddr),
                               segment->p_memsz);
    }
    return table;
}

/* Called for each module. Counts copies of coil until it finds this copy. */
static int count_copy(struct dl_phdr_info *module, size_t size, void *count)
{
    const void *table = find_table_of(module);

    (void)size;
    if (table == &coil__debug)
        return 1;
    *(unsigned *)count += table != NULL;
    return 0;
}

unsigned coil__outside_position(void)
{
    unsigned count = 0;

    dl_iterate_phdr(count_copy, &count);
    return count;
}
