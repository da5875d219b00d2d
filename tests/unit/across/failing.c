/*
 * failing.c - see failing.h.
 */
#include "failing.h"

#include "../../harness/harness.h"
#include "objects.h"

#include <coil.h>

#include <errno.h>

#define OLDER "an older failure"

static bool is_older(const coil_error *error)
{
    return error != NULL && strcmp(coil_error_message(error), OLDER) == 0;
}

/*
 * Make the failing call twice. Before the second call, report an older failure with the
 * same rc.
 */
static int fail_again(void *arg)
{
    const struct failing_call *failing = arg;
    int rc = (int)failing->call();

    if (rc >= 0)
        return 0;
    coil_fail(rc, OLDER);
    return (int)failing->call();
}

void check_own_sentences(const struct failing_call *calls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        coil_task *task;
        int rc;
        bool older;

        CHECK_INT(coil_spawn(fail_again, (void *)&calls[i], NULL, &task), 0);
        rc = coil_task_await(task);
        older = is_older(coil_future_error(coil_task_future(task)));
        if (older || rc >= 0)
            printf("%s: %d\n", calls[i].name, rc);
        CHECK(rc < 0 && !older);
        coil_task_release(task);
    }
}

void check_last_errors(const struct failing_call *calls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool older;
        int rc;

        coil_fail(-EDOM, OLDER);
        rc = (int)calls[i].call();
        older = is_older(coil_last_error());
        if (older || rc >= 0)
            printf("%s: %d\n", calls[i].name, rc);
        CHECK(rc < 0 && !older);
    }
}

static void fail_call(uint64_t n)
{
    coil_testing_fail_system_call(n, 0);
}

/*
 * Create an object and destroy it. Returns the result of the function that creates the
 * object.
 */
static ssize_t make_object(const void *arg)
{
    const struct test_object *object = arg;
    void *out = NULL;
    int rc = object->make(&out);

    if (rc >= 0)
        object->destroy(out);
    return rc;
}

static ssize_t make_call(const void *arg)
{
    return ((const struct failing_call *)arg)->call();
}

/*
 * Make the n-th allocation or system call in `call` fail, twice: the second time after an
 * older failure with the same rc. Returns false if there are fewer than n.
 */
static bool fail_twice(const char *name, ssize_t (*call)(const void *arg),
                       const void *arg, void (*fail)(uint64_t n), uint64_t n)
{
    const char *failed;
    ssize_t rc;
    bool older = false;

    fail(n);
    rc = call(arg);
    failed = coil_testing_failed();
    fail(0);
    if (rc < 0 && rc != -EAGAIN) {
        coil_fail((int)rc, OLDER);
        fail(n);
        older = call(arg) == rc && is_older(coil_last_error());
        fail(0);
        coil_clear_error();
    }
    if (older)
        printf("%s: %s\n", name, failed);
    CHECK(!older);
    coil_yield();
    return failed != NULL;
}

/*
 * Make each allocation and each system call in `call` fail in turn. Returns the number of
 * failures.
 */
static uint64_t fail_each(const char *name, ssize_t (*call)(const void *arg),
                          const void *arg)
{
    uint64_t allocation = 1, n = 1;

    while (fail_twice(name, call, arg, coil_testing_fail_allocation, allocation))
        allocation++;
    while (fail_twice(name, call, arg, fail_call, n))
        n++;
    return allocation - 1 + n - 1;
}

void check_objects_that_fail(void)
{
    size_t without_failure = 0;

    for (size_t i = 0; i < test_object_count; i++) {
        CHECK_INT(coil_listen_port("127.0.0.1", 0, 128, &test_listener), 0);
        without_failure +=
            fail_each(test_objects[i].call, make_object, &test_objects[i]) == 0;
        coil_listener_destroy(test_listener);
    }
    /*
     * Up to four objects are created without an allocation or system call: a task, a
     * coroutine and a generator can reuse existing stacks, and TLS may be unavailable.
     */
    CHECK(without_failure <= 4);
}

void check_calls_that_fail(const struct failing_call *calls, size_t n)
{
    size_t without_failure = 0;

    for (size_t i = 0; i < n; i++)
        without_failure += fail_each(calls[i].name, make_call, &calls[i]) == 0;
    CHECK(without_failure <= 1); /* spawn_in_a_group reuses an existing stack */
}
