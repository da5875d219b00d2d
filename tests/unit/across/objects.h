/*
 * objects.h - one object of each kind, for tests of properties that all kinds share.
 */
#ifndef COIL_TESTS_NET_OBJECTS_H
#define COIL_TESTS_NET_OBJECTS_H

#include <coil.h>

struct test_object {
    const char *call; /* the function that creates the object */
    int (*make)(void **out);
    void (*destroy)(void *object);
    const char *again;         /* the message if the object is destroyed twice */
    void (*use)(void *object); /* NULL if a use after destruction cannot be detected */
    const char *used;          /* the message if the object is used after destruction */
};

extern const struct test_object test_objects[];
extern const size_t test_object_count;

/*
 * A listener for the objects that need a connection. The test must set the listener
 * before it creates objects.
 */
extern coil_listener *test_listener;

/* Functions of tasks, callbacks, coroutines and generators that do nothing. */
int test_nothing(void *arg);
void test_call_nothing(void *arg);
void *test_coro_nothing(void *arg);
int test_gen_nothing(coil_gen *gen, void *arg);

/*
 * Create a pair of streams with `make`, return the first in `out`, and destroy the
 * second. If `make` fails, check that it set the second to NULL.
 */
int test_make_pair(int (*make)(coil_stream *ends[2]), void **out);

#endif
