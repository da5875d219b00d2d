/*
 * html_report.h - the report for browsers: one file that loads nothing and is read without scripts.
 */
#ifndef CRAWLER_HTML_REPORT_H
#define CRAWLER_HTML_REPORT_H

#include "../files/out.h"
#include "digest.h"

/* Of each table; a browser sorts that many at once. What fails the run is all in other reports. */
#define HTML_ROWS 10000
#define HTML_HOSTS 100

/* 0, the writer's failure, or -ENOMEM. */
int report_html(struct out *out, const struct digest *digest);

#endif
