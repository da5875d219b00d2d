/*
 * sarif.h - the findings as results of a static analysis: SARIF 2.1.0, as GitHub's code scanning
 * reads it.
 */
#ifndef CRAWLER_SARIF_H
#define CRAWLER_SARIF_H

#include "../files/out.h"
#include "digest.h"

/* GitHub takes no run with more; what fails the run comes first. */
#define SARIF_RESULTS 25000

/* 0, the writer's failure, or -ENOMEM. */
int report_sarif(struct out *out, const struct digest *digest);

#endif
