/*
 * pages.h - how a crawl stands, written for people and for programs.
 *
 * docs/design/checker.md, "Watching", has the names; they do not change. What is appended may
 * lack something for want of memory: text->failed tells.
 */
#ifndef CRAWLER_WATCH_PAGES_H
#define CRAWLER_WATCH_PAGES_H

#include "../base/text.h"
#include "numbers.h"

/* A few lines for a terminal; `rate` is in targets a second, 0 while it is not known. */
void watch_lines(struct text *text, const struct watch_numbers *numbers, double rate);

/* A page of HTML that asks for itself again every two seconds. */
void watch_page(struct text *text, const struct watch_numbers *numbers, double rate);

/* One object of JSON. */
void watch_json(struct text *text, const struct watch_numbers *numbers, double rate);

/* What Prometheus reads. (Prometheus exposition format, 0.0.4) */
void watch_metrics(struct text *text, const struct watch_numbers *numbers, double rate);

#endif
