/*
 * stock.c - an update waits halfway, and a read-write lock hides the intermediate state
 * from readers. A display follows the updates, and skips some if it is too slow.
 */
#include <coil.h>
#include <stdio.h>

static coil_rwlock lock = COIL_RWLOCK_INIT;
static int shelf = 20, cart, displayed;
static coil_latest display = COIL_LATEST_INIT(&displayed, sizeof displayed);

static int take_one(void)
{
    int rc = coil_rwlock_acquire_write(&lock);

    if (rc < 0)
        return rc;
    COIL_RWLOCK_GUARD(&lock); // released whenever the function returns
    shelf--;
    rc = coil_sleep(COIL_MSEC(1)); // simulates a slow database; readers must wait
    ++*(rc == 0 ? &cart : &shelf);
    return rc < 0 ? rc : coil_latest_set(&display, &cart);
}

static int fill_cart(void *arg)
{
    int rc = 0;

    (void)arg;
    while (rc == 0 && shelf > 0)
        rc = take_one();
    coil_latest_shutdown(&display);
    return rc;
}

static int count_all(void *arg)
{
    int rc = 0, sum = 20;

    (void)arg;
    while (rc == 0 && sum == 20 && shelf > 0) {
        rc = coil_rwlock_acquire_read(&lock);
        if (rc < 0)
            return rc;
        COIL_RWLOCK_GUARD(&lock);
        sum = shelf;
        rc = coil_yield(); // meanwhile, other readers may count
        sum += cart;
    }
    return rc == 0 && sum != 20 ? -EPROTO : rc;
}

static int show(void *arg)
{
    uint64_t seen = 0;
    int number = 0, rc;

    (void)arg;
    while ((rc = coil_latest_wait(&display, &seen, &number)) == 0)
        coil_sleep(COIL_MSEC(5)); // drawing takes longer than an update
    printf("%d in the cart\n", number);
    return rc == -ESHUTDOWN ? 0 : rc;
}

static int app(void *arg)
{
    int (*const jobs[])(void *) = {count_all, count_all, fill_cart, show}, rc;

    (void)arg;
    COIL_WITH_GROUP(group, rc)
    for (int i = 0; i < 4 && rc == 0; i++)
        rc = coil_group_spawn(&group, jobs[i], NULL, NULL, NULL);
    return rc;
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
