/*
 * objects.h - one of each kind of object, for tests of what all kinds have in common.
 */
#ifndef COIL_TESTS_NET_OBJECTS_H
#define COIL_TESTS_NET_OBJECTS_H

#include <coil.h>

struct test_object {
    const char *call; /* the function that makes it */
    int (*make)(void **out);
    void (*destroy)(void *object);
    const char *again;         /* what is said where it is destroyed once more */
    void (*use)(void *object); /* NULL: there is nothing to be seen */
    const char *used;          /* what is said where it is used after that */
};

extern const struct test_object test_objects[];
extern const size_t test_object_count;

/* What a client connects to and a server accepts from: the test's, made first. */
extern coil_listener *test_listener;

/* Bodies and callbacks that do nothing. */
int test_nothing(void *arg);
void test_call_nothing(void *arg);
void *test_coro_nothing(void *arg);
int test_gen_nothing(coil_gen *gen, void *arg);

/* Both ends by `make`, of which the second is destroyed; NULLs where it fails. */
int test_make_pair(int (*make)(coil_stream *ends[2]), void **out);

#endif
