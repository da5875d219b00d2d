/*
 * baseline.h - the findings of an earlier report, which do not fail a run. (--baseline)
 */
#ifndef CRAWLER_BASELINE_H
#define CRAWLER_BASELINE_H

#include "../verdict/verdict.h"

#include <stdbool.h>

struct baseline;

/*
 * Read a report in JSONL of schema 1 (docs/design/checker.md). *out is for baseline_destroy().
 * Fails as json_lines_read() does, with its *message. Blocks.
 */
int baseline_read(const char *path, struct baseline **out, char **message);

/* NULL is accepted. */
void baseline_destroy(struct baseline *baseline);

/* 1 if the report has this verdict for this target and fragment, which may be NULL; 0 or -ENOMEM. */
int baseline_has(const struct baseline *baseline, const char *target,
                 const char *fragment, enum verdict verdict);

/* The same of a link on that page to one of the report's findings; 1 if the report has no
   links at all, or if its target was well. */
int baseline_has_link(const struct baseline *baseline, const char *page,
                      const char *target, const char *fragment);

#endif
