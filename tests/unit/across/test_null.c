/*
 * test_null.c - if NULL is passed for an object, a function or an output pointer, the
 * program aborts with a message that names the called function.
 */
#include "../../harness/harness.h"
#include "objects.h"

#include <coil.h>

#include <string.h>

/*
 * A dummy object of any type, which no function reads. All bytes of the object are
 * nonzero.
 */
static _Alignas(64) char object[4096];
#define D ((void *)object)

#define JOIN(a, b) a##b
#define NAME(line) JOIN(call_, line)

/* Define a function for each call in the list. */
#define X(function, arguments, noun)                                                     \
    static void NAME(__LINE__)(void *unused)                                             \
    {                                                                                    \
        (void)unused;                                                                    \
        (void)(function)arguments;                                                       \
    }
#include "null_calls.h"
#undef X

static const struct {
    void (*make)(void *);
    const char *message;
} calls[] = {
#define X(function, arguments, noun)                                                     \
    {NAME(__LINE__), "coil: " #function "() was called with " noun " that is NULL\n"},
#include "null_calls.h"
};

TEST(null_in_a_call_stops_the_program_with_the_name_of_the_function)
{
    /* With Valgrind, each process that aborts takes a third of a second. */
    const size_t step = test_under_valgrind() ? 16 : 1;

    memset(object, 1, sizeof object);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i += step)
        if (test_has_turn(i))
            test_dies(calls[i].make, NULL, calls[i].message);
}

/* The report must name this function, which makes the call. */
static int await_null(void *arg)
{
    return coil_await(arg);
}

static void run_await_null(void *arg)
{
    coil_run(await_null, arg, NULL);
}

TEST(null_in_a_call_is_reported_with_the_stack)
{
    test_dies(run_await_null, NULL,
              "coil: coil_await() was called with a future that is NULL\n  in main\n");
}

/* A buffer of 0 bytes may be NULL, and so may an item of 0 bytes. */
TASK_TEST(null_is_a_buffer_of_no_bytes)
{
    coil_queue queue = COIL_QUEUE_INIT(0, 0);
    coil_stream *ends[2];

    CHECK_INT(coil_stream_pair(ends), 0);
    CHECK_INT(coil_write(ends[0], NULL, 0), 0);
    CHECK_INT(coil_read(ends[1], NULL, 0), 0);
    CHECK_INT(coil_queue_put(&queue, NULL), 0);
    CHECK_INT(coil_queue_get(&queue, NULL), 0);
    CHECK_INT(coil_gather(NULL, 0, 0, NULL), 0);
    CHECK_INT(coil_queue_get_any(NULL, 0, NULL), -EINVAL);
    coil_queue_finish(&queue);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
}
