/*
 * html_report.h - the HTML report: a single file that does not load other files, and is
 * readable without its script.
 */
#ifndef CRAWLER_HTML_REPORT_H
#define CRAWLER_HTML_REPORT_H

#include "../files/out.h"
#include "digest.h"

/*
 * Maximum numbers of rows in the tables of links and hosts, which a browser must be able
 * to sort. (Other reports contain all findings that make the run fail.)
 */
#define HTML_ROWS 10000
#define HTML_HOSTS 100

/* Write the report. Returns 0, the writer's error, or -ENOMEM. */
int report_html(struct out *out, const struct digest *digest);

#endif
