/*
 * sarif.h - findings as results of a static analysis: SARIF 2.1.0, for GitHub's code
 * scanning.
 */
#ifndef CRAWLER_SARIF_H
#define CRAWLER_SARIF_H

#include "../files/out.h"
#include "digest.h"

/* GitHub's limit for the results of a run. Findings that make the run fail come first. */
#define SARIF_RESULTS 25000

/* Write the report. Returns 0, the writer's error, or -ENOMEM. */
int report_sarif(struct out *out, const struct digest *digest);

#endif
