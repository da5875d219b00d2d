/*
 * name.h (internal) - the name of a task: up to 15 bytes in place, longer names in a
 * reference-counted string.
 *
 * Most names are "task-" with a number, and are never read. So only the number is stored,
 * and the first reader writes the text in place. A zeroed struct is the empty name.
 * Copies share a long text, so copying never allocates. (Each request to cancel a task
 * copies the requesting task's name.)
 */
#ifndef COIL_TASK_NAME_H
#define COIL_TASK_NAME_H

#include "../base/base.h"

#include <stdatomic.h>

#define COIL__NAME_BYTES 32 /* maximum size of a name, including its null byte */

struct coil__long_name {
    unsigned refs;
    char text[COIL__NAME_BYTES];
};

/* The last byte of `text` is one of these values. */
enum coil__name_kind {
    COIL__NAME_TEXT,   /* `text` is the name; this byte terminates it */
    COIL__NAME_SHARED, /* `shared` points to the name */
    COIL__NAME_NUMBER  /* the other bytes of `tail` are the number */
};

struct coil__name {
    union {
        char text[16];
        struct coil__long_name *shared;
        struct {
            uint64_t head; /* the first eight bytes of the text */
            _Atomic uint64_t tail;
        };
    };
};

static inline bool coil__name_is_long(const struct coil__name *name)
{
    return COIL__UNLIKELY(name->text[15] == COIL__NAME_SHARED);
}

/* The slow path of coil__name_text(). */
const char *coil__name_spell(const struct coil__name *name);

/*
 * Return the name. The pointer is valid until the name changes. Async-signal-safe. Any
 * thread may call this while no other thread changes the name.
 */
static inline const char *coil__name_text(const struct coil__name *name)
{
    return name->text[15] == COIL__NAME_TEXT ? name->text : coil__name_spell(name);
}

void coil__name_set_long_number(struct coil__name *name, uint64_t number);

/*
 * Set the name to "task-" and the number. An existing name is overwritten, not released.
 */
static inline void coil__name_set_number(struct coil__name *name, uint64_t number)
{
    if (COIL__LIKELY(number <= 9999999999))
        atomic_store_explicit(&name->tail, number | (uint64_t)COIL__NAME_NUMBER << 56,
                              memory_order_relaxed);
    else
        coil__name_set_long_number(name, number);
}

/* Set the name to the first 31 bytes of `text`, or to the first 15 if memory runs out. */
void coil__name_set(struct coil__name *name, const char *text);

/* Copy a name. `from` may be equal to `to`. If `from` is NULL, the copy is empty. */
void coil__name_copy(struct coil__name *to, const struct coil__name *from);

void coil__name_drop(struct coil__name *name);

/* If the name's text is shared, release it and make the name empty. */
static inline void coil__name_finish(struct coil__name *name)
{
    if (coil__name_is_long(name))
        coil__name_drop(name);
}

#endif
