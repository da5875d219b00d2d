/*
 * held_lock.c - a bug to find with coil-ps (docs/manual/ps.md): a task holds a lock while
 * it waits for an answer that never arrives.
 */
#include <coil.h>

#include <unistd.h>

static coil_lock table_lock = COIL_LOCK_INIT;

static int refresh_table(void *arg)
{
    const int *answer = arg;
    int rc = coil_lock_acquire(&table_lock);

    if (rc < 0)
        return rc;
    rc = coil_wait_fd(answer[0], COIL_READABLE); /* the answer never arrives */
    coil_lock_release(&table_lock);
    return rc;
}

static int read_table(void *arg)
{
    int rc = coil_lock_acquire(&table_lock);

    (void)arg;
    if (rc == 0)
        coil_lock_release(&table_lock);
    return rc;
}

static int hold_lock(void *arg)
{
    coil_group group;
    int answer[2], rc;

    (void)arg;
    if (pipe(answer) < 0)
        return -1;
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, refresh_table, answer,
                          &(coil_spawn_opts){.name = "refresh"}, NULL);
    for (int i = 0; i < 200 && rc >= 0; i++)
        rc = coil_group_spawn(&group, read_table, NULL, NULL, NULL);
    return coil_group_exit(&group, rc < 0 ? rc : 0);
}

int main(void)
{
    return coil_run(hold_lock, NULL, NULL) != 0;
}
