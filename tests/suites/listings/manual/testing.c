/* needs: coil-testing */
/* testing.c - compiles and runs the examples in docs/manual/testing.md. */
#include "listings.h"

struct job {
    int tries;
};

static int retry(void *job)
{
    int rc;

    ((struct job *)job)->tries++;
    rc = coil_sleep(COIL_SEC(3600));
    return rc;
}

static int test_retry(void *arg)
{
    struct job job = {0};
    coil_task *task;
    int rc;

    if (arg == NULL) {
        rc = coil_spawn(retry, &job, NULL, &task);
        if (rc < 0)
            return rc;
        rc = coil_task_await(task);
        coil_task_release(task);
        return rc;
    }
#include "testing.md/waiting-for-a-known-state"
    coil_task_release(task);
    return 0;
}

#include "testing.md/waiting-for-a-known-state-2"

static int write_both(void *text)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_spawn(&group, second, text, NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, first, text, NULL, NULL);
    return coil_group_exit(&group, rc);
}

static int test_client_and_server(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1));
}

int main(void)
{
    char text[3] = "", job[] = "a job";

#include "testing.md/virtual-time"
    CHECK(coil_testing_run(test_retry, job) == 0);
    RUN(write_both, text);
    CHECK(strcmp(text, "ab") == 0);
#include "testing.md/random-order"
    coil_testing_shuffle(0);
    {
#include "testing.md/on-a-simulated-network"
    } coil_testing_network(NULL);
    {
#include "testing.md/each-allocation-fails-once"
    }
    return 0;
}
