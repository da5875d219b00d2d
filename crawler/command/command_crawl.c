/*
 * command_crawl.c - coil-crawl URL...: crawl, and write reports.
 *
 * After the crawl, writing the cache, the reports, the WARC or the crawl's file may fail.
 * `struct outcome` contains all of these results, from which exit_status_of() derives the
 * exit status.
 */
#include "command_crawl.h"

#include "notice.h"
#include "run.h"
#include "signals.h"

#include <coil/run.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The results of a run, each 0 or a negative errno. */
struct outcome {
    int crawl;
    int cache, reports, warc, saved; /* results of writing these files */
    enum exit_status status;         /* exit status if all files were written */
};

static enum exit_status exit_status_of(const struct outcome *outcome)
{
    bool is_written = outcome->cache == 0 && outcome->reports == 0 &&
                      outcome->warc == 0 && outcome->saved == 0;

    return is_written ? outcome->status : STATUS_FAILED;
}

static enum exit_status judge_run(const struct crawler *crawler, int rc)
{
    if (signals_were_caught())
        return STATUS_INTERRUPTED;
    if (rc < 0)
        return STATUS_FAILED;
    if (crawler->result.fetched_count == 0)
        return STATUS_NOTHING;
    if (crawler->verdicts.summary.findings > 0)
        return STATUS_BROKEN;
    return crawler->result.out_of_time ? STATUS_INTERRUPTED : STATUS_OK;
}

/* ---- files ------------------------------------------------------------------------- */

/* True if a new crawl is to be saved. */
static bool begins_saved(const struct options *options)
{
    return options->state != NULL && options->command == COMMAND_CRAWL;
}

/* Create the crawl's folder, which may also contain the reports and the cache. */
static int make_folder(const struct options *options)
{
    char *message;
    int rc = 0;

    if (begins_saved(options))
        rc = saved_crawl_make_folder(options->state, &message);
    return rc < 0 ? notice_failure(message, rc) : 0;
}

static int read_files(struct run *run)
{
    const struct options *options = run->options;
    char *message = NULL;
    int rc = 0;

    if (options->baseline != NULL)
        rc = baseline_read(options->baseline, &run->baseline, &message);
    if (rc == 0 && options->cache != NULL)
        rc = cache_open(options->cache, time(NULL), options->max_age_ns, &run->cache,
                        &message);
    if (rc == 0 && run->cache != NULL && options->command != COMMAND_REPORT)
        rc = cache_check(run->cache, &message);
    return rc < 0 ? notice_failure(message, rc) : 0;
}

/*
 * Write the cache. Called even if the crawl has failed, to save the targets that were OK.
 */
static int write_cache(struct run *run)
{
    char *message = NULL;
    int rc = run->cache != NULL ? cache_write(run->cache, &message) : 0;

    return rc < 0 ? notice_failure(message, rc) : 0;
}

/*
 * Create the files of a new crawl, if it is to be saved. The files of an existing crawl
 * are already open.
 */
static int begin_saved(struct run *run)
{
    char *message;
    int rc = 0;

    if (begins_saved(run->options))
        rc = saved_crawl_begin(&run->saved, run->options, &message);
    return rc < 0 ? notice_failure(message, rc) : 0;
}

/* Close the saved crawl. If it can be continued, print the command that continues it. */
static int close_saved(struct saved_crawl *saved, bool is_finished, bool can_go_on)
{
    bool goes_on = saved->state != NULL && !is_finished;
    const char *folder = saved->folder;
    const char *word = saved->command == COMMAND_RECHECK ? "recheck" : "resume";
    char *message;
    int rc = saved_crawl_close(saved, is_finished, &message);

    if (rc < 0)
        return notice_failure(message, rc);
    if (goes_on && can_go_on)
        fprintf(stderr, "coil-crawl: coil-crawl %s %s continues from here\n", word,
                folder);
    return 0;
}

/* ---- the run ----------------------------------------------------------------------- */

static int crawl(struct run *run)
{
    int rc = crawler_init(&run->crawler, run->options, run->saved.cold,
                          run->reports.sinks, run->reports.sink_count);

    run->crawler.enqueuer.cache = run->cache;
    run->crawler.verdicts.baseline = run->baseline;
    run->crawler.requester.warc = run->warc;
    crawler_take_saved(&run->crawler, &run->saved);
    return rc == 0 ? run_crawl(run, crawler_run) : rc;
}

/* Pass the last record, which contains the exit status, to the reports. */
static void report_summary(struct crawler *crawler, enum exit_status status)
{
    crawler->verdicts.summary.exit_status = (int)status;
    records_summary(&crawler->verdicts.sinks, &crawler->verdicts.summary);
}

/*
 * Crawl, and write the cache and the reports. Print why the crawl ended, unless an error
 * in writing one of these files was printed.
 */
static enum exit_status crawl_and_report(struct run *run)
{
    struct crawler *crawler = &run->crawler;
    struct outcome outcome = {.crawl = crawl(run)};
    bool is_finished;
    int closed;

    outcome.status = judge_run(crawler, outcome.crawl);
    outcome.cache = write_cache(run);
    outcome.reports = reports_finish(&run->reports, crawler);
    report_summary(crawler, exit_status_of(&outcome));
    notice_gaps(crawler, exit_status_of(&outcome));
    outcome.warc = run_close_warc(run);
    closed = reports_close(&run->reports);
    if (closed < 0)
        outcome.reports = closed;
    else if (outcome.cache == 0)
        notice_end(exit_status_of(&outcome), outcome.crawl, crawler->result.complaint);
    is_finished = crawler->result.is_finished;
    crawler_finish(crawler);
    outcome.saved = close_saved(&run->saved, is_finished, outcome.crawl != -EBADMSG);
    return exit_status_of(&outcome);
}

enum exit_status command_crawl_with(const struct options *options,
                                    const struct saved_crawl *saved)
{
    struct run run = {.options = options, .saved = *saved};
    enum exit_status status = STATUS_FAILED;
    int rc = make_folder(options);

    if (rc == 0)
        rc = read_files(&run);
    if (rc == 0)
        rc = reports_open(&run.reports, options);
    if (rc == 0)
        rc = begin_saved(&run);
    if (rc == 0)
        rc = run_open_warc(&run);
    if (rc < 0 && rc != -ENOMEM)
        status = STATUS_USAGE;
    if (rc == 0 && signals_catch(&run.reports) == 0)
        status = crawl_and_report(&run);
    reports_close(&run.reports); /* does nothing if they are already closed */
    signals_forget_reports();
    run_close_warc(&run);
    close_saved(&run.saved, false, false);
    cache_destroy(run.cache);
    baseline_destroy(run.baseline);
    return status;
}

enum exit_status command_crawl(const struct options *options)
{
    return command_crawl_with(options, &(struct saved_crawl){.folder = NULL});
}
