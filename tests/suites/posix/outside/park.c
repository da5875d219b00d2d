/*
 * park.c - a task waits in the same way as Rust's thread::park(). outside.py checks the
 * report.
 */
#include <coil.h>

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t state = UINT32_MAX;

static int park(void *unused)
{
    const struct timespec passed = {0, 1};

    (void)unused;
    syscall(SYS_futex, &state, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, UINT32_MAX,
            &passed, NULL, ~0u);
    return 0;
}

static int app(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) { /* only the first wait is reported */
        coil_task *task;

        if (coil_spawn(park, NULL, NULL, &task) < 0)
            return 1;
        coil_task_await(task);
        coil_task_release(task);
    }
    return 0;
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
