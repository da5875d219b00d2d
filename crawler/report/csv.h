/* csv.h - a report for spreadsheets: one row for each link with a finding. (RFC 4180) */
#ifndef CRAWLER_CSV_H
#define CRAWLER_CSV_H

#include "../files/out.h"
#include "digest.h"

/* Write the report. Returns 0, the writer's error, or -ENOMEM. */
int report_csv(struct out *out, const struct digest *digest);

#endif
