/*
 * tested.c - a function that waits, and its test. The test tries several orders of
 * events, and makes each allocation and system call fail. (docs/manual/testing.md)
 */
#include <coil.h>

#include <stdlib.h>

/* This macro stands for a test framework's check. */
#define CHECK(what) ((what) ? (void)0 : (puts("not so: " #what), exit(1)))

struct job {
    int failures, tries;
};

static int attempt(struct job *job)
{
    return ++job->tries <= job->failures ? -EAGAIN : 0;
}

/* The tested function: try again after 1, 2, 4, ... seconds. */
static int retry(void *arg)
{
    int rc = attempt(arg);

    for (int64_t pause = COIL_SEC(1); rc == -EAGAIN; pause *= 2) {
        rc = coil_sleep(pause);
        if (rc == 0)
            rc = attempt(arg);
    }
    return rc;
}

static int test_retry(void *arg)
{
    struct job job = {.failures = 3};
    coil_task *task;
    int rc = coil_spawn(retry, &job, NULL, &task);

    (void)arg;
    if (rc < 0)
        return rc;
    coil_wait_all_blocked(); /* wait until the task has failed once and is asleep */
    CHECK(job.tries == 1);
    rc = coil_task_await(task);
    coil_task_release(task);
    CHECK(rc < 0 || (job.tries == 4 && coil_now() == COIL_SEC(7)));
    return rc;
}

/* Run the test with the 1st, 2nd, 3rd, ... call failing. Returns the number of calls. */
static int survive(void (*fail)(uint64_t nth))
{
    int64_t blocks = coil_testing_blocks();

    for (int nth = 1;; nth++) {
        fail((uint64_t)nth);
        coil_testing_run(test_retry, NULL);
        CHECK(coil_testing_blocks() == blocks);
        if (coil_testing_failed() == NULL)
            return nth - 1;
    }
}

static void fail_system_call(uint64_t nth)
{
    coil_testing_fail_system_call(nth, 0);
}

int main(void)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        coil_testing_shuffle(seed);
        CHECK(coil_testing_run(test_retry, NULL) == 0);
    }
    printf("allocations survived: %d\n", survive(coil_testing_fail_allocation));
    printf("system calls survived: %d\n", survive(fail_system_call));
    return 0;
}
