/*
 * 16_failed_worker.c - a worker fails, join() waits forever, and how to fix this.
 *
 * work() does not call task_done() if fetch() fails. So asyncio hangs in join(), and coil
 * reports that no task can ever be woken. The fix: call task_done() in every case, and
 * run the workers in a group, so that failures other than a page's end the crawl.
 *
 * To try: let fetch() fail with another error. The fixed version ends the crawl at once.
 */
#include <coil.h>

#include <stdio.h>

static coil_queue pages;

static int fetch(int page)
{
    int rc = coil_sleep(COIL_MSEC(1));
    return rc == 0 && page == 2 ? coil_fail(-EBADMSG, "page %d is not HTML", page) : rc;
}

/* [hang] */
static int work(void *arg)
{
    int page, rc;

    while ((rc = coil_queue_get(&pages, &page)) == 0) {
        if ((rc = fetch(page)) < 0)
            return rc; // without calling task_done()
        coil_queue_task_done(&pages);
    }
    return (void)arg, rc;
}
/* [end] */

/* [cure] */
static int work_on(void *arg)
{
    int page, rc;

    while ((rc = coil_queue_get(&pages, &page)) == 0) {
        rc = fetch(page);
        coil_queue_task_done(&pages); // in every case
        if (rc == -EBADMSG)
            printf("fixed: %s\n", coil_error_message(coil_last_error()));
        else if (rc < 0)
            return rc; // ends the group, and so the crawl
    }
    return (void)arg, rc;
}
/* [end] */

static int crawl(void *in_group)
{
    coil_group group;
    int rc = 0;

    pages = (coil_queue)COIL_QUEUE_INIT(sizeof(int), 0);
    for (int page = 0; page < 4 && rc == 0; page++)
        rc = coil_queue_put(&pages, &page);
    coil_group_enter(&group);
    for (int i = 0; i < 2 && rc == 0; i++)
        rc = in_group ? coil_group_spawn(&group, work_on, NULL, NULL, NULL)
                      : coil_spawn(work, NULL, NULL, NULL);
    if (rc == 0)
        rc = coil_queue_join(&pages);
    coil_group_cancel(&group, "all pages are done");
    return coil_group_exit(&group, rc);
}

int main(void)
{
    int rc = coil_run(crawl, NULL, &(coil_run_opts){.no_report = true});
    printf("as in the chapter: %s\n", rc == -EDEADLK ? "hangs" : "ends");
    coil_queue_finish(&pages);
    rc = coil_run(crawl, "in a group", NULL);
    printf("fixed: %s\n", rc == 0 ? "all pages are done" : "fails");
    return coil_queue_finish(&pages), rc < 0;
}
