/*
 * openmp.c - two tasks share an OpenMP lock. The first waits while it holds the lock.
 * libgomp waits for the lock with an inline system call, so the second task blocks the
 * thread forever.
 */
#include <coil.h>

#include <omp.h>
#include <unistd.h>

static omp_lock_t lock;

static int hold(void *unused)
{
    (void)unused;
    omp_set_lock(&lock);
    usleep(1000);
    omp_unset_lock(&lock);
    return 0;
}

static int app(void *unused)
{
    coil_task *tasks[2];

    (void)unused;
    omp_init_lock(&lock);
    for (int i = 0; i < 2; i++)
        if (coil_spawn(hold, NULL, NULL, &tasks[i]) < 0)
            return 1;
    for (int i = 0; i < 2; i++)
        coil_task_await(tasks[i]);
    return 0;
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
