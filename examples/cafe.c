/*
 * cafe.c - a program with tasks to inspect: start it and press Ctrl-\.
 *
 * Four guests order at a counter that holds two orders, the cook is slow, and one guest
 * at a time uses the till. Ctrl-C closes the cafe.
 */
#include <coil.h>

#include <stdio.h>

enum { GUESTS = 4 };

static coil_queue counter = COIL_QUEUE_INIT(sizeof(int), 2);
static coil_lock till = COIL_LOCK_INIT;

static int cook(void *arg)
{
    int order, rc = 0;

    (void)arg;
    for (int dish = 0; dish < GUESTS && rc == 0; dish++) {
        rc = coil_queue_get(&counter, &order);
        if (rc == 0)
            rc = coil_sleep(COIL_SEC(60));
    }
    return rc;
}

static int pay(void)
{
    int rc = coil_lock_acquire(&till);

    if (rc < 0)
        return rc;
    COIL_LOCK_GUARD(&till);          // released when control leaves the block
    return coil_sleep(COIL_SEC(45)); // the guest looks for coins
}

static int guest(void *arg)
{
    int rc = coil_queue_put(&counter, arg);

    return rc < 0 ? rc : pay();
}

static int cafe(void *arg)
{
    static const char *const names[GUESTS] = {"Ada", "Grace", "Edsger", "Barbara"};
    static int dishes[GUESTS] = {1, 2, 3, 4};
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, cook, NULL, &(coil_spawn_opts){.name = "cook"}, NULL);
    for (int i = 0; rc == 0 && i < GUESTS; i++) {
        coil_spawn_opts opts = {.name = names[i]};

        rc = coil_group_spawn(&group, guest, &dishes[i], &opts, NULL);
    }
    if (rc == 0)
        rc = coil_sleep(COIL_MSEC(10)); // by then, all guests have begun
    fprintf(stderr, "open: press Ctrl-\\ to see who waits for what\n");
    rc = coil_group_exit(&group, rc);
    coil_queue_finish(&counter);
    return rc;
}

int main(void)
{
    return coil_run(cafe, NULL, NULL) != -EINTR;
}
