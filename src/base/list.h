/*
 * list.h - circular, doubly linked lists, whose links are members of the structs in them.
 *
 * The head of a list is also a link. A link that is not in a list points to itself, so
 * removing it again has no effect. A link can be removed without knowing which list it is
 * in: a runnable, for example, may be in the ready queue, in the batch of the current
 * turn, or among a future's callbacks.
 */
#ifndef COIL_BASE_LIST_H
#define COIL_BASE_LIST_H

#include "compiler.h"

#include <stdbool.h>
#include <stddef.h>

struct coil__list {
    struct coil__list *prev, *next;
};

static inline void coil__list_init(struct coil__list *list)
{
    list->prev = list->next = list;
}

static inline bool coil__list_empty(const struct coil__list *list)
{
    return list->next == list;
}

/* Append `link`, which must not be in a list. */
static inline void coil__list_push(struct coil__list *list, struct coil__list *link)
{
    link->prev = list->prev;
    link->next = list;
    list->prev->next = link;
    list->prev = link;
}

static inline void coil__list_remove(struct coil__list *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    coil__list_init(link);
}

/* Remove and return the first link. Returns NULL if the list is empty. */
static inline struct coil__list *coil__list_pop(struct coil__list *list)
{
    struct coil__list *first = list->next;

    if (first == list)
        return NULL;
    coil__list_remove(first);
    return first;
}

/* Move all links of `from` to the end of `to`. */
static inline void coil__list_splice(struct coil__list *to, struct coil__list *from)
{
    if (coil__list_empty(from))
        return;
    from->next->prev = to->prev;
    from->prev->next = to;
    to->prev->next = from->next;
    to->prev = from->prev;
    coil__list_init(from);
}

/* Iterate over the links. The loop's body may remove the current link, but no other. */
#define COIL__LIST_EACH(link, list)                                                      \
    for (struct coil__list *link = (list)->next, *link##_next = link->next;              \
         link != (list); link = link##_next, link##_next = link->next)

#endif
