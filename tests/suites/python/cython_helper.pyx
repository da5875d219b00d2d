# cython: language_level=3
# A cdef function, compiled by Cython, awaits below libc's qsort().
from coil cimport await_, can_await
from libc.stdlib cimport qsort

cdef object ask = None

cdef int compare(const void *a, const void *b) with gil:
    return await_(ask((<const int *>a)[0], (<const int *>b)[0]))

def sort(list numbers, function):
    global ask
    cdef int array[100]
    cdef int n = len(numbers)
    for i in range(n):
        array[i] = numbers[i]
    ask = function
    qsort(array, n, sizeof(int), compare)
    return [array[i] for i in range(n)]

def may_await():
    return can_await() == 1
