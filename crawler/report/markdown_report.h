/*
 * markdown_report.h - the report in GitHub's Markdown, for $GITHUB_STEP_SUMMARY or a
 * comment.
 */
#ifndef CRAWLER_MARKDOWN_REPORT_H
#define CRAWLER_MARKDOWN_REPORT_H

#include "../files/out.h"
#include "digest.h"

/*
 * Size limit of the report. GitHub allows 65,536 characters in a comment, and 1 MiB in a
 * step summary.
 */
#define MARKDOWN_BYTES 60000

/* Write the report. Returns 0, the writer's error, or -ENOMEM. */
int report_markdown(struct out *out, const struct digest *digest);

#endif
