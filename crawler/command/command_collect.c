/*
 * command_collect.c - coil-crawl collect DIR: save the results of a shared crawl.
 *
 * Afterwards, DIR is the folder of a saved crawl: `resume` can fetch missing pages, and
 * writes the reports.
 */
#include "../shared/collect.h"
#include "notice.h"
#include "run.h"
#include "signals.h"

#include <coil/group.h>
#include <coil/task.h>
#include <coil/timer.h>

#include <stdio.h>
#include <stdlib.h>

static int show_progress(void *arg)
{
    const struct collecting *collecting = arg;
    int rc;

    while ((rc = coil_sleep(PROGRESS_NS)) == 0) {
        fprintf(stderr, "\r%zu collected; %lld through, %lld left\x1b[K",
                collecting->count, (long long)collecting->progress.through,
                (long long)collecting->progress.left);
        fflush(stderr);
    }
    fputs("\r\x1b[K", stderr);
    fflush(stderr);
    return rc;
}

static int collect_and_show(void *arg)
{
    struct collecting *collecting = arg;
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_spawn(&group, signals_cancel_task, coil_task_current(), NULL, NULL);
    if (rc == 0 && run_wants_progress(collecting->options))
        rc = coil_group_spawn(&group, show_progress, collecting, NULL, NULL);
    if (rc == 0)
        rc = collect(collecting);
    coil_group_cancel(&group, "all is collected");
    return coil_group_exit(&group, rc);
}

static enum exit_status judge_collection(int rc)
{
    if (signals_were_caught())
        return STATUS_INTERRUPTED;
    return rc < 0 ? STATUS_FAILED : STATUS_OK;
}

enum exit_status command_collect(const struct options *options)
{
    struct collecting collecting = {.options = options};
    struct options later = *options;
    enum exit_status status;
    int rc;

    if (signals_catch(NULL) < 0)
        return STATUS_FAILED;
    rc = run_in_loop(options, collect_and_show, &collecting);
    status = judge_collection(rc);
    notice_end(status, rc, collecting.complaint);
    free(collecting.complaint);
    if (status != STATUS_OK)
        return status;
    later.command = COMMAND_RESUME;
    return command_saved(&later);
}
