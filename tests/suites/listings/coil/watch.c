/* watch.c - compiles and runs the examples in include/coil/watch.h. */
#include "listings.h"

#include "watch.h/1"

#include <unistd.h>

static int app(void *arg)
{
    char folder[] = "/tmp/coil-listing-XXXXXX", path[64];
    coil_task *task;

    (void)arg;
    CHECK(mkdtemp(folder) != NULL);
    CHECK(coil_spawn(follow, folder, NULL, &task) == 0);
    CHECK(coil_sleep(COIL_MSEC(20)) == 0);
    snprintf(path, sizeof path, "%s/file", folder);
    CHECK(coil_write_file(path, "x", 1, 0600, 0) == 0);
    CHECK(coil_sleep(COIL_MSEC(20)) == 0);
    coil_task_cancel(task, NULL);
    CHECK(coil_task_await(task) == -ECANCELED);
    coil_task_release(task);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
