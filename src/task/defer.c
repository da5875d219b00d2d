/*
 * defer.c - functions that are called after a task's function has returned.
 */
#include "task.h"

struct coil__deferred {
    struct coil__deferred *earlier;
    void (*fn)(void *arg);
    void *arg;
};

int coil_defer(void (*fn)(void *arg), void *arg)
{
    COIL__REQUIRE(fn, "a function");
    coil_task *task = coil__task_require("coil_defer");
    struct coil__deferred *deferred = coil__alloc(sizeof *deferred);

    if (deferred == NULL)
        return coil__failed(-ENOMEM);
    *deferred = (struct coil__deferred){task->deferred, fn, arg};
    task->deferred = deferred;
    return 0;
}

/*
 * Remove each entry before calling its function, which may defer more functions or
 * suspend.
 */
void coil__task_run_deferred(coil_task *task)
{
    while (task->deferred != NULL) {
        struct coil__deferred deferred = *task->deferred;

        coil__free(task->deferred);
        task->deferred = deferred.earlier;
        deferred.fn(deferred.arg);
    }
}
