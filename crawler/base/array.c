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
    memcpy(&at, array, sizeof at); /* it is of another type there */
    at = realloc(at, bytes);
    if (at == NULL)
        return -ENOMEM;
    memcpy(array, &at, sizeof at);
    *capacity = longer;
    return 0;
}
