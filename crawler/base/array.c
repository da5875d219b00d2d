/* array.c - see array.h */
#include "array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 16

int array_grow(void *array, size_t *capacity, size_t size)
{
    size_t longer = *capacity > 0 ? 2 * *capacity : FIRST_CAPACITY, bytes;
    void *at;

    if (longer < *capacity || __builtin_mul_overflow(longer, size, &bytes))
        return -ENOMEM;
    /* memcpy(), because the caller's pointer has a different type */
    memcpy(&at, array, sizeof at);
    at = realloc(at, bytes);
    if (at == NULL)
        return -ENOMEM;
    memcpy(array, &at, sizeof at);
    *capacity = longer;
    return 0;
}

int array_reach(void *array, size_t *capacity, size_t size, size_t index)
{
    while (*capacity <= index) {
        size_t before = *capacity;
        char *at;

        if (array_grow(array, capacity, size) < 0)
            return -ENOMEM;
        memcpy(&at, array, sizeof at);
        memset(at + before * size, 0, (*capacity - before) * size);
    }
    return 0;
}
