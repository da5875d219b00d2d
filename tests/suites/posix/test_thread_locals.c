/*
 * test_thread_locals.c - coil_hooks_thread_locals(), which gives each task its own copy
 * of a library's thread-local variables. Here, the library is the program itself.
 */
#include "differential.h"

#include <coil/posix.h>

#include <stdlib.h>

int __cxa_thread_atexit_impl(void (*destroy)(void *object), void *object, void *library);
extern void *__dso_handle;

static _Thread_local int initialised = 5, zero;
static _Thread_local char large[100];
static const coil_task_hooks *hooks[2];
static int destroyed, destroyed_values;

static coil_task *start_with_locals(int (*fn)(void *arg), void *arg)
{
    coil_spawn_opts opts = {.hooks = hooks};
    coil_task *task;

    hooks[0] = coil_hooks_thread_locals((const void *)start_with_locals);
    CHECK(hooks[0] != NULL);
    CHECK_INT(coil_spawn(fn, arg, &opts, &task), 0);
    return task;
}

static void destroy(void *variable)
{
    destroyed++;
    destroyed_values += *(int *)variable;
}

static int keep_values(void *number)
{
    int value = (int)(intptr_t)number;

    CHECK_INT(initialised, 5);
    CHECK_INT(zero, 0);
    CHECK_INT(large[99], 0);
    initialised = zero = value;
    memset(large, value, sizeof large);
    CHECK_INT(__cxa_thread_atexit_impl(destroy, &zero, &__dso_handle), 0);
    for (int i = 0; i < 3; i++) {
        coil_sleep(COIL_MSEC(1));
        CHECK_INT(initialised, value);
        CHECK_INT(zero, value);
        CHECK_INT(large[0] + large[99], 2 * value);
    }
    return 0;
}

TASK_TEST(variables_of_each_task_have_values_of_their_own)
{
    coil_task *tasks[2];

    initialised = 7;
    zero = 8;
    for (intptr_t i = 0; i < 2; i++)
        tasks[i] = start_with_locals(keep_values, (void *)(i + 1));
    coil_sleep(COIL_MSEC(1));
    CHECK_INT(initialised, 7);
    for (int i = 0; i < 2; i++)
        finish_task(tasks[i]);
    CHECK_INT(initialised, 7);
    CHECK_INT(zero, 8);
    CHECK_INT(large[0], 0);
    CHECK_INT(destroyed, 2);
    CHECK_INT(destroyed_values, 3); /* the sum of the tasks' values, 1 and 2 */
}

static void destroy_again(void *variable)
{
    CHECK_INT(__cxa_thread_atexit_impl(destroy, variable, &__dso_handle), 0);
}

static int register_twice(void *unused)
{
    (void)unused;
    zero = 1;
    CHECK_INT(__cxa_thread_atexit_impl(destroy_again, &zero, &__dso_handle), 0);
    return 0;
}

TASK_TEST(destructor_of_a_variable_may_register_another)
{
    finish_task(start_with_locals(register_twice, NULL));
    CHECK_INT(destroyed, 1);
}

TEST(libraries_whose_variables_stay_the_threads)
{
    int on_stack;

    CHECK_PTR(coil_hooks_thread_locals((const void *)abort), NULL);
    CHECK_PTR(coil_hooks_thread_locals((const void *)coil_sleep), NULL);
    CHECK_PTR(coil_hooks_thread_locals((const void *)coil_hooks_thread_locals), NULL);
    CHECK_PTR(coil_hooks_thread_locals(&on_stack), NULL);
    CHECK_PTR(coil_hooks_thread_locals(NULL), NULL);
    CHECK_PTR(coil_hooks_thread_locals((const void *)destroy),
              coil_hooks_thread_locals(&destroyed));
}
