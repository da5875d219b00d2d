/*
 * reports.h - all reports of a run: their files, and who writes into them.
 */
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
    struct report
        *all; /* as in options->formats, and the text where nothing else is on stdout */
    size_t count;
    struct record_sink *sinks; /* for crawler_init() */
    size_t sink_count;
    struct digest *digest; /* for those who are made of it; or NULL */
    struct out trace;      /* -vv */
};

/* Open the files, so that a wrong path does not cost an hour. 0 or a negative errno; close
   them in any case, which says which it was. */
int reports_open(struct reports *reports, const struct options *options);

/* Once the crawl is over: write all that does not need the summary. 0, or what the first failed with that could
   not be written; reports_close() says which it was. */
int reports_finish(struct reports *reports, const struct crawler *crawler);

/* Write the whole lines. 0 or a negative errno. */
int reports_flush(struct reports *reports);

/* In a handler that ends the program afterwards: out_flush_in_handler(). */
void reports_flush_in_handler(struct reports *reports);

/* Close the files. Complains on stderr of each that could not be written, and returns a
   negative errno then. Zeroes are accepted. */
int reports_close(struct reports *reports);

#endif
