/*
 * baseline.h - look up findings in an earlier report. Findings that are already in that
 * report do not make a run fail. (--baseline)
 */
#ifndef CRAWLER_BASELINE_H
#define CRAWLER_BASELINE_H

#include "../verdict/verdict.h"

#include <stdbool.h>

struct baseline;

/*
 * Read a report in JSONL of schema 1 (docs/design/checker.md). The caller passes *out to
 * baseline_destroy(). Fails with the errors and the *message of json_lines_read().
 * Blocks.
 */
int baseline_read(const char *path, struct baseline **out, char **message);

/* NULL is allowed. */
void baseline_destroy(struct baseline *baseline);

/*
 * Return 1 if the report has this verdict for this target and fragment, 0 if not, or
 * -ENOMEM. `fragment` may be NULL.
 */
int baseline_has(const struct baseline *baseline, const char *target,
                 const char *fragment, enum verdict verdict);

/*
 * Return 1 if the report has a link on this page to this target, 0 if not, or -ENOMEM.
 * Also return 1 if the report does not contain links, or does not have a finding for the
 * target.
 */
int baseline_has_link(const struct baseline *baseline, const char *page,
                      const char *target, const char *fragment);

#endif
