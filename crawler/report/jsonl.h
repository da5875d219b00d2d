/*
 * jsonl.h - the report for programs: JSON lines, in schema 1 of docs/design/checker.md.
 */
#ifndef CRAWLER_JSONL_H
#define CRAWLER_JSONL_H

#include "../options/options.h"
#include "../files/out.h"
#include "../verdict/record.h"

#include <time.h>

/* Return a sink that writes a line for each record. `out` is borrowed. */
struct record_sink jsonl_sink(struct out *out);

/*
 * Write the first line. `now` is in seconds since 1970. Returns 0 or the writer's error.
 */
int jsonl_start(struct out *out, const struct text_list *starts, time_t now);

#endif
