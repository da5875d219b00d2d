/* reports.h - the reports of a run, and the files to which they are written. */
#ifndef CRAWLER_REPORTS_H
#define CRAWLER_REPORTS_H

#include "../crawl/crawl.h"
#include "../options/options.h"
#include "../files/out.h"
#include "../verdict/record.h"

struct digest;
struct report;

struct reports {
    const struct options *options;
    /*
     * The reports in options->formats. The text report is added unless another report
     * uses stdout.
     */
    struct report *all;
    size_t count;
    struct record_sink *sinks; /* for crawler_init() */
    size_t sink_count;
    struct digest *digest; /* for reports made from a digest; or NULL */
    struct out trace;      /* -vv */
};

/*
 * Open the files. Call this before the crawl, so that a wrong path is found immediately.
 * Returns 0 or a negative errno. Call reports_close() even after an error, because it
 * prints the name of the file that failed.
 */
int reports_open(struct reports *reports, const struct options *options);

/*
 * At the end of the crawl, write the reports that are made from the targets. Returns 0 or
 * the error of the first report that failed. reports_close() prints the error.
 */
int reports_finish(struct reports *reports, const struct crawler *crawler);

/* Write the complete lines that are still buffered. Returns 0 or a negative errno. */
int reports_flush(struct reports *reports);

/*
 * Write the complete buffered lines. Call this in a signal handler that is about to end
 * the program: see out_flush_in_handler().
 */
void reports_flush_in_handler(struct reports *reports);

/*
 * Close the files, and print a message for each file that could not be written. Returns
 * 0, or a negative errno if a file could not be written. `reports` may be zeroed.
 */
int reports_close(struct reports *reports);

#endif
