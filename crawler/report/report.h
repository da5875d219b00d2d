/* report.h - the text report of a crawl, for human readers. */
#ifndef CRAWLER_REPORT_H
#define CRAWLER_REPORT_H

#include "../judge/reference.h"
#include "../options/options.h"
#include "../files/out.h"
#include "../verdict/record.h"

/* Write the report. Does not suspend. Returns 0, the writer's error, or -ENOMEM. */
int report_text(struct out *out, const struct options *options,
                const struct targets *targets, const struct references *references,
                const struct record_summary *summary);

#endif
