/*
 * reports.c - see reports.h
 *
 *     jsonl                                a sink that writes each record immediately
 *     text, github                         made from the targets after the crawl
 *     junit, sarif, csv, markdown, html    made from a digest when the summary arrives
 */
#include "reports.h"

#include "csv.h"
#include "digest.h"
#include "github.h"
#include "html_report.h"
#include "jsonl.h"
#include "junit.h"
#include "markdown_report.h"
#include "report.h"
#include "sarif.h"
#include "../url/url.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum format {
    FORMAT_TEXT,
    FORMAT_JSONL,
    FORMAT_GITHUB,
    FORMAT_JUNIT,
    FORMAT_SARIF,
    FORMAT_CSV,
    FORMAT_MARKDOWN,
    FORMAT_HTML
};

/* Writes a report from a digest. */
typedef int (*digest_writer)(struct out *out, const struct digest *digest);

static const struct {
    const char *name;
    digest_writer write; /* or NULL */
} formats[] = {
    [FORMAT_TEXT] = {"text", NULL},
    [FORMAT_JSONL] = {"jsonl", NULL},
    [FORMAT_GITHUB] = {"github", NULL},
    [FORMAT_JUNIT] = {"junit", report_junit},
    [FORMAT_SARIF] = {"sarif", report_sarif},
    [FORMAT_CSV] = {"csv", report_csv},
    [FORMAT_MARKDOWN] = {"markdown", report_markdown},
    [FORMAT_HTML] = {"html", report_html},
};

struct report {
    enum format format;
    struct out out;
};

/* ---- lines for URLs, on stderr ----------------------------------------------------- */

static int print_verdict(void *arg, const struct record_verdict *verdict)
{
    struct out *out = arg;

    out_put(out, verdict_word(verdict->verdict));
    if (verdict->status > 0)
        out_print(out, " %d", verdict->status);
    out_put(out, " ");
    out_put_url(out, verdict->target);
    if (verdict->fragment != NULL) {
        out_put(out, "#");
        out_put_url(out, verdict->fragment);
    }
    if (verdict->message != NULL) {
        out_put(out, ": ");
        out_put_url(out, verdict->message);
    }
    out_put(out, "\n");
    out_flush(out);
    return 0; /* write errors of the trace are ignored */
}

/* ---- reports of a digest ----------------------------------------------------------- */

/*
 * Write the reports that are made from the digest. If one fails, still write the others.
 */
static int write_digested(void *arg, const struct record_summary *summary)
{
    struct reports *reports = arg;
    int rc = digest_arrange(reports->digest);

    (void)summary; /* the digest already has the summary */
    for (size_t i = 0; i < reports->count; i++) {
        struct report *report = &reports->all[i];
        digest_writer write = formats[report->format].write;

        if (write == NULL)
            continue;
        if (rc < 0)
            out_fail(&report->out, rc);
        else if (write(&report->out, reports->digest) == -ENOMEM)
            out_fail(&report->out, -ENOMEM);
    }
    return rc;
}

static int open_digest(struct reports *reports)
{
    reports->digest = malloc(sizeof *reports->digest);
    if (reports->digest == NULL) {
        fprintf(stderr, "coil-crawl: %s\n", strerror(ENOMEM));
        return -ENOMEM;
    }
    digest_init(reports->digest, reports->options, time(NULL));
    reports->sinks[reports->sink_count++] = digest_sink(reports->digest);
    reports->sinks[reports->sink_count++] =
        (struct record_sink){.summary = write_digested, .arg = reports};
    return 0;
}

static void close_digest(struct reports *reports)
{
    if (reports->digest != NULL)
        digest_finish(reports->digest);
    free(reports->digest);
}

/* ---- opening ----------------------------------------------------------------------- */

/* Return the format of "NAME" or "NAME:FILE". options.c lists the names. */
static enum format format_of(const char *text)
{
    size_t n = strcspn(text, ":");
    int i = (int)(sizeof formats / sizeof *formats) - 1;

    while (i > 0 &&
           (strlen(formats[i].name) != n || memcmp(formats[i].name, text, n) != 0))
        i--;
    return (enum format)i;
}

static int open_report(struct reports *reports, const char *format, const char *path)
{
    struct report *report = &reports->all[reports->count++];
    int rc = out_open(&report->out, path);

    report->format = format_of(format);
    if (rc == 0 && formats[report->format].write != NULL && reports->digest == NULL)
        return open_digest(reports);
    if (rc < 0 || report->format != FORMAT_JSONL)
        return rc;
    reports->sinks[reports->sink_count++] = jsonl_sink(&report->out);
    return jsonl_start(&report->out, &reports->options->starts, time(NULL));
}

/*
 * True if the text report must be written to stdout, because the user requested neither a
 * text report elsewhere nor another report on stdout.
 */
static bool wants_text(const struct options *options)
{
    for (size_t i = 0; i < options->formats.count; i++) {
        const char *format = options->formats.at[i];
        if (format_of(format) == FORMAT_TEXT || strcmp(strchr(format, ':') + 1, "-") == 0)
            return false;
    }
    return true;
}

static int open_trace(struct reports *reports)
{
    reports->sinks[reports->sink_count++] =
        (struct record_sink){.verdict = print_verdict, .arg = &reports->trace};
    return out_open_fd(&reports->trace, STDERR_FILENO, "stderr");
}

int reports_open(struct reports *reports, const struct options *options)
{
    const struct text_list *wanted = &options->formats;
    int rc = 0;

    *reports = (struct reports){.options = options};
    reports->all = calloc(wanted->count + 1, sizeof *reports->all);
    /* Three more sinks may be needed: one for the trace and two for a digest. */
    reports->sinks = calloc(wanted->count + 3, sizeof *reports->sinks);
    if (reports->all == NULL || reports->sinks == NULL) {
        fprintf(stderr, "coil-crawl: %s\n", strerror(ENOMEM));
        return -ENOMEM;
    }
    for (size_t i = 0; rc == 0 && i < wanted->count; i++)
        rc = open_report(reports, wanted->at[i], strchr(wanted->at[i], ':') + 1);
    if (rc == 0 && wants_text(options))
        rc = open_report(reports, "text", "-");
    if (rc == 0 && options->verbosity > 1)
        rc = open_trace(reports);
    return rc;
}

/* ---- writing and closing ----------------------------------------------------------- */

static int write_report(struct report *report, const struct options *options,
                        const struct crawler *crawler)
{
    if (report->format == FORMAT_TEXT)
        return report_text(&report->out, options, &crawler->targets,
                           &crawler->verdicts.references, &crawler->verdicts.summary);
    if (report->format == FORMAT_GITHUB)
        return report_github(&report->out, options, &crawler->targets,
                             &crawler->verdicts.references);
    return 0; /* already written: by a sink, or with the summary */
}

int reports_flush(struct reports *reports)
{
    int rc = 0;

    for (size_t i = 0; i < reports->count; i++) {
        int its = out_flush(&reports->all[i].out);
        rc = rc == 0 ? its : rc;
    }
    return rc;
}

/* If one report fails, still write the others. */
int reports_finish(struct reports *reports, const struct crawler *crawler)
{
    for (size_t i = 0; i < reports->count; i++) {
        struct report *report = &reports->all[i];
        int rc = write_report(report, reports->options, crawler);

        if (rc < 0)
            out_fail(&report->out, rc);
    }
    return reports_flush(reports);
}

void reports_flush_in_handler(struct reports *reports)
{
    for (size_t i = 0; i < reports->count; i++)
        out_flush_in_handler(&reports->all[i].out);
}

int reports_close(struct reports *reports)
{
    int rc = 0;

    for (size_t i = 0; i < reports->count; i++) {
        struct out *out = &reports->all[i].out;

        if (out_close(out) == 0)
            continue;
        rc = out->rc;
        fputs("coil-crawl: ", stderr);
        url_print(stderr, out->name);
        fprintf(stderr, ": %s\n", strerror(-rc));
    }
    out_close(&reports->trace);
    close_digest(reports);
    reports->count = 0; /* signal handlers must not use the reports any more */
    atomic_signal_fence(memory_order_seq_cst);
    free(reports->all);
    free(reports->sinks);
    *reports = (struct reports){0};
    return rc;
}
