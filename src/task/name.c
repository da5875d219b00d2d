/*
 * name.c - names of tasks.
 */
#include "name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Write the name as text. The head is written first: until the tail is overwritten, it
 * still contains the number and the kind of the name. So a signal handler or another
 * thread can write the same name at the same time.
 */
static const char *write_name(struct coil__name *name, uint64_t number)
{
    char text[16] = "task-", digits[10];
    size_t n = 0, length = strlen(text);
    uint64_t words[2];

    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        text[length++] = digits[--n];
    memcpy(words, text, sizeof words);
    __atomic_store_n(&name->head, words[0], __ATOMIC_RELAXED);
    atomic_store_explicit(&name->tail, words[1], memory_order_release);
    return name->text;
}

const char *coil__name_spell(const struct coil__name *name)
{
    uint64_t tail = atomic_load_explicit(&name->tail, memory_order_acquire);

    if (tail >> 56 == COIL__NAME_NUMBER)
        return write_name((struct coil__name *)(uintptr_t)name, tail & (UINT64_MAX >> 8));
    return tail >> 56 == COIL__NAME_SHARED ? name->shared->text : name->text;
}

void coil__name_set_long_number(struct coil__name *name, uint64_t number)
{
    char text[COIL__NAME_BYTES];

    memset(name, 0, sizeof *name);
    snprintf(text, sizeof text, "task-%" PRIu64, number);
    coil__name_set(name, text);
}

void coil__name_drop(struct coil__name *name)
{
    if (--name->shared->refs == 0)
        coil__free(name->shared);
    memset(name, 0, sizeof *name);
}

void coil__name_set(struct coil__name *name, const char *text)
{
    size_t length = strnlen(text, COIL__NAME_BYTES - 1);
    struct coil__name set = {.text = ""};

    if (length >= sizeof set.text)
        set.shared = coil__alloc_zeroed(sizeof *set.shared);
    if (set.shared != NULL) {
        set.shared->refs = 1;
        memcpy(set.shared->text, text, length);
        set.text[15] = COIL__NAME_SHARED;
    } else {
        memcpy(set.text, text, length < sizeof set.text ? length : sizeof set.text - 1);
    }
    coil__name_finish(name); /* not earlier: `text` may be part of the old name */
    *name = set;
}

void coil__name_copy(struct coil__name *to, const struct coil__name *from)
{
    struct coil__name copy = {.text = ""};

    if (from != NULL)
        copy = *from;
    if (coil__name_is_long(&copy))
        copy.shared->refs++;
    coil__name_finish(to);
    *to = copy;
}
