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
     * The reports in options->formats. A text report on stdout is added if there is no
     * text report, and no other report uses stdout.
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
 * Returns 0 or a negative errno. reports_close() must be called even after an error,
 * because it prints the name of the file that could not be opened.
 */
int reports_open(struct reports *reports, const struct options *options);

/*
 * Write the reports that are made from the targets. Call this when the crawl is over.
 * Returns 0, or the error of the first report that failed, which reports_close() prints.
 */
int reports_finish(struct reports *reports, const struct crawler *crawler);

/* Write the complete lines that are still buffered. Returns 0 or a negative errno. */
int reports_flush(struct reports *reports);

/*
 * Like reports_flush(), but called in a signal handler that is about to end the program:
 * see out_flush_in_handler().
 */
void reports_flush_in_handler(struct reports *reports);

/*
 * Close the files, and print a message for each file that could not be written. Returns
 * 0, or a negative errno if there was such a file. A zeroed struct is accepted.
 */
int reports_close(struct reports *reports);

#endif
