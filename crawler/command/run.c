/* run.c - see run.h */
#include "run.h"

#include "../report/progress.h"
#include "notice.h"
#include "signals.h"

#include <coil/group.h>
#include <coil/http.h>
#include <coil/run.h>
#include <coil/signal.h>
#include <coil/task.h>
#include <coil/timer.h>

#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/*
 * Once a second, write the complete lines of the reports, and new results to the crawl's
 * file.
 */
static int write_each_second(void *arg)
{
    struct run *run = arg;
    int rc;

    while ((rc = coil_sleep(COIL_SEC(1))) == 0) {
        if (reports_flush(&run->reports) < 0) {
            coil_task_cancel(run->task, "a report that cannot be written");
            return 0;
        }
        rc = crawler_save(&run->crawler);
        if (rc < 0)
            return rc;
        watch_tick(&run->watch);
    }
    return rc;
}

static size_t terminal_width(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                           : 80;
}

/*
 * Show the progress line until cancelled. "\r" moves to the beginning of the line, and
 * "\x1b[K" erases its end.
 */
static int show_progress(void *arg)
{
    struct run *run = arg;
    struct progress progress = {0};
    char line[256];
    int rc;

    while ((rc = coil_sleep(PROGRESS_NS)) == 0) {
        struct crawler_progress now = crawler_progress(&run->crawler);

        progress_update(&progress, now.known, now.done, now.bad, coil_now());
        progress_line(&progress, line, sizeof line, terminal_width() - 1);
        fprintf(stderr, "\r%s\x1b[K", line);
        fflush(stderr);
    }
    fputs("\r\x1b[K", stderr);
    fflush(stderr);
    return rc;
}

bool run_wants_progress(const struct options *options)
{
    return !options->quiet && !options->no_progress && options->verbosity < 2 &&
           isatty(STDERR_FILENO);
}

static void on_usr1(void *arg)
{
    struct run *run = arg;

    if (run_wants_progress(run->options))
        fputs("\r\x1b[K", stderr);
    watch_print(&run->watch);
}

/*
 * Start handling SIGUSR1 and serving --status. Print the address of --status, because the
 * kernel may have chosen the port.
 */
static int begin_watching(struct run *run, coil_group *group)
{
    char name[128];
    int rc = coil_add_signal_handler(SIGUSR1, on_usr1, run);

    if (rc < 0 || run->options->status_port == NULL)
        return rc;
    rc = watch_listen(&run->watch, run->options->status_host, run->options->status_port,
                      &run->crawler.result.complaint);
    if (rc == 0)
        rc = watch_name(&run->watch, name, sizeof name);
    if (rc < 0)
        return rc;
    if (!run->options->quiet)
        fprintf(stderr, "coil-crawl: status at http://%s/\n", name);
    return coil_group_spawn(group, watch_serve, &run->watch, NULL, NULL);
}

/* Run the crawl and all other tasks. This is the main task. */
static int crawl_with_tasks(void *arg)
{
    struct run *run = arg;
    coil_group group;
    int rc;

    run->task = coil_task_current();
    watch_init(&run->watch, &run->crawler);
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, signals_cancel_task, run->task, NULL, NULL);
    if (rc == 0)
        rc = begin_watching(run, &group);
    if (rc == 0)
        rc = coil_group_spawn(&group, write_each_second, run, NULL, NULL);
    if (rc == 0 && run_wants_progress(run->options))
        rc = coil_group_spawn(&group, show_progress, run, NULL, NULL);
    if (rc == 0)
        rc = run->body(&run->crawler);
    coil_group_cancel(&group, "the crawl is over");
    rc = coil_group_exit(&group, rc);
    watch_finish(&run->watch);
    return rc;
}

int run_in_loop(const struct options *options, int (*fn)(void *arg), void *arg)
{
    coil_run_opts opts = {.drain_ns = DRAIN_NS, .no_report = true};

    opts.loop.backend = options->backend;
    return coil_run(fn, arg, &opts);
}

int run_crawl(struct run *run, int (*body)(void *crawler))
{
    run->body = body;
    return run_in_loop(run->options, crawl_with_tasks, run);
}

int run_open_warc(struct run *run)
{
    const struct options *options = run->options;
    char software[64], *message;
    int rc = 0;

    snprintf(software, sizeof software, "coil-crawl/%s", coil_version());
    if (options->warc != NULL && options->command != COMMAND_REPORT)
        rc = warc_open(options->warc, options->command == COMMAND_RESUME, software,
                       &run->warc, &message);
    return rc < 0 ? notice_failure(message, rc) : 0;
}

int run_close_warc(struct run *run)
{
    char *message;
    int rc = warc_close(run->warc, &message);

    run->warc = NULL;
    return rc < 0 ? notice_failure(message, rc) : 0;
}
