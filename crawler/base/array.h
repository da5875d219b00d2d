/*
 * array.h - grow arrays as needed.
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
 * Double the capacity of an array, or allocate a few elements if it is empty. `size` is
 * the size of an element. `array` points to the pointer to the elements, which may move.
 * Returns 0, or -ENOMEM without changing the array.
 */
int array_grow(void *array, size_t *capacity, size_t size);

/*
 * Grow the array until element `index` exists. New elements are zeroed. Returns 0, or
 * -ENOMEM without losing existing elements.
 */
int array_reach(void *array, size_t *capacity, size_t size, size_t index);

#endif
