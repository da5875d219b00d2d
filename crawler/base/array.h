/*
 * array.h - arrays that grow.
 *
 *     if (list->count == list->capacity &&
 *         array_grow(&list->at, &list->capacity, sizeof *list->at) < 0)
 *         return -ENOMEM;
 *     list->at[list->count++] = one;
 */
#ifndef CRAWLER_ARRAY_H
#define CRAWLER_ARRAY_H

#include <stddef.h>

/*
 * Make room for twice as many elements of `size` bytes, for a few if there is none. `array` is
 * the address of the pointer to them, which may move. 0 or -ENOMEM; then all is as it was.
 */
int array_grow(void *array, size_t *capacity, size_t size);

/*
 * The same until it has an element `index`; new elements are zeroes. 0 or -ENOMEM; then all that was
 * there is.
 */
int array_reach(void *array, size_t *capacity, size_t size, size_t index);

#endif
