/*
 * baseline.h - look up findings in an earlier report (--baseline), whose findings do not
 * make the run fail again.
 */
#ifndef CRAWLER_BASELINE_H
#define CRAWLER_BASELINE_H

#include "../verdict/verdict.h"

#include <stdbool.h>

struct baseline;

/*
 * Read a report in JSONL, schema 1 (docs/design/checker.md). The caller must pass *out to
 * baseline_destroy(). Fails like json_lines_read(), with a *message. Blocks the thread.
 */
int baseline_read(const char *path, struct baseline **out, char **message);

/* NULL is allowed. */
void baseline_destroy(struct baseline *baseline);

/*
 * Return 1 if the report contains this verdict on this target and fragment, 0 if not, or
 * -ENOMEM. `fragment` may be NULL.
 */
int baseline_has(const struct baseline *baseline, const char *target,
                 const char *fragment, enum verdict verdict);

/*
 * Return 1 if the report contains a link on this page to this target, 0 if not, or
 * -ENOMEM. Also return 1 if the report does not contain any links, or contains no finding
 * on the target.
 */
int baseline_has_link(const struct baseline *baseline, const char *page,
                      const char *target, const char *fragment);

#endif
