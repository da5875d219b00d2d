/* A task that fails as it is cancelled at the end is reported, and does not change the
 * result. */
#include "runners.h"

static int leftover(void *arg)
{
    (void)arg;
    if (coil_sleep(COIL_SEC(10)) != -ECANCELED)
        return 0;
    trace("leftover fails");
    return -EIO;
}

static char reports[256];

static void handler(const coil_exception *exception, void *arg)
{
    size_t used = strlen(reports);

    (void)arg;
    if (exception->task != NULL)
        snprintf(reports + used, sizeof reports - used, "%s%s of %s",
                 used > 0 ? ", " : "", outcome(exception->rc),
                 coil_task_name(exception->task));
}

static int main_task(void *arg)
{
    int rc;

    (void)arg;
    coil_set_exception_handler(handler, NULL);
    if (start_with(leftover, NULL, &(coil_spawn_opts){.name = "leftover"}) == NULL)
        return -ENOMEM;
    rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : 123;
}

PLAIN_SCENARIO(run_reports_what_fails_as_it_is_cancelled)
{
    trace("run: %s", outcome(run(main_task, NULL)));
    trace("reported: %s", reports);
    return 0;
}
