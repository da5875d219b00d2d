/*
 * pages.h - write the current state of a crawl as text, HTML, JSON or metrics.
 *
 * docs/design/checker.md, "Watching", lists the names of the values, which must never
 * change. If memory runs out, text->failed is set.
 */
#ifndef CRAWLER_WATCH_PAGES_H
#define CRAWLER_WATCH_PAGES_H

#include "../base/text.h"
#include "numbers.h"

/*
 * Append a few lines for a terminal. `rate` is in targets per second, or 0 if it is not
 * known yet.
 */
void watch_lines(struct text *text, const struct watch_numbers *numbers, double rate);

/* Append an HTML page that reloads itself every two seconds. */
void watch_page(struct text *text, const struct watch_numbers *numbers, double rate);

/* Append one JSON object. */
void watch_json(struct text *text, const struct watch_numbers *numbers, double rate);

/* Append metrics for Prometheus. (Prometheus exposition format, 0.0.4) */
void watch_metrics(struct text *text, const struct watch_numbers *numbers, double rate);

#endif
