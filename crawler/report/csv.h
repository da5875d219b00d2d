/*
 * csv.h - the findings for spreadsheets: a row for each link. (RFC 4180)
 */
#ifndef CRAWLER_CSV_H
#define CRAWLER_CSV_H

#include "../files/out.h"
#include "digest.h"

/* 0, the writer's failure, or -ENOMEM. */
int report_csv(struct out *out, const struct digest *digest);

#endif
