/*
 * markdown_report.h - the findings in GitHub's Markdown: for $GITHUB_STEP_SUMMARY, or a comment.
 */
#ifndef CRAWLER_MARKDOWN_REPORT_H
#define CRAWLER_MARKDOWN_REPORT_H

#include "../files/out.h"
#include "digest.h"

/* The longest it becomes: a comment has room for 65,536 characters, a step's summary for 1 MiB. */
#define MARKDOWN_BYTES 60000

/* 0, the writer's failure, or -ENOMEM. */
int report_markdown(struct out *out, const struct digest *digest);

#endif
