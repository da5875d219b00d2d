/*
 * report.h - what came of a crawl, for people.
 */
#ifndef CRAWLER_REPORT_H
#define CRAWLER_REPORT_H

#include "../judge/reference.h"
#include "../options/options.h"
#include "../files/out.h"
#include "../verdict/record.h"

/* The report as text. Suspends nobody; 0, the writer's failure, or -ENOMEM. */
int report_text(struct out *out, const struct options *options,
                const struct targets *targets, const struct references *references,
                const struct record_summary *summary);

#endif
