/*
 * main.c - the command coil-crawl: its signals, and what its exit status means.
 *
 * SIGINT, SIGTERM and SIGHUP are one thing. The first wakes a task that cancels the crawl,
 * whose reports are then made in order; the second ends the program at once, after what is
 * whole in the reports is written. So the handlers are not coil's: a second signal must count
 * while the loop is held up, by a reader of stdout, say.
 */
#include "../base/cold.h"
#include "../shared/collect.h"
#include "../crawl/crawl.h"
#include "explain.h"
#include "../saved/saved_crawl.h"
#include "../crawl/member.h"
#include "../options/options.h"
#include "../report/diff.h"
#include "../report/page_names.h"
#include "../report/progress.h"
#include "../report/reports.h"
#include "../url/url.h"
#include "../watch/watch.h"

#include <coil/group.h>
#include <coil/http.h>
#include <coil/poll.h>
#include <coil/run.h>
#include <coil/signal.h>
#include <coil/task.h>
#include <coil/timer.h>

#include <curl/curl.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* A look-up by the C library that nobody wants any more takes many seconds to give up:
   it is left to its thread. */
#define DRAIN_NS COIL_SEC(1)

#define PROGRESS_NS COIL_MSEC(100)

enum status {
    STATUS_WELL = 0,
    STATUS_FAILED = 1, /* of memory, or writing a report */
    STATUS_BROKEN = 2,
    STATUS_USAGE = 3,
    STATUS_NOTHING = 4,
    STATUS_INTERRUPTED = 6
};

struct run {
    const struct options *options;
    struct reports reports;
    struct crawler crawler;
    struct cache *cache;
    struct baseline *baseline;
    struct saved_crawl saved; /* what is kept of it; or zeroes */
    struct warc *warc;
    struct watch watch;
    coil_task *task; /* that crawls */
    bool takes_part; /* in a crawl that many share */
};

/* ---- signals ----------------------------------------------------------------------- */

/* For the handler alone. */
static struct reports *_Atomic reports_at_signal; /* NULL once they are closed */
static atomic_int signal_count;
static int signal_fd = -1; /* readable after the first */

static void on_signal(int signo)
{
    int error = errno;

    if (atomic_fetch_add(&signal_count, 1) == 0) {
        uint64_t one = 1;
        ssize_t n = write(signal_fd, &one, sizeof one);

        (void)n; /* an eventfd takes it */
        errno = error;
        return;
    }
    if (reports_at_signal != NULL)
        reports_flush_in_handler(reports_at_signal);
    signal(signo, SIG_DFL);
    raise(signo); /* once this returns */
}

/* What nohup(1) ignores stays so. A reader of stdout who has gone is an error of writing. */
static int take_signals(struct run *run)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;

    if (signal_fd < 0)
        signal_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (signal_fd < 0) {
        fprintf(stderr, "coil-crawl: cannot wait for signals: %s\n", strerror(errno));
        return -errno;
    }
    reports_at_signal = &run->reports;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaddset(&action.sa_mask, signals[i]);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    return 0;
}

static int wait_for_signal(void *arg)
{
    struct run *run = arg;
    struct pollfd wanted = {.fd = signal_fd, .events = POLLIN};
    int rc = coil_poll(&wanted, 1, COIL_NEVER);

    if (rc > 0)
        coil_task_cancel(run->task, "a signal");
    return rc < 0 ? rc : 0;
}

/* ---- beside the crawl -------------------------------------------------------------- */

/* What is known is in the files a second later. */
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

/* One line that overwrites itself: "\r" to its start, and "erase to the end". */
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

static bool wants_progress(const struct options *options)
{
    return !options->quiet && !options->no_progress && options->verbosity < 2 &&
           isatty(STDERR_FILENO);
}

static void on_usr1(void *arg)
{
    struct run *run = arg;

    if (wants_progress(run->options))
        fputs("\r\x1b[K", stderr);
    watch_print(&run->watch);
}

/* Whoever asked for a port of the kernel's choice is told which it is. */
static int begin_watching(struct run *run, coil_group *group)
{
    char name[128];
    int rc = coil_add_signal_handler(SIGUSR1, on_usr1, run);

    if (rc < 0 || run->options->status_port == NULL)
        return rc;
    rc = watch_listen(&run->watch, run->options->status_host, run->options->status_port,
                      &run->crawler.complaint);
    if (rc == 0)
        rc = watch_name(&run->watch, name, sizeof name);
    if (rc < 0)
        return rc;
    if (!run->options->quiet)
        fprintf(stderr, "coil-crawl: status at http://%s/\n", name);
    return coil_group_spawn(group, watch_serve, &run->watch, NULL, NULL);
}

/* Together with others, by way of Redis. */
static int take_part(struct crawler *crawler)
{
    struct member member;
    int rc = member_open(&member, crawler);

    if (rc == 0)
        rc = crawler_run(crawler);
    return member_close(&member, rc);
}

/* The main task: the crawl, and what goes on beside it. */
static int crawl(void *arg)
{
    struct run *run = arg;
    coil_group group;
    int rc;

    run->task = coil_task_current();
    watch_init(&run->watch, &run->crawler);
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, wait_for_signal, run, NULL, NULL);
    if (rc == 0)
        rc = begin_watching(run, &group);
    if (rc == 0)
        rc = coil_group_spawn(&group, write_each_second, run, NULL, NULL);
    if (rc == 0 && wants_progress(run->options))
        rc = coil_group_spawn(&group, show_progress, run, NULL, NULL);
    if (rc == 0)
        rc = run->takes_part ? take_part(&run->crawler) : crawler_run(&run->crawler);
    coil_group_cancel(&group, "the crawl is over");
    rc = coil_group_exit(&group, rc);
    watch_finish(&run->watch);
    return rc;
}

/* ---- the outcome ------------------------------------------------------------------- */

static enum status status_of(const struct run *run, int rc)
{
    if (atomic_load(&signal_count) > 0)
        return STATUS_INTERRUPTED;
    if (rc < 0)
        return STATUS_FAILED;
    if (run->crawler.fetched_count == 0)
        return STATUS_NOTHING;
    if (run->crawler.finding_count > 0)
        return STATUS_BROKEN;
    return run->crawler.out_of_time ? STATUS_INTERRUPTED : STATUS_WELL;
}

/* A sentence may quote a server, or a file that somebody else has written. */
static void print_sentence(const char *sentence)
{
    fputs("coil-crawl: ", stderr);
    url_print(stderr, sentence);
    fputc('\n', stderr);
}

static void say_why(enum status status, int rc, const char *complaint)
{
    if (complaint != NULL)
        print_sentence(complaint);
    if (atomic_load(&signal_count) > 0)
        fputs("coil-crawl: interrupted\n", stderr);
    else if (status == STATUS_FAILED && complaint == NULL)
        fprintf(stderr, "coil-crawl: the crawl could not go on: %s\n", strerror(-rc));
    else if (status == STATUS_NOTHING)
        fputs("coil-crawl: nothing could be fetched\n", stderr);
}

/* A start that has moved to another site is a surprise. */
static void say_where_the_start_is(const struct crawler *crawler)
{
    const struct target *start =
        crawler->targets.count > 0 ? targets_at(&crawler->targets, 0) : NULL;

    if (start == NULL || start->next == NULL || start->next->kind != TARGET_EXTERNAL)
        return;
    fputs("coil-crawl: ", stderr);
    url_print(stderr, start->next->url);
    fputs(" is of another site; start there if you mean it\n", stderr);
}

/* The crawl ended early: say how many URLs were not checked. */
static void say_what_is_left(const struct crawler *crawler)
{
    struct crawler_progress progress = crawler_progress(crawler);

    if (crawler->out_of_time)
        fprintf(
            stderr,
            "coil-crawl: --max-duration is over: at least %zu URLs were not checked\n",
            progress.known - progress.done);
}

/* A start that may not be fetched leaves nothing to crawl, and the user may not know
   why. */
static void say_which_starts_are_left_out(const struct crawler *crawler)
{
    size_t count = crawler->options->starts.count;

    for (size_t i = 0; i < count && i < crawler->targets.count; i++) {
        const struct target *start = targets_at(&crawler->targets, i);

        if (!start->is_start ||
            (start->reason != REASON_ROBOTS && start->reason != REASON_OFFLINE))
            continue;
        fputs("coil-crawl: ", stderr);
        url_print(stderr, start->url);
        if (start->reason == REASON_OFFLINE)
            fputs(": not fetched, because of --offline\n", stderr);
        else
            fprintf(stderr, ": %s; --no-robots ignores robots.txt\n", start->message);
    }
}

/* ---- what was not searched ---------------------------------------------------------- */

#define UNSEARCHED_NAMED 10 /* the others are counted */

/* The user has named it: that its links were not looked for must not go without a word. */
static void say_what_was_not_searched(const struct crawler *crawler)
{
    struct page_names names;
    size_t count = 0;

    if (page_names_init(&names) < 0)
        return;
    for (size_t i = 0; i < crawler->targets.count; i++) {
        const struct target *target = targets_at(&crawler->targets, i);
        char *name;

        if (!target->is_start || target->verdict != VERDICT_OK ||
            target->message == NULL || ++count > UNSEARCHED_NAMED)
            continue;
        name = page_names_path(&names, target->url);
        fputs("coil-crawl: ", stderr);
        url_print(stderr, name != NULL ? name : target->url);
        fputs(": ", stderr);
        url_print(stderr, target->message);
        fputc('\n', stderr);
        free(name);
    }
    if (count > UNSEARCHED_NAMED)
        fprintf(stderr, "coil-crawl: and %zu others; -v lists them\n",
                count - UNSEARCHED_NAMED);
    page_names_finish(&names);
}

/* ---- files beside the crawl -------------------------------------------------------- */

static int complain(char *message, int rc)
{
    print_sentence(message != NULL ? message : strerror(-rc));
    free(message);
    return rc;
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
    return rc < 0 ? complain(message, rc) : 0;
}

/* Whatever came of the crawl: what it has found to be well is so. */
static int write_cache(struct run *run)
{
    char *message = NULL;
    int rc = run->cache != NULL ? cache_write(run->cache, &message) : 0;

    return rc < 0 ? complain(message, rc) : 0;
}

static int begin_warc(struct run *run)
{
    const struct options *options = run->options;
    char software[64], *message;
    int rc = 0;

    snprintf(software, sizeof software, "coil-crawl/%s", coil_version());
    if (options->warc != NULL && options->command != COMMAND_REPORT)
        rc = warc_open(options->warc, options->command == COMMAND_RESUME, software,
                       &run->warc, &message);
    return rc < 0 ? complain(message, rc) : 0;
}

static int end_warc(struct run *run)
{
    char *message;
    int rc = warc_close(run->warc, &message);

    run->warc = NULL;
    return rc < 0 ? complain(message, rc) : 0;
}

static void forget_files(struct run *run)
{
    cache_destroy(run->cache);
    baseline_destroy(run->baseline);
}

/* A crawl that is cut short can be gone on with. */
static int close_kept(struct saved_crawl *saved, bool is_finished, bool can_go_on)
{
    bool goes_on = saved->state != NULL && !is_finished;
    const char *folder = saved->folder;
    const char *word = saved->command == COMMAND_RECHECK ? "recheck" : "resume";
    char *message;
    int rc = saved_crawl_close(saved, is_finished, &message);

    if (rc < 0)
        return complain(message, rc);
    if (goes_on && can_go_on)
        fprintf(stderr, "coil-crawl: coil-crawl %s %s goes on from here\n", word, folder);
    return 0;
}

/* A report that cannot be written ends the crawl; then that is said, and no more. */
static enum status crawl_and_report(struct run *run)
{
    enum status status;
    char *complaint;
    bool is_finished;
    int written, rc = crawler_init(&run->crawler, run->options, run->saved.cold,
                                   run->reports.sinks, run->reports.sink_count);

    run->crawler.cache = run->cache;
    run->crawler.baseline = run->baseline;
    run->crawler.requester.warc = run->warc;
    crawler_take_saved(&run->crawler, &run->saved);
    if (rc == 0)
        rc = coil_run(crawl, run,
                      &(coil_run_opts){.drain_ns = DRAIN_NS, .no_report = true});
    status = status_of(run, rc);
    written = write_cache(run);
    if (reports_finish(&run->reports, &run->crawler) < 0 || written < 0)
        status = STATUS_FAILED;
    run->crawler.summary.exit_status = (int)status;
    records_summary(&run->crawler.sinks, &run->crawler.summary);
    say_which_starts_are_left_out(&run->crawler);
    say_what_is_left(&run->crawler);
    if (status == STATUS_NOTHING)
        say_where_the_start_is(&run->crawler);
    say_what_was_not_searched(&run->crawler);
    complaint = run->crawler.complaint;
    run->crawler.complaint = NULL;
    is_finished = run->crawler.is_finished;
    crawler_finish(&run->crawler);
    if (end_warc(run) < 0)
        status = STATUS_FAILED;
    if (reports_close(&run->reports) < 0 || written < 0)
        status = STATUS_FAILED;
    else
        say_why(status, rc, complaint);
    free(complaint);
    return close_kept(&run->saved, is_finished, rc != -EBADMSG) < 0 ? STATUS_FAILED
                                                                    : status;
}

/* What is begun is kept; what is gone on with is open already. */
static int begin_kept(struct run *run)
{
    char *message;
    int rc = 0;

    if (run->options->state != NULL && run->options->command == COMMAND_CRAWL)
        rc = saved_crawl_begin(&run->saved, run->options, &message);
    return rc < 0 ? complain(message, rc) : 0;
}

static enum status run_with(const struct options *options,
                            const struct saved_crawl *saved)
{
    struct run run = {.options = options, .saved = *saved};
    enum status status = STATUS_FAILED;
    int rc = read_files(&run);

    if (rc == 0)
        rc = reports_open(&run.reports, options);
    if (rc == 0)
        rc = begin_kept(&run);
    if (rc == 0)
        rc = begin_warc(&run);
    if (rc < 0 && rc != -ENOMEM)
        status = STATUS_USAGE;
    if (rc == 0 && take_signals(&run) == 0)
        status = crawl_and_report(&run);
    reports_close(&run.reports); /* if that has not */
    reports_at_signal = NULL;
    end_warc(&run);
    close_kept(&run.saved, false, false); /* the same */
    forget_files(&run);
    return status;
}

/* ---- crawls that many share -------------------------------------------------------- */

static enum status status_of_part(int rc)
{
    if (atomic_load(&signal_count) > 0)
        return STATUS_INTERRUPTED;
    return rc < 0 ? STATUS_FAILED : STATUS_WELL;
}

static void say_what_was_done(const struct run *run)
{
    const struct options *options = run->options;

    if (options->quiet)
        return;
    fprintf(stderr,
            "coil-crawl: %zu URLs were asked for here; %s: coil-crawl collect DIR "
            "--frontier ... --crawl %s tells what was found\n",
            frontier_through(&run->crawler.frontier),
            run->crawler.out_of_time ? "the time is over" : "the crawl is over",
            options->crawl);
}

/* What it has met lies there, in a file without a name: a crawl for many machines does not fit into the memory of one. */
static struct cold *cold_of_member(void)
{
    const char *folder = getenv("TMPDIR");
    struct cold *cold;

    if (folder == NULL || *folder == '\0')
        folder = "/var/tmp";
    cold = cold_create(folder);
    if (cold != NULL && !cold_has_file(cold))
        fprintf(stderr,
                "coil-crawl: %s: no file can be made there: all that is known of URLs "
                "stays in memory\n",
                folder);
    return cold;
}

/* It makes no report: nobody but who collects has all answers. */
static enum status run_as_member(const struct options *options)
{
    struct run run = {.options = options, .takes_part = true};
    struct cold *cold;
    enum status status = STATUS_FAILED;
    char *complaint;
    int rc = begin_warc(&run);

    if (rc < 0)
        return rc == -ENOMEM ? STATUS_FAILED : STATUS_USAGE;
    if (take_signals(&run) < 0) {
        end_warc(&run);
        return STATUS_FAILED;
    }
    cold = cold_of_member();
    rc = crawler_init(&run.crawler, options, cold, NULL, 0);
    run.crawler.requester.warc = run.warc;
    if (cold == NULL)
        rc = -ENOMEM;
    if (rc == 0)
        rc = coil_run(crawl, &run,
                      &(coil_run_opts){.drain_ns = DRAIN_NS, .no_report = true});
    reports_at_signal = NULL;
    status = status_of_part(rc);
    if (status == STATUS_WELL)
        say_what_was_done(&run);
    complaint = run.crawler.complaint;
    run.crawler.complaint = NULL;
    crawler_finish(&run.crawler);
    cold_destroy(cold);
    if (end_warc(&run) < 0)
        status = STATUS_FAILED;
    else
        say_why(status, rc, complaint);
    free(complaint);
    return status;
}

struct collect_run {
    struct run run; /* for its signals */
    struct collecting collecting;
};

static int show_collecting(void *arg)
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
    struct collect_run *run = arg;
    coil_group group;
    int rc;

    run->run.task = coil_task_current();
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, wait_for_signal, &run->run, NULL, NULL);
    if (rc == 0 && wants_progress(run->collecting.options))
        rc = coil_group_spawn(&group, show_collecting, &run->collecting, NULL, NULL);
    if (rc == 0)
        rc = collect(&run->collecting);
    coil_group_cancel(&group, "all is collected");
    return coil_group_exit(&group, rc);
}

static enum status run_kept(const struct options *now);

/* Then the folder is that of a crawl that was kept: what was left out, if anything was, is asked for, and
   the reports are told. */
static enum status collect_with(const struct options *options)
{
    struct collect_run run = {.run.options = options, .collecting.options = options};
    struct options later = *options;
    enum status status;
    int rc;

    if (take_signals(&run.run) < 0)
        return STATUS_FAILED;
    rc = coil_run(collect_and_show, &run,
                  &(coil_run_opts){.drain_ns = DRAIN_NS, .no_report = true});
    reports_at_signal = NULL;
    status = status_of_part(rc);
    say_why(status, rc, run.collecting.complaint);
    free(run.collecting.complaint);
    if (status != STATUS_WELL)
        return status;
    later.command = COMMAND_RESUME;
    return run_kept(&later);
}

/* ---- crawls that are kept ---------------------------------------------------------- */

/* The options with which it was begun, and what is asked for now. */
static int restore(struct options *options, const struct options *now,
                   const struct saved_crawl *saved)
{
    const struct store_setup *setup = saved_crawl_setup(saved);
    struct text_list settings = {setup->settings.at, setup->settings.count};
    struct text_list starts = {setup->starts.at, setup->starts.count};
    int rc = options_init(options);

    return rc == 0 ? options_restore(options, now, &settings, &starts, stderr) : rc;
}

static enum status run_kept(const struct options *now)
{
    struct options options = {0};
    struct saved_crawl saved;
    char *message;
    enum status status = STATUS_USAGE;
    int rc = saved_crawl_open(&saved, now->command, now->state, now->state_interval_ns,
                              &message);

    if (rc < 0) {
        complain(message, rc);
        saved_crawl_close(&saved, false, &message);
        return rc == -ENOMEM ? STATUS_FAILED : STATUS_USAGE;
    }
    if (saved.notice != NULL) {
        complain(saved.notice, 0);
        saved.notice = NULL;
    }
    rc = restore(&options, now, &saved);
    if (rc == -ENOMEM)
        complain(NULL, rc); /* of what else is wrong the options have told */
    if (rc == 0)
        status = run_with(&options, &saved);
    else
        saved_crawl_close(&saved, false, &message);
    options_finish(&options);
    return rc == -ENOMEM ? STATUS_FAILED : status;
}

/* All that a crawl has found, told to the sink; the last options are those of the later one. */
static int tell_kept(const struct options *now, const char *folder,
                     struct record_sink sink, struct options *options)
{
    struct crawler crawler = {.options = NULL};
    struct saved_crawl saved;
    char *message = NULL;
    int rc = saved_crawl_open(&saved, COMMAND_REPORT, folder, 0, &message);

    options_finish(options);
    if (rc == 0)
        rc = restore(options, now, &saved);
    if (rc == 0)
        rc = crawler_init(&crawler, options, saved.cold, &sink, 1);
    if (rc == 0) {
        crawler_take_saved(&crawler, &saved);
        rc = coil_run(crawler_run, &crawler,
                      &(coil_run_opts){.drain_ns = DRAIN_NS, .no_report = true});
        message = crawler.complaint;
        crawler.complaint = NULL;
    }
    crawler_finish(&crawler);
    if (rc < 0 && rc != -EINVAL)
        complain(message, rc);
    else
        free(message);
    saved_crawl_close(&saved, false, &message);
    return rc;
}

/* Where the report goes, and how: as -f says, if it is said. NULL for what a diff is not written as. */
static const char *format_of_diff(const struct options *options)
{
    const struct text_list *formats = &options->formats;
    const char *format = formats->count > 0 ? formats->at[formats->count - 1] : "text:-";

    if (strncmp(format, "text:", 5) == 0 || strncmp(format, "jsonl:", 6) == 0)
        return format;
    fprintf(stderr, "coil-crawl: diff: -f takes text or jsonl here, not %.*s\n",
            (int)strcspn(format, ":"), format);
    return NULL;
}

static int write_diff(struct diff *diff, const char *format)
{
    struct out out;
    int rc = out_open(&out, strchr(format, ':') + 1);

    if (rc == 0)
        rc = diff_write(diff, &out, format[0] == 'j');
    if (out_close(&out) < 0 || rc < 0) {
        rc = rc < 0 ? rc : out.rc;
        fputs("coil-crawl: ", stderr);
        url_print(stderr, out.name);
        fprintf(stderr, ": %s\n", strerror(-rc));
    }
    return rc;
}

static int compare(struct diff *diff, const bool fail_on[VERDICT_COUNT])
{
    int rc = diff_compare(diff, fail_on);

    if (rc < 0)
        complain(NULL, rc);
    return rc;
}

static enum status diff_with(const struct options *now)
{
    struct options options = {0};
    struct diff diff = {.still = 0};
    enum status status = STATUS_USAGE;
    const char *format;
    int rc = tell_kept(now, now->state, diff_sink(&diff.earlier), &options);

    if (rc == 0)
        rc = tell_kept(now, now->later_state, diff_sink(&diff.later), &options);
    if (rc == 0)
        rc = compare(&diff, options.fail_on);
    if (rc == 0 && diff.unlinked > 0)
        rc = tell_kept(now, now->state, diff_links_sink(&diff.earlier), &options);
    if (rc == 0)
        rc = tell_kept(now, now->later_state, diff_links_sink(&diff.later), &options);
    format = rc == 0 ? format_of_diff(&options) : NULL;
    if (format != NULL) {
        rc = write_diff(&diff, format);
        status = rc < 0 ? STATUS_FAILED : diff.broken > 0 ? STATUS_BROKEN : STATUS_WELL;
    }
    diff_finish(&diff);
    options_finish(&options);
    return rc == -ENOMEM ? STATUS_FAILED : status;
}

static enum status explain_with(const struct options *options)
{
    struct explanation explanation = {options, stdout};
    int rc = coil_run(explain, &explanation,
                      &(coil_run_opts){.drain_ns = DRAIN_NS, .no_report = true});

    if (rc < 0)
        say_why(rc == -EINTR ? STATUS_INTERRUPTED : STATUS_FAILED, rc, NULL);
    if (rc == -EINTR)
        return STATUS_INTERRUPTED;
    return rc == 0 && fflush(stdout) == 0 ? STATUS_WELL : STATUS_FAILED;
}

/* The address that is connected to is the proxy's then, and nobody knows the host's. */
static bool goes_through_proxy(const struct options *options)
{
    if (options->proxy != NULL)
        return options->proxy[0] != '\0';
    return coil_http_proxy_of_environment("http") != NULL ||
           coil_http_proxy_of_environment("https") != NULL;
}

static bool is_url(const char *start)
{
    return strstr(start, "://") != NULL;
}

/* Files are quickly read again, and have changed by then. */
static int check_state(const struct options *options)
{
    if (options->state == NULL || options->command != COMMAND_CRAWL || options->explain)
        return 0;
    for (size_t i = 0; i < options->starts.count; i++)
        if (!is_url(options->starts.at[i])) {
            fprintf(stderr,
                    "coil-crawl: %s: --state keeps crawls of URLs, not of files\n",
                    options->starts.at[i]);
            return -EINVAL;
        }
    return 0;
}

static int refuse(const char *what)
{
    fprintf(stderr, "coil-crawl: %s\n", what);
    return -EINVAL;
}

static bool has_files(const struct options *options)
{
    for (size_t i = 0; i < options->starts.count; i++)
        if (!is_url(options->starts.at[i]))
            return true;
    return false;
}

/* What one process of many cannot have. */
static int check_shared(const struct options *options)
{
    bool is_shared = options->frontier != NULL;

    if (is_shared != (options->crawl != NULL))
        return refuse("--frontier and --crawl go together");
    if (is_shared && !leases_is_name(options->crawl))
        return refuse("--crawl: a name is letters, digits, \".\", \"_\" and \"-\", "
                      "64 of them at most");
    if (options->command == COMMAND_COLLECT)
        return is_shared ? 0 : refuse("collect wants --frontier and --crawl");
    if (!is_shared)
        return 0;
    if (options->command != COMMAND_CRAWL || options->explain)
        return refuse("--frontier is for a crawl and for collect");
    if (has_files(options))
        return refuse("--frontier shares crawls of URLs, not of files");
    if (options->state != NULL || options->cache != NULL || options->baseline != NULL ||
        options->formats.count > 0)
        return refuse("with --frontier, -d, -f, --cache and --baseline are collect's");
    return options->offline ? refuse("--frontier and --offline exclude each other") : 0;
}

/* These two commands send requests. */
static int check_offline(const struct options *options)
{
    if (options->offline &&
        (options->command == COMMAND_RESUME || options->command == COMMAND_RECHECK))
        return refuse(
            "resume and recheck ask over the network, which --offline excludes");
    return 0;
}

static int check_options(const struct options *options)
{
    if (check_offline(options) < 0 || check_shared(options) < 0 ||
        check_state(options) < 0)
        return -EINVAL;
    if (!options->exclude_private || !goes_through_proxy(options))
        return 0;
    fputs(
        "coil-crawl: --exclude-private cannot be kept through a proxy, which alone knows "
        "the address it connects to; -x \"\" goes without\n",
        stderr);
    return -EINVAL;
}

static enum status run_command(const struct options *options)
{
    if (options->explain)
        return explain_with(options);
    if (options->command == COMMAND_DIFF)
        return diff_with(options);
    if (options->command == COMMAND_COLLECT)
        return collect_with(options);
    if (options->command == COMMAND_CRAWL && options->frontier != NULL)
        return run_as_member(options);
    if (options->command != COMMAND_CRAWL)
        return run_kept(options);
    return run_with(options, &(struct saved_crawl){.folder = NULL});
}

static enum status run_as(int argc, char *argv[])
{
    struct options options;
    enum status status = STATUS_USAGE;
    int rc = options_init(&options);

    if (rc == 0)
        rc = options_parse(&options, argc, argv, stdout, stderr);
    if (rc == 0)
        rc = check_options(&options);
    if (rc == 0)
        status = run_command(&options);
    else if (rc == OPTIONS_PRINTED)
        status = fflush(stdout) == 0 ? STATUS_WELL : STATUS_FAILED;
    else if (rc == -ENOMEM)
        status = STATUS_FAILED;
    if (rc == -ENOMEM)
        fprintf(stderr, "coil-crawl: %s\n", strerror(ENOMEM));
    options_finish(&options);
    return status;
}

int main(int argc, char *argv[])
{
    enum status status;

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        fputs("coil-crawl: libcurl cannot begin\n", stderr);
        return STATUS_FAILED;
    }
    status = run_as(argc, argv);
    curl_global_cleanup();
    return status;
}
