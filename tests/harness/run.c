/*
 * run.c - runs one test in this process, without a loop or as the main task of a loop.
 */
#include "run.h"

#include "../../src/base/compiler.h"

#include <coil/testing.h>

#include <errno.h>

coil_task *test_spawn(coil_task_fn fn, void *arg)
{
    coil_task *task = NULL;

    CHECK_INT(coil_spawn(fn, arg, NULL, &task), 0);
    return task;
}

int test_join(coil_task *task)
{
    int rc = coil_task_await(task);

    coil_task_release(task);
    return rc;
}

static int complain_of_task(coil_task *task, void *arg)
{
    if (task != arg)
        test__complain("leak: task %s has not ended", coil_task_name(task));
    return 0;
}

static int main_task(void *arg)
{
    const struct test__run *run = arg;

    run->test->body();
    coil_task_each(complain_of_task, coil_task_current());
    return 0;
}

uint64_t test__first_seed = 1;
int test__seed_count = 8;
static bool simulated;
static const char *backend;

bool test_simulated(void)
{
    return simulated;
}

const char *test_backend(void)
{
    return backend;
}

static void run_in_loop(const struct test__run *run)
{
    coil_run_opts opts = {
        .loop = {.backend = run->backend,
                 .virtual_clock = run->backend == NULL || simulated},
    };
    int rc;

    backend = run->backend;
    rc = coil_run(main_task, (void *)run, &opts);
    if (rc == -ENOSYS && run->backend != NULL)
        test_skip("this backend does not work here");
    CHECK_INT(rc, 0);
}

uint64_t test_first_seed(void)
{
    return test__first_seed;
}

/* With -n N, return `usual` * N/8, or 1 if N is 1. The default is -n 8. */
int test_seed_count(int usual)
{
    long long count = (long long)usual * test__seed_count / 8;

    return test__seed_count > 1 ? (int)count : 1;
}

int test_many(int many)
{
    if (COIL__TSAN || test_under_valgrind())
        return many / 100;
    return COIL__ASAN ? many / 10 : many;
}

bool test_in_soak(void)
{
    return test__seed_count > 8;
}

int test_hundred_thousand(void)
{
    return test_many(test_in_soak() ? 100000 : 20000);
}

int test_million(void)
{
    return test_many(test_in_soak() ? 1000000 : 30000);
}

bool test_has_turn(size_t i)
{
    static const char *const all[] = {"epoll", "io_uring", "poll", "select"};

    return test_in_soak() || backend == NULL || strcmp(backend, all[i % 4]) == 0;
}

void test_seed_failed(uint64_t seed, const char *name)
{
    test__complain(
        "failed with seed %llu; to repeat: COIL_TEST_SEED=%llu coil-tests '%s'",
        (unsigned long long)seed, (unsigned long long)seed, name);
}

/* Run the test once for each seed, until a run fails. */
static void run_simulated(const struct test__run *run)
{
    simulated = true;
    for (int i = 0; i < test__seed_count && !test__complained(); i++) {
        uint64_t seed = test__first_seed + (uint64_t)i;
        coil_network_opts opts = coil_network_calm(seed);

        coil_testing_network(&opts);
        run_in_loop(run);
        if (test__complained())
            test_seed_failed(seed, run->name);
        test_trace_clear();
        test_fail_allocation(0);
    }
}

uint64_t test__shuffle;

int test__run_here(const struct test__run *run)
{
    test__leaks_begin();
    coil_testing_shuffle(test__shuffle);
    if (run->test->kind == TEST__PLAIN)
        run->test->body();
    else if (run->test->kind == TEST__NET && strcmp(run->backend, "simulated") == 0)
        run_simulated(run);
    else
        run_in_loop(run);
    test__leaks_check();
    return test__complained() ? TEST__FAILED : TEST__PASSED;
}
